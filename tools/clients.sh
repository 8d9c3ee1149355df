#!/bin/sh
# Unpack programs of a Debian suite, with everything they need, into a folder of their own:
#   clients.sh SUITE DIR PACKAGE...     the tree is DIR/root, for rdna3 exec --root
# apt works in DIR with the archive that this host uses and checks its signatures; nothing
# is installed, no maintainer script runs, nothing outside DIR is written.
set -eu
[ $# -ge 3 ] || { echo "usage: clients.sh SUITE DIR PACKAGE..." >&2; exit 2; }
suite=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
shift 2
root=$dir/root
done_mark=$dir/have-$(printf '%s-' "$@" | cksum | cut -d ' ' -f 1)
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
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $suite main" \
    >"$state/etc/sources.list"
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
APT_CONFIG=$state/apt.conf
LC_ALL=C
export APT_CONFIG LC_ALL
apt-get -qq update
apt-get -qq -y -o Debug::NoLocking=1 --download-only install "$@" >/dev/null

# A merged /usr, before archives with older paths are unpacked over it.
mkdir -p "$root/usr/bin" "$root/usr/sbin" "$root/usr/lib" "$root/usr/lib64" \
    "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/etc/ld.so.conf.d"
for part in bin sbin lib lib64; do
    [ -e "$root/$part" ] || ln -s "usr/$part" "$root/$part"
done
for deb in "$state"/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink --no-same-owner -C "$root"
done
rm -f "$state"/cache/archives/*.deb
echo /usr/lib/x86_64-linux-gnu >"$root/etc/ld.so.conf.d/clients.conf"
echo 'include /etc/ld.so.conf.d/*.conf' >"$root/etc/ld.so.conf"
[ -e "$root/usr/bin/sh" ] || ln -s bash "$root/usr/bin/sh"
PATH=$PATH:/sbin:/usr/sbin ldconfig -r "$root"
touch "$done_mark"
