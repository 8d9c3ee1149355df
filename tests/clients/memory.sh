#!/usr/bin/env bash
# memory.sh [SUITE]: rdna3 check on programs that take memory from HIP and from OpenCL: every
# mistake of hip_bugs.hip is found, as what and made where; programs without mistakes are
# clean. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../driver/clients.sh"
here=$(cd "$(dirname "$0")" && pwd)
clients_root "${1:-trixie}"
cp "$here"/programs/{hip_bugs.hip,hip_suite.hip,hsa_suite.c,hsa_kernels.cl,cl_scale.c} "$work"
check 'programs build' '' mock -- sh -ec '
    hipcc --offload-arch=gfx1100 -g -O1 hip_bugs.hip -o hip_bugs
    hipcc --offload-arch=gfx1100 -O2 hip_suite.hip -o hip_suite
    clang=$(ls /usr/lib/llvm-*/bin/clang | head -1)
    flags="-x cl -cl-std=CL2.0 -nogpulib -target amdgcn-amd-amdhsa -mcpu=gfx1100 -mcode-object-version=4 -O2"
    $clang $flags hsa_kernels.cl -o k32.co
    $clang $flags -mwavefrontsize64 hsa_kernels.cl -o k64.co
    $clang -O1 hsa_suite.c -o hsa_suite -lhsa-runtime64
    $clang -O1 -g cl_scale.c -o cl_scale -lOpenCL'
checked() { (cd "$work" && exec timeout -k 5 300 "$rdna3" check --root "$root" --keep-going "$@" 2>&1); }
# found PART KIND PATTERN...: the mistake is found, alone, and all patterns are in the report
found() {
    local part=$1 kind=$2 out pattern problem=''
    shift 2
    out=$(checked --check mem -- ./hip_bugs "$part")
    [ $? = 1 ] || problem="status, "
    [ "$(grep -c '^error: ' <<<"$out")" = 1 ] || problem+="not one error, "
    for pattern in "\[$kind\]" "$@"; do
        grep -qE -- "$pattern" <<<"$out" || problem+="no /$pattern/, "
    done
    if [ -z "$problem" ]; then
        echo "ok: $part"
    else
        echo "FAILED: $part: $problem"
        echo "$out"
        failures=$((failures + 1))
    fi
}
line() { # of a mark in hip_bugs.hip; nothing without a library for source lines
    ! ldconfig -p | grep -q libdw.so.1 || echo "hip_bugs.hip:$(grep -nE "// $1\$" "$here/programs/hip_bugs.hip" | head -n 1 | cut -d : -f 1)"
}

found past_end out-of-bounds 'write at the end of memory of hipMalloc' '100 bytes' 'made by hipMalloc' "$(line MADE)" "$(line KERNEL)"
found before_start out-of-bounds '4 bytes before the start'
found neighbour out-of-bounds '4096 bytes \['
found read out-of-bounds '4-byte read'
found use_after_free use-after-free 'freed by hipFree' "$(line FREED)"
found double_free double-free "at .*$(line TWICE)"
found managed out-of-bounds 'hipMallocManaged'
found host out-of-bounds 'hipHostMalloc'
found pitch out-of-bounds '768 bytes'
found async out-of-bounds 'hipMallocAsync'
found async_freed use-after-free 'freed by hipFreeAsync'
check 'leaks are counted' '^4 of the program.s 4 allocations' checked --check mem -- ./hip_bugs leak
leaks() { checked --check mem --leak-check -- "$@"; [ $? = 1 ]; }
check 'leaks are told of' '\[leak\]' leaks ./hip_bugs leak
check 'leaks of OpenCL' 'bytes of clCreateBuffer are never freed' leaks ./cl_scale
clean='^0 errors in [0-9]* accesses of [1-9]'
check 'hip_bugs none' "$clean" checked --leak-check -- ./hip_bugs none
for part in lds_reduction streams_and_events atomic_operations stream_awaits_stream printf_of_waves device_heap managed_memory pinned_memory graphs arguments; do
    check "hip_suite $part" "$clean" checked --leak-check -- ./hip_suite $part
done
for part in dispatch queues scratch copies fill; do
    check "hsa_suite $part" "$clean" checked -- ./hsa_suite k32.co k64.co $part
done
check cl_scale "$clean" checked -- ./cl_scale
finish
