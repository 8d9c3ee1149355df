#!/bin/sh
# Unpack programs of a Debian suite, with everything they need, into a folder of their own:
#   clients.sh [OPTION...] SUITE DIR PACKAGE...   the tree is DIR/root, for rdna3 exec --root
# --gfx NAME       drop the kernel files of other GPUs
# --alone PACKAGE  unpack a package without what it depends on (its own list may be stale)
# --section NAME   of the archive, besides main
# --link NAME.so.N  let NAME.so.N, which is missing, be the newest NAME.so there is
# apt works in DIR with the archive that this host uses and checks its signatures; nothing
# is installed, no maintainer script runs, nothing outside DIR is written.
set -eu
usage="usage: clients.sh [--gfx NAME] [--alone PACKAGE] [--section NAME] [--link LIBRARY] SUITE DIR PACKAGE..."
gfx='' alone='' links='' sections=main
while [ $# -gt 1 ]; do
    case $1 in
    --gfx) gfx=$2 ;;
    --alone) alone="$alone $2" ;;
    --section) sections="$sections $2" ;;
    --link) links="$links $2" ;;
    *) break ;;
    esac
    shift 2
done
[ $# -ge 3 ] || { echo "$usage" >&2; exit 2; }
suite=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
shift 2
root=$dir/root
done_mark=$dir/have-$(printf '%s-' "$@" $alone | cksum | cut -d ' ' -f 1)
[ ! -e "$done_mark" ] || exit 0
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    echo "clients.sh: this is no Debian" >&2
    exit 1
fi

archive=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -v '^#' |
    grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' ')
[ -n "$archive" ] || { echo "clients.sh: apt knows no Debian archive" >&2; exit 1; }
state=$dir/apt
mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/etc/none.d" \
    "$state/etc/preferences.d"
: >"$state/status"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keyring] $archive $suite $sections" >"$state/etc/sources.list"
if [ "$suite" = experimental ]; then # which is no suite of its own
    echo "deb [signed-by=$keyring] $archive sid main" >>"$state/etc/sources.list"
    printf 'Package: *\nPin: release a=experimental\nPin-Priority: 990\n' \
        >"$state/etc/preferences"
fi
cat >"$state/apt.conf" <<END
Dir::Etc "$state/etc";
Dir::Etc::Parts "none.d";
Dir::Etc::SourceParts "none.d";
Dir::State "$state";
Dir::State::status "$state/status";
Dir::Cache "$state/cache";
APT::Install-Recommends "false";
APT::Sandbox::User "";
END
# The moving suites' release files may have expired on a frozen mirror; signatures count.
[ "$suite" = trixie ] || echo 'Acquire::Check-Valid-Until "false";' >>"$state/apt.conf"
APT_CONFIG=$state/apt.conf
LC_ALL=C
export APT_CONFIG LC_ALL
apt-get -qq update
apt-get -qq -y -o Debug::NoLocking=1 --download-only install "$@" >/dev/null
for package in $alone; do
    (cd "$state/cache/archives" && apt-get -qq download "$package" >/dev/null)
done

# A merged /usr, before archives with older paths are unpacked over it.
mkdir -p "$root/usr/bin" "$root/usr/sbin" "$root/usr/lib" "$root/usr/lib64" "$root/usr/libexec" \
    "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/etc/ld.so.conf.d"
for part in bin sbin lib lib64; do
    [ -e "$root/$part" ] || ln -s "usr/$part" "$root/$part"
done
for deb in "$state"/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink --no-same-owner -C "$root"
done
rm -f "$state"/cache/archives/*.deb

libraries=$root/usr/lib/x86_64-linux-gnu
if [ -n "$gfx" ]; then
    find "$libraries" "$root/usr/libexec" -regextype posix-extended -type f \
        -regex '.*[_.-]gfx[0-9]+[0-9a-f]*\.(co|hsaco|dat)' ! -name "*$gfx.*" -delete
    find "$root/usr/libexec" -regextype posix-extended -depth -type d \
        -regex '.*/gfx[0-9]+[0-9a-f]*' ! -name "$gfx" -exec rm -r {} +
fi
for link in $links; do
    newest=$(find "$libraries" -maxdepth 1 -name "${link%.so.*}.so.*" -type f | sort -V | tail -n 1)
    [ -e "$libraries/$link" ] || ln -s "$(basename "$newest")" "$libraries/$link"
done
# What the packages' scripts would have chosen: BLAS and LAPACK, a shell, an awk.
printf '%s\n' /usr/lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu/blas \
    /usr/lib/x86_64-linux-gnu/lapack >"$root/etc/ld.so.conf.d/clients.conf"
echo 'include /etc/ld.so.conf.d/*.conf' >"$root/etc/ld.so.conf"
[ -e "$root/usr/bin/sh" ] || ln -s bash "$root/usr/bin/sh"
[ -e "$root/usr/bin/awk" ] || [ ! -e "$root/usr/bin/mawk" ] || ln -s mawk "$root/usr/bin/awk"
[ -e "$root/etc/passwd" ] ||
    printf 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >"$root/etc/passwd"
[ -e "$root/etc/group" ] || printf 'root:x:0:\nvideo:x:44:\nrender:x:105:\n' >"$root/etc/group"
PATH=$PATH:/sbin:/usr/sbin ldconfig -r "$root"
touch "$done_mark"
