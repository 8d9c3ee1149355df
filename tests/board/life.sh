#!/usr/bin/env bash
# life.sh DIR [SUITE]...: the board through a driver's life, in guests whose kernel is
# Debian's of each SUITE (default bookworm, trixie, sid: 6.1, 6.12 and the newest): it is
# plugged in, the module removed and loaded again, the board reset, the guest suspended; after
# each of them all rings are tried, kernels run, and the kernel has not complained. DIR:
# where tools/guest.sh keeps its guests. RDNA3_BIN: the program rdna3; RDNA3_CLIENTS: the
# folder with trixie's tree (trees.sh). Three minutes each on a busy host; not under `nice`,
# where 6.1's scheduler answers too late; not part of `ctest`. Exit status 0: nothing failed.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../driver/clients.sh"
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?where tools/guest.sh keeps its guests}
shift
[ $# -gt 0 ] || set -- bookworm trixie sid
clients_root trixie
programs=$here/../clients/programs
cp "$programs/hip_add.hip" "$programs"/hsa_{suite.c,kernels.cl} "$work"
mock -- sh -ec '
    hipcc --offload-arch=gfx1100 -O2 hip_add.hip -o hip_add
    clang=$(ls /usr/lib/llvm-*/bin/clang | head -1)
    flags="-x cl -cl-std=CL2.0 -nogpulib -target amdgcn-amd-amdhsa -mcpu=gfx1100 -mcode-object-version=4 -O2"
    $clang $flags hsa_kernels.cl -o k32.co
    $clang $flags -mwavefrontsize64 hsa_kernels.cl -o k64.co
    $clang -O1 hsa_suite.c -o hsa_suite -lhsa-runtime64' || exit 1

# A guest that has slept has no shared folders any more: everything it needs is copied.
pack=$work/pack
mkdir -p "$pack/lib"
cp "$work"/{hip_add,hsa_suite,k32.co,k64.co} "$pack"
mock -- sh -c 'ldd hip_add hsa_suite' | grep -oE '/[^ ]+' | sort -u | while read -r library; do
    [ ! -e "$root$library" ] || cp -L "$root$library" "$pack/lib/"
done

# What the driver says above a notice on any such board, or any board in such a machine:
# 6.1 does not count queues down that the scheduler unmaps, and keeps memory of queues that
# a process leaves to its end; it polls for displays, of which there is none; newer ones
# count the last pages of an address space wrongly.
cat >"$pack/usual" <<'END'
Poison setting is inconsistent in DF/UMC
PSP runtime database doesn't exist
SMU driver if version not matched
SRAT table not found
kfd_device_queue_manager.c:1300 uninitialize
drm_mm.c:999 drm_mm_takedown
mode_config.poll_enabled
drm_probe_helper.c:838 drm_kms_helper_poll_disable
drm_probe_helper.c:252 drm_kms_helper_poll_enable
VM memory stats for proc (0) task (0) is non-zero when fini
END

cat >"$pack/life" <<'END'
cd /pack
failed() { echo "FAILED: $*"; }
# try NAME PATTERN COMMAND...
try() {
    name=$1 pattern=$2
    shift 2
    timeout 200 "$@" >out 2>&1
    code=$?
    if [ $code = 0 ] && { [ -z "$pattern" ] || grep -q "$pattern" out; }; then
        echo "ok: $stage: $name"
    else
        failed "$stage: $name (status $code)"
        tail -n 5 out
    fi
}
programs() {
    try 'tests of all rings' 'ib ring tests passed' cat "$debug/amdgpu_test_ib"
    try 'rdna3 run --device kfd' '0: 1 8 15 22' rdna3 run --device kfd k32.co --kernel scale \
        --grid 4 --arg buf:4K --arg buf:4K:iota=u32 --arg u32:7 --print 0:u32:4
    for part in dispatch wave_width queues scratch copies endless many_queues; do
        try "HSA $part" "^$part ok" env LD_LIBRARY_PATH=/pack/lib lib/ld-linux-x86-64.so.2 ./hsa_suite k32.co k64.co $part
    done
    try 'HIP vector add' 'bad=0' env LD_LIBRARY_PATH=/pack/lib lib/ld-linux-x86-64.so.2 ./hip_add
}
# What the kernel has said since: warnings and worse, and what they are about.
messages() {
    dmesg -r -c >>said
    [ "$stage" != 'cold boot' ] || sed -i '1,/pci 0000:01:00.0: \[1002:744c\]/d' said
    grep -E '^<[0-9]*[0-4]>|\*ERROR\*' said |
        grep -E '\] (amdgpu|kfd|\[drm|WARNING:|BUG:|Oops|.*(oom-killer|Out of memory))' |
        grep -vF -f usual >bad
    if [ -s bad ]; then
        failed "$stage: messages"
        cat bad
    else
        echo "ok: $stage: no message of trouble ($(wc -l <said) lines)"
    fi
    rm said
}
has() {
    i=0
    until dmesg -r -c >>said && grep -q "$1" said; do
        [ $i -lt 60 ] || { failed "$stage: no line $1"; return; }
        sleep 0.5
        i=$((i + 1))
    done
    echo "ok: $stage: $1"
}
came() {
    has 'added device 1002:744c'
    has 'Initialized amdgpu'
    for debug in /sys/kernel/debug/dri/*/amdgpu_test_ib; do debug=${debug%/*}; break; done
}
reset() {
    try 'amdgpu_gpu_recover' '' cat "$debug/amdgpu_gpu_recover"
    has 'GPU reset.*succeeded'
    programs
    messages
    for dump in /sys/class/devcoredump/devcd*/data; do [ ! -e "$dump" ] || echo 0 >"$dump"; done
}
stage='cold boot'
echo "Linux $(uname -r)"
came
awk -F '[][ ]+' '/0000:01:00.0: \[1002:744c\]/ { t = $2 } /Initialized amdgpu/ && t { print "plugged in to Initialized:", $2 - t, "s"; exit }' said
grep -E 'ib test|self test' said | sed 's/^/said: /'
programs
messages
stage='module loaded again'
try rmmod '' rmmod amdgpu
try insmod '' insmod amdgpu.ko
came
programs
messages
stage='reset'
reset
stage='suspended and back'
echo devices >/sys/power/pm_test
try 'suspend and resume' '' sh -c 'echo mem >/sys/power/state'
programs
messages
stage='reset after that'
reset
stage='removed'
try rmmod '' rmmod amdgpu
messages
echo "life ends"
END

for suite in "$@"; do
    # the driver's module as the guest's kernel has it
    modules=$(ls -d "$dir/boot/$suite"/usr/lib/modules/* 2>/dev/null | head -n 1)
    if [ -z "$modules" ]; then
        sh "$here/../../tools/guest.sh" --suite "$suite" "$dir" true # fetches it
        modules=$(ls -d "$dir/boot/$suite"/usr/lib/modules/* | head -n 1)
    fi
    module=$(find "$modules" -name 'amdgpu.ko*' | head -n 1)
    case $module in
    *.xz) xz -dc "$module" >"$pack/amdgpu.ko" ;;
    *.zst) zstd -qdc "$module" >"$pack/amdgpu.ko" ;;
    *) cp "$module" "$pack/amdgpu.ko" ;;
    esac
    strip --strip-debug "$pack/amdgpu.ko"
    out=$(sh "$here/../../tools/guest.sh" --boot --memory 4096 --seconds 900 --suite "$suite" --files "$pack" "$dir" \
        'cp -a /files /pack && cd / && umount /files && sh /pack/life' 2>&1)
    echo "$out"
    failures=$((failures + $(grep -c '^FAILED' <<<"$out")))
    grep -q '^life ends' <<<"$out" || { echo "FAILED: $suite did not come to its end"; failures=$((failures + 1)); }
done
finish
