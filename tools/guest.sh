#!/bin/sh
# Run a program in a virtual machine whose GPU is the board of `rdna3 device`, driven by
# Linux's amdgpu as Debian ships it:
#   guest.sh [OPTION...] DIR COMMAND...
# --files FOLDER  /files in the guest, where COMMAND runs by /bin/sh: shared, both ways
# --root FOLDER   a tree of programs (tools/clients.sh), in which COMMAND runs
# --suite NAME    of Debian whose kernel boots (default trixie)
# --vram SIZE     bytes of video memory (default 1G)
# --memory MIB    of the guest (default 2048)
# --accel NAME    QEMU's: tcg or kvm (default: kvm where that runs a guest, else tcg)
# --seconds N     give up after so long (default 600)
# --no-execute    the board completes dispatches without running them
# --boot          boot, rather than go on from the picture of a guest that has booted
# Kernel, firmware and QEMU are fetched from Debian's archive into DIR, once (some 500 MB);
# nothing is installed, nothing outside DIR is written. The first start with a kernel
# boots it, loads the driver (half a minute and more with tcg) and keeps a picture of the
# guest's memory in DIR, from which later ones go on; the board is plugged in then. The
# guest has busybox, the program rdna3 and the libraries that it needs. The exit status is
# COMMAND's. RDNA3_BIN: the program rdna3.
# SPDX-License-Identifier: MIT
set -eu
usage="usage: guest.sh [--files FOLDER] [--root FOLDER] [--suite NAME] [--vram SIZE] [--memory MIB]
       [--accel NAME] [--seconds N] [--no-execute] [--boot] DIR COMMAND..."
accel='' files='' tree='' suite=trixie vram=1G memory=2048 seconds=600 execute='' boot=''
while [ $# -gt 1 ]; do
    case $1 in
    --no-execute) execute=$1 ;;
    --boot) boot=1 ;;
    --files | --root | --suite | --vram | --memory | --accel | --seconds)
        case $1 in
        --files) files=$2 ;;
        --root) tree=$2 ;;
        --suite) suite=$2 ;;
        --vram) vram=$2 ;;
        --memory) memory=$2 ;;
        --accel) accel=$2 ;;
        --seconds) seconds=$2 ;;
        esac
        shift
        ;;
    *) break ;;
    esac
    shift
done
case ${1-} in -* | '') echo "$usage" >&2; exit 2 ;; esac
[ $# -ge 2 ] || { echo "$usage" >&2; exit 2; }
fail() { echo "guest.sh: $*" >&2; exit 1; }
say() { [ ! -t 2 ] || echo "guest.sh: $*" >&2; }
here=$(cd "$(dirname "$0")" && pwd)
rdna3=${RDNA3_BIN:-$here/../build/release/rdna3}
[ -x "$rdna3" ] || fail "no program $rdna3 (set RDNA3_BIN)"
port='' # QEMU's root port takes atomics with it; see driver/README.md
for library in "$(dirname "$rdna3")"/lib/librdna3_port.so \
    "$(dirname "$rdna3")"/../lib/rdna3/librdna3_port.so \
    "$(dirname "$rdna3")"/../lib/*/rdna3/librdna3_port.so; do
    if [ -e "$library" ]; then
        port=$library
        break
    fi
done
[ -z "$files" ] || [ ! -d "$files" ] || files=$(cd "$files" && pwd)
[ -z "$tree" ] || [ ! -d "$tree" ] || tree=$(cd "$tree" && pwd)
for folder in "$files" "$tree"; do
    [ -z "$folder" ] || [ -d "$folder" ] || fail "no folder $folder"
    case $folder in *,*) fail "QEMU takes no folder with a comma: $folder" ;; esac
done
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift

# ---- what is fetched once

say "fetching QEMU, kernel and firmware into $dir, if they are not there"
sh "$here/clients.sh" sid "$dir/qemu" qemu-system-x86 seabios
sh "$here/clients.sh" --section non-free-firmware trixie "$dir/linux" busybox-static \
    firmware-amd-graphics
busybox=$dir/linux/root/usr/bin/busybox
firmware=$dir/linux/root/usr/lib/firmware/amdgpu
boots=$dir/boot/$suite
if ! ls -d "$boots"/usr/lib/modules/* >/dev/null 2>&1; then
    mkdir -p "$boots/usr/lib"
    [ -e "$boots/lib" ] || ln -s usr/lib "$boots/lib"
    sh "$here/clients.sh" "$suite" "$dir/boot/$suite.apt" busybox-static # for apt's lists
    APT_CONFIG=$dir/boot/$suite.apt/apt/apt.conf
    export APT_CONFIG
    package=$(apt-cache depends linux-image-amd64 | grep -oE 'linux-image-[0-9].*' | head -n 1)
    [ -n "$package" ] || fail "Debian's $suite has no kernel"
    # Newer ones have parts.
    parts=$(apt-cache depends "$package" | grep -oE 'linux-(binary|modules)-[0-9].*' || true)
    for part in $package $parts; do
        (cd "$boots" && apt-get -qq download "$part" >/dev/null)
        dpkg-deb --fsys-tarfile "$boots/$part"_*.deb |
            tar -x --keep-directory-symlink --no-same-owner -C "$boots"
        rm -f "$boots/$part"_*.deb
    done
    unset APT_CONFIG
fi
modules=$(ls -d "$boots"/usr/lib/modules/* | head -n 1)
version=${modules##*/}
kernel=$modules/vmlinuz
[ -e "$kernel" ] || kernel=$boots/boot/vmlinuz-$version

# ---- a run's own folder, which the guest has as /run

work=$(mktemp -d "$dir/run.XXXXXX")
device='' machine=''
end() {
    for process in $device $machine; do kill "$process" 2>/dev/null || true; done
    rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM
[ -z "$port" ] || ln -s "$(readlink -f "$port")" "$work/port.so"

mkdir -p "$work/run/base/bin"
strip -o "$work/run/base/bin/rdna3" "$rdna3"
ldd "$rdna3" | grep -oE '/[^ ]+' | while read -r library; do
    mkdir -p "$work/run/base$(dirname "$library")"
    cp -L "$library" "$work/run/base$library"
done
printf '%s\n' "$*" >"$work/run/command"
cat >"$work/run/start" <<END
date -s @$(date +%s) >/dev/null
files=${files:+1} tree=${tree:+1}
END
cat >>"$work/run/start" <<'END'
main() { # read as a whole: a guest that has slept finds no shared folders any more
share() { mount -t 9p -o "trans=virtio,version=9p2000.L,msize=262144,cache=$3" "$1" "$2"; }
i=0
while [ $i -lt 1200 ] && ! [ -e /dev/kfd -a -e /dev/dri/renderD128 ]; do
    sleep 0.1
    i=$((i + 1))
done
dmesg >/dev/ttyS1
cp -a /run/base/. /
mkdir -p /dev/shm
mount -t tmpfs tmpfs /dev/shm
root=/
if [ -n "$tree" ]; then # what is written there stays in memory
    root=/tree
    mkdir -p /lower /upper $root
    mount -t tmpfs tmpfs /upper
    mkdir /upper/work /upper/new
    share tree /lower loose,ro
    mount -t overlay -o lowerdir=/lower,upperdir=/upper/new,workdir=/upper/work overlay $root
    mkdir -p $root/usr/local/bin $root/files $root/run
    for part in proc sys dev run; do mount -o rbind /$part $root/$part; done
    cp /run/base/bin/rdna3 /bin/busybox $root/usr/local/bin/
fi
mkdir -p $root/tmp $root/files
[ -z "$files" ] || share files $root/files mmap
echo "begin $(cut -d ' ' -f 1 /proc/uptime)" >/dev/ttyS2
chroot $root /bin/sh -c 'cd /files; HOME=/tmp PATH=$PATH:/usr/local/bin:/usr/bin:/bin; export HOME PATH
    eval "$(cat /run/command)"' >/dev/ttyS0 2>&1 </dev/null
echo "exit $?" >/dev/ttyS2
dmesg >/dev/ttyS1
poweroff -f
}
main
END

# ---- what boots: modules, firmware, and a wait for /run

# A module of the kernel, after those that it needs.
add_module() {
    ! grep -qx "$1" "$initial/modules/order" || return 0
    set -- "$1" "$(find "$modules" -name "$(echo "$1" | sed 's/[-_]/[-_]/g').ko*" | head -n 1)"
    [ -n "$2" ] || return 0 # built in
    case $2 in
    *.xz) xz -dc "$2" >"$initial/modules/$1.ko" ;;
    *.zst) zstd -qdc "$2" >"$initial/modules/$1.ko" ;;
    *) cp "$2" "$initial/modules/$1.ko" ;;
    esac
    strip --strip-debug "$initial/modules/$1.ko"
    objcopy -O binary -j .modinfo "$initial/modules/$1.ko" "$initial/needs.$1"
    for need in $(tr '\0' '\n' <"$initial/needs.$1" | sed -n 's/^depends=//p' | tr ',' ' '); do
        add_module "$need"
    done
    rm "$initial/needs.$1"
    echo "$1" >>"$initial/modules/order"
}

make_initial() {
    initial=$work/initial
    mkdir -p "$initial/bin" "$initial/proc" "$initial/sys" "$initial/dev" "$initial/tmp" \
        "$initial/run" "$initial/modules" "$initial/lib/firmware/amdgpu"
    cp "$busybox" "$initial/bin/"
    : >"$initial/modules/order"
    for name in virtio_pci 9pnet_virtio 9p overlay amdgpu; do add_module "$name"; done
    grep -qx amdgpu "$initial/modules/order" || fail "the kernel of $suite has no amdgpu"
    for name in gc_11_0_0 psp_13_0_0 sdma_6_0_0 smu_13_0_0; do
        cp "$firmware/$name"*.bin "$initial/lib/firmware/amdgpu/"
    done
    cat >"$initial/init" <<'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t debugfs debug /sys/kernel/debug
echo up >/dev/ttyS2
for name in $(cat /modules/order); do insmod /modules/$name.ko || dmesg | tail -n 20; done
rm -r /modules
echo ready >/dev/ttyS2
until mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=none run /run; do
    sleep 0.1
done 2>/dev/null
. /run/start
END
    chmod +x "$initial/init"
    (cd "$initial" && find . | "$busybox" cpio -o -H newc 2>/dev/null | gzip -1) >"$work/initrd"
    rm -r "$initial"
}

# Debian's kernel would zero each page twice, which under tcg is most of what a queue costs.
boot() {
    say "the guest boots ($accel)"
    start_machine -kernel "$kernel" -initrd "$work/initrd" \
        -append "console=ttyS1 quiet mitigations=off nokaslr pci=no_e820 nowatchdog rcupdate.rcu_expedited=1 init_on_alloc=0 no_console_suspend panic=-1"
}

# ---- the machine

# Without the board and folders: start_machine OPTION...
start_machine() {
    root=$dir/qemu/root
    : >"$work/status"
    : >"$work/answers"
    # No vendor's window below the end of the address space; see driver/README.md.
    # Room for a second CPU: TCG's atomics are none where there can be no other.
    # ld.so takes no name with a space or colon to preload, so it is one in $work.
    (cd "$work" && exec timeout "$seconds" "$root/usr/lib64/ld-linux-x86-64.so.2" \
        ${port:+--preload ./port.so} --library-path "$root/usr/lib/x86_64-linux-gnu" \
        "$root/usr/bin/qemu-system-x86_64" \
        -L "$root/usr/share/qemu" -L "$root/usr/share/seabios" \
        -machine q35,memory-backend=ram -accel "$accel" \
        -cpu max,vendor=GenuineIntel,arch-capabilities=off -smp 1,maxcpus=2 \
        -object "memory-backend-memfd,id=ram,size=${memory}M,share=on" -m "$memory" \
        -nodefaults -display none -no-reboot -serial "file:$work/output" \
        -serial "file:$work/messages" -serial "file:$work/status" \
        -chardev stdio,id=control,signal=off -mon chardev=control,mode=control \
        -device "pcie-root-port,id=port0,chassis=1,slot=1,pref64-reserve=$reserve,mem-reserve=4M,io-reserve=4K" \
        -device pcie-root-port,id=port1,chassis=2,slot=2 \
        -device pcie-root-port,id=port2,chassis=3,slot=3 \
        -device pcie-root-port,id=port3,chassis=4,slot=4 \
        -fsdev "local,id=run,path=$work/run,security_model=none" \
        -fsdev "local,id=files,path=${files:-$work/run},security_model=none,multidevs=remap" \
        -fsdev "local,id=tree,path=${tree:-$work/run},security_model=none,multidevs=remap,readonly=on" \
        "$@") <&3 >"$work/answers" 2>"$work/qemu" &
    machine=$!
    asked=0
    ask qmp_capabilities
}

# ---- what runs in it

alive() { kill -0 "$machine" 2>/dev/null; }

# Ask QEMU for something: ask COMMAND [ARGUMENTS]; its answer is in $answer.
ask() {
    asked=$((asked + 1))
    echo "{\"execute\":\"$1\",\"id\":$asked${2+,\"arguments\":$2}}" >&3
    until answer=$(grep "\"id\": $asked[,}]" "$work/answers"); do
        alive || lost
        sleep 0.05
    done
    case $answer in *'"error"'*) fail "QEMU: $answer" ;; esac
}

lost() {
    echo "guest.sh: the guest has not come to its end; its last messages:" >&2
    tail -n 15 "$work/messages" "$work/qemu" "$work/device" >&2 2>/dev/null || true
    exit 1
}

# Until the guest has said so, or for N seconds; false: it has not.
await() {
    tries=$(($2 * 10))
    until grep -q "^$1" "$work/status"; do
        alive && [ $tries -gt 0 ] || return 1
        tries=$((tries - 1))
        sleep 0.1
    done
}

power_off() {
    [ -z "$machine" ] || { kill "$machine" 2>/dev/null; wait "$machine" 2>/dev/null; } || true
    machine=''
}

migrated() {
    until ask query-migrate && case $answer in *'"completed"'*) ;; *) false ;; esac do
        case $answer in *'"failed"'*) fail "QEMU: $answer" ;; esac
        sleep 0.1
    done
}
mapped='{"capabilities":[{"capability":"mapped-ram","state":true}]}'

take_picture() {
    ask stop
    ask migrate-set-capabilities "$mapped"
    ask migrate "{\"uri\":\"file:$picture.new\"}"
    migrated
    mv "$picture.new" "$picture"
    ask cont
}

go_on() {
    say "the guest goes on ($accel)"
    start_machine -incoming defer
    ask migrate-set-capabilities "$mapped"
    ask migrate-incoming "{\"uri\":\"file:$picture\"}"
    migrated
    ask cont
}

plug() { ask device_add "{\"driver\":\"$1\",\"bus\":\"$2\",$3}"; }

reserve=64G # of addresses for the board: its memory and as much again
[ "$vram" != 1G ] || reserve=2G
mkfifo "$work/asks"
exec 3<>"$work/asks"
if [ -z "$accel" ]; then
    accel=tcg
    [ ! -w /dev/kvm ] || [ -e "$dir/no-kvm" ] || accel=kvm
    maybe=1
fi
picture_of() { # what boots is written above: another text makes another picture
    picture=$dir/picture-$version-$accel-$memory-$reserve-$(
        sed -n '/^# ---- what boots/,/^# ---- what runs/p' "$0" | cksum | cut -d ' ' -f 1)
}
# A guest that waits for its folders; $came is empty if it does not even begin to run.
come_up() {
    came=1
    picture_of
    if [ -z "$boot" ] && [ -e "$picture" ]; then
        go_on
        return
    fi
    [ -e "$work/initrd" ] || make_initial
    boot
    limit=$seconds
    [ "$accel" != kvm ] || limit=30
    await up "$limit" || { came=''; return; }
    await ready "$seconds" || lost
    [ -n "$boot" ] || take_picture
}
come_up
if [ -z "$came" ] && [ -n "${maybe-}" ] && [ "$accel" = kvm ]; then
    say "KVM does not run the guest here"
    power_off
    touch "$dir/no-kvm"
    accel=tcg
    come_up
fi
[ -n "$came" ] || lost

"$rdna3" device --vfio-user "$work/gpu" --vram "$vram" --once $execute 2>"$work/device" 3>&- &
device=$!
until [ -S "$work/gpu" ]; do
    kill -0 "$device" 2>/dev/null || lost
    sleep 0.05
done
# QEMU gives a board up that has not answered for five seconds; the host may be busy.
plug vfio-user-pci port0 \
    "\"x-msg-timeout\":600000,\"socket\":{\"type\":\"unix\",\"path\":\"$work/gpu\"}"
[ -z "$files" ] || plug virtio-9p-pci port2 '"fsdev":"files","mount_tag":"files"'
[ -z "$tree" ] || plug virtio-9p-pci port3 '"fsdev":"tree","mount_tag":"tree"'
plug virtio-9p-pci port1 '"fsdev":"run","mount_tag":"run"'
wait "$machine" || true
machine=''
tr -d '\r' <"$work/output"
status=$(sed -n 's/^exit \([0-9]*\).*/\1/p' "$work/status" | tail -n 1)
[ -n "$status" ] || lost
exit "$status"
