#!/usr/bin/env bash
# cost.sh DIR: what the board costs in a guest: an empty ioctl, a register, a dispatch (us),
# and how fast kernels run there against `rdna3 run`: the time of the same kernel with
# thrice the work, less its time with the work once. The host should do nothing else. DIR,
# RDNA3_BIN, RDNA3_CLIENTS, RDNA3_SUITE: as for programs.sh. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../driver/clients.sh"
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?where tools/guest.sh keeps its guests}
clients_root trixie
programs=$here/../clients/programs
cp "$here"/cost.{c,cl} "$programs"/hsa_{suite.c,kernels.cl} "$work"
mock -- sh -ec '
    clang=$(ls /usr/lib/llvm-*/bin/clang | head -1)
    flags="-x cl -cl-std=CL2.0 -nogpulib -target amdgcn-amd-amdhsa -mcpu=gfx1100 -mcode-object-version=4 -O2"
    $clang $flags hsa_kernels.cl -o k32.co
    $clang $flags -mwavefrontsize64 hsa_kernels.cl -o k64.co
    $clang $flags cost.cl -o work.co
    $clang -O1 cost.c -o cost -lhsa-runtime64' || exit 1
cat >"$work/rate.sh" <<'END'
seconds() {
    begin=$(cut -d ' ' -f 1 /proc/uptime)
    $RUN work.co --grid 64 --block 256 --arg buf:64K --arg u32:$1 --print 0:u32:4 >said || cat said
    awk -v a="$begin" -v b="$(cut -d ' ' -f 1 /proc/uptime)" 'BEGIN { print b - a }'
}
for round in 1 2 3 4 5; do
    once=$(seconds 500000) thrice=$(seconds 1500000)
    echo "$once $thrice" | awk '{ print $2 - $1 }'
done | sort -n | tr '\n' ' ' | awk '{ print "kernel, s: median", $3, "of", $0 }'
cat said
END
echo "the guest:"
sh "$here/../../tools/guest.sh" --suite "${RDNA3_SUITE:-trixie}" --files "$work" --root "$root" "$dir" \
    './cost k32.co k64.co /sys/bus/pci/devices/0000:01:00.0/resource5 2>/dev/null; RUN="rdna3 run --device kfd" sh rate.sh' ||
    failures=1
echo "rdna3 run:"
(cd "$work" && RUN="$rdna3 run" sh rate.sh) || failures=1
finish
