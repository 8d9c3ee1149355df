#!/bin/sh
# Run a program in a virtual machine whose GPU is the board of `rdna3 device`, driven by
# Linux's amdgpu as Debian ships it:
#   guest.sh [OPTION...] DIR COMMAND...
# --files FOLDER  its contents are /files in the guest, where COMMAND runs by /bin/sh
# --vram SIZE     bytes of video memory (default 1G)
# --memory MIB    of the guest (default 2048)
# --accel NAME    QEMU's: tcg (the default) or kvm
# --seconds N     give up after so long (default 600)
# Kernel, firmware and QEMU are fetched from Debian's archive into DIR, once (some 500 MB);
# nothing is installed, nothing outside DIR is written. The guest has busybox, the
# program rdna3 and the libraries that it needs. With tcg the driver's load takes from
# half a minute on. The exit status is COMMAND's. RDNA3_BIN: the program rdna3.
# SPDX-License-Identifier: MIT
set -eu
usage="usage: guest.sh [--files FOLDER] [--vram SIZE] [--memory MIB] [--accel NAME] [--seconds N] DIR COMMAND..."
accel=tcg files='' vram=1G memory=2048 seconds=600
while [ $# -gt 1 ]; do
    case $1 in
    --files) files=$2 ;;
    --vram) vram=$2 ;;
    --memory) memory=$2 ;;
    --accel) accel=$2 ;;
    --seconds) seconds=$2 ;;
    *) break ;;
    esac
    shift 2
done
case ${1-} in -* | '') echo "$usage" >&2; exit 2 ;; esac
[ $# -ge 2 ] || { echo "$usage" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
rdna3=${RDNA3_BIN:-$here/../build/release/rdna3}
[ -x "$rdna3" ] || { echo "guest.sh: no program $rdna3 (set RDNA3_BIN)" >&2; exit 1; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
say() { [ ! -t 2 ] || echo "guest.sh: $*" >&2; }

# ---- what is fetched once

say "fetching QEMU, kernel and firmware into $dir, if they are not there"
sh "$here/clients.sh" sid "$dir/qemu" qemu-system-x86 seabios
sh "$here/clients.sh" --section non-free-firmware trixie "$dir/linux" busybox-static \
    firmware-amd-graphics
linux=$dir/linux/root
if ! ls "$linux"/boot/vmlinuz-* >/dev/null 2>&1; then
    APT_CONFIG=$dir/linux/apt/apt.conf
    export APT_CONFIG
    package=$(apt-cache depends linux-image-amd64 | grep -oE 'linux-image-[0-9].*' | head -n 1)
    (cd "$dir" && apt-get -qq download "$package" >/dev/null)
    dpkg-deb --fsys-tarfile "$dir/$package"*.deb |
        tar -x --keep-directory-symlink --no-same-owner -C "$linux"
    rm -f "$dir/$package"*.deb
    unset APT_CONFIG
fi
busybox=$linux/usr/bin/busybox
kernel=$(ls "$linux"/boot/vmlinuz-* | head -n 1)
modules=$linux/usr/lib/modules/${kernel##*/vmlinuz-}

# ---- the guest's files

work=$(mktemp -d "$dir/run.XXXXXX")
device=''
end() {
    [ -z "$device" ] || kill "$device" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM

tree=$work/tree
mkdir -p "$tree/bin" "$tree/proc" "$tree/sys" "$tree/dev" "$tree/tmp" "$tree/modules" \
    "$tree/lib/firmware/amdgpu" "$tree/files"
cp "$busybox" "$tree/bin/"
# The driver and what it needs, in the order in which they load.
for name in crc16 wmi video i2c-algo-bit drm drm_panel_orientation_quirks drm_kms_helper \
    drm_client_lib ttm drm_ttm_helper rc-core cec drm_display_helper drm_suballoc_helper \
    gpu-sched drm_exec amdxcp drm_buddy amdgpu; do
    path=$(find "$modules" -name "$name.ko*" | head -n 1)
    [ -n "$path" ] || continue # built in, or not in this version
    xz -dc "$path" >"$tree/modules/$name.ko"
    strip --strip-debug "$tree/modules/$name.ko"
    echo "$name" >>"$tree/modules/order"
done
for name in gc_11_0_0 psp_13_0_0 sdma_6_0_0 smu_13_0_0; do
    cp "$linux"/usr/lib/firmware/amdgpu/"$name"*.bin "$tree/lib/firmware/amdgpu/"
done
strip -o "$tree/bin/rdna3" "$rdna3"
ldd "$rdna3" | grep -oE '/[^ ]+' | while read -r library; do
    mkdir -p "$tree$(dirname "$library")"
    cp -L "$library" "$tree$library"
done
[ -z "$files" ] || cp -a "$files/." "$tree/files/"
printf '%s\n' "$*" >"$tree/command"
cat >"$tree/init" <<'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for name in $(cat /modules/order); do insmod /modules/$name.ko || dmesg | tail -n 20; done
i=0
while [ $i -lt 120 ] && ! [ -e /dev/kfd -a -e /dev/dri/renderD128 ]; do sleep 1; i=$((i + 1)); done
dmesg >/dev/ttyS1
cd /files
echo "begin $(cut -d ' ' -f 1 /proc/uptime)" >/dev/ttyS2
sh /command >/dev/ttyS0 2>&1 </dev/null
echo "exit $?" >/dev/ttyS2
dmesg >/dev/ttyS1
poweroff -f
END
chmod +x "$tree/init"
(cd "$tree" && find . | "$busybox" cpio -o -H newc 2>/dev/null | gzip -1) >"$work/initrd"

# ---- the machine

"$rdna3" device --vfio-user "$work/gpu" --vram "$vram" --once 2>"$work/device" &
device=$!
i=0
while [ ! -S "$work/gpu" ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i + 1)); done
reserve=64G # of addresses for the board: its memory and as much again
[ "$vram" != 1G ] || reserve=2G
root=$dir/qemu/root
libraries=$root/usr/lib/x86_64-linux-gnu
say "the guest starts ($accel)"
timeout "$seconds" "$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$libraries" \
    "$root/usr/bin/qemu-system-x86_64" -L "$root/usr/share/qemu" -L "$root/usr/share/seabios" \
    -machine q35,memory-backend=ram -accel "$accel" -cpu max,vendor=GenuineIntel -smp 1 \
    -object "memory-backend-memfd,id=ram,size=${memory}M,share=on" -m "$memory" \
    -nodefaults -display none -no-reboot -serial "file:$work/output" \
    -serial "file:$work/messages" -serial "file:$work/status" \
    -device pcie-root-port,id=rp0,chassis=1,slot=1,pref64-reserve=$reserve,mem-reserve=4M,io-reserve=4K \
    -device "{\"driver\":\"vfio-user-pci\",\"bus\":\"rp0\",\"socket\":{\"type\":\"unix\",\"path\":\"$work/gpu\"}}" \
    -kernel "$kernel" -initrd "$work/initrd" \
    -append "console=ttyS1 quiet mitigations=off nokaslr pci=no_e820 nowatchdog rcupdate.rcu_expedited=1 panic=-1" \
    >"$work/qemu" 2>&1 || true
tr -d '\r' <"$work/output"
status=$(sed -n 's/^exit \([0-9]*\).*/\1/p' "$work/status" | tail -n 1)
if [ -z "$status" ]; then
    echo "guest.sh: the guest has not come to its end; its last messages:" >&2
    tail -n 15 "$work/messages" "$work/qemu" "$work/device" >&2
    exit 1
fi
exit "$status"
