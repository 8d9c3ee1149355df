#!/usr/bin/env bash
# ladder.sh RUNG [SUITE]: unmodified programs of Debian on the mock, rung L0 to L5 or
# hip, hsa (this project's own programs). Each runs with copies by the runtime's choice and
# by SDMA alone, and with its two controls: it must fail when nothing is executed, and
# waves must have been counted. Ends with a table. RDNA3_LADDER=full runs all of L3 to L5
# (an hour and more); otherwise the first of each. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../driver/clients.sh"
here=$(cd "$(dirname "$0")" && pwd)
rung=${1:?L0 to L5, hip or hsa}
case $rung in L2) suite=experimental ;; L3 | L4) suite=sid ;; *) suite=trixie ;; esac
suite=${2:-$suite}
full=${RDNA3_LADDER:-}
table=()
# ROCr's tests leave most of their kernels out where they find an emulated chip.
mode=()
[ "$rung" != L2 ] || mode=(--emu-mode 0)

# row NAME COPIES RESULT WAVES CONTROL: a line of the table; a result that is no pass counts
row() {
    table+=("$(printf '%-4s %-28s %-13s %-7s %-7s %12s  %-9s %5s s' "$rung" "$1" "$suite" \
        "$2" "$3" "$4" "$5" "$((SECONDS - started))")")
    echo "${table[-1]}"
    case "$3 $5" in "pass passes!" | FAIL*) failures=$((failures + 1)) ;; esac
}

# once NAME COPIES PATTERN [WAVES] COMMAND...: sets result, waves
once() {
    local copies=$1 pattern=$2 out status environment=()
    shift 2
    [ "$copies" = choice ] || environment=(env GPU_FORCE_BLIT_COPY_SIZE=0)
    out=$(mock "${mode[@]}" --stats -- "${environment[@]}" "$@" 2>&1)
    status=$?
    waves=$(grep -aoE '[0-9]+ waves' <<<"$out" | awk '{ n += $1 } END { print n + 0 }')
    result=pass
    if [ $status != 0 ] || ! grep -aqE -- "$pattern" <<<"$out"; then
        result=FAIL
        echo "status $status, wanted /$pattern/"
        tail -n 20 <<<"$out"
    fi
}

# shows NAME PATTERN COMMAND...: a program that dispatches nothing
shows() {
    local name=$1 pattern=$2 started=$SECONDS
    shift 2
    once choice "$pattern" "$@"
    row "$name" - $result "$waves" -
}

# runs NAME PATTERN COMMAND...: both ways of copying, each with both controls. Where the
# runtime copies by kernels of its own, a comparison of buffers that were never filled can
# pass without execution ("vacuous"); with SDMA that must not happen.
runs() {
    local name=$1 pattern=$2 started copies control environment out
    shift 2
    for copies in choice sdma; do
        started=$SECONDS control=fails environment=()
        [ $copies = choice ] || environment=(env GPU_FORCE_BLIT_COPY_SIZE=0)
        out=$(mock "${mode[@]}" --no-execute -- "${environment[@]}" "$@" 2>&1)
        if [ $? = 0 ] && grep -aqE -- "$pattern" <<<"$out"; then
            control=vacuous
            [ $copies = choice ] || control=passes!
        fi
        once $copies "$pattern" "$@"
        [ "$waves" -gt 0 ] || result=FAIL
        row "$name" $copies $result "$waves" $control
    done
}

needs() {
    [ -e "$root/$1" ] || skip "no $1: run tests/clients/trees.sh $suite ${root%/root} ${2:-}"
}

clients_root "$suite"
case $rung in
L0)
    shows rocminfo 'amdgcn-amd-amdhsa--gfx1100' rocminfo
    shows 'rocminfo: 96 CUs' 'Compute Unit: +96' rocminfo
    shows 'rocminfo: L2' 'L2: +6144' rocminfo
    shows clinfo gfx1100 clinfo -l
    shows rocm_agent_enumerator gfx1100 rocm_agent_enumerator
    ;;
L1)
    cp "$here"/programs/{hip_add.hip,cl_scale.c} "$work"
    check 'hipcc builds hip_add' '' mock -- hipcc --offload-arch=gfx1100 -O2 hip_add.hip -o hip_add
    runs hip_add 'bad=0' ./hip_add
    check 'clang builds cl_scale' '' mock -- sh -c '$(ls /usr/lib/llvm-*/bin/clang | head -1) cl_scale.c -o cl_scale -lOpenCL'
    runs cl_scale 'bad 0$' ./cl_scale
    ;;
L2)
    folder=usr/libexec/rocm/libhsa-runtime64-tests
    needs $folder/rocrtst64
    rocrtst() { runs "${1#*.}" '\[  PASSED  \] 1 test' sh -c "cd /$folder/gfx1100 && ../rocrtst64 --gtest_filter=$1"; }
    # Tests in which no kernel runs, or one that must not, or that wait for it for ever.
    quiet() { shows "${1#*.}" '\[  PASSED  \] 1 test' sh -c "cd /$folder/gfx1100 && ../rocrtst64 --gtest_filter=$1"; }
    for op in Add Sub And Or Xor Min Max Inc Dec Xchg; do rocrtst "rocrtstFunc.Memory_Atomic_${op}_Test"; done
    for name in rocrtst.Test_Example rocrtstFunc.{MemoryAccessTests,MemoryAccessCoherent,GroupMemoryAllocationTest,VirtMemory_Access_Test,SvmMemory_Basic_Test}; do
        rocrtst $name
    done
    for name in rocrtstFunc.{MemoryAllocateAndFreeTest,MemoryAllocateContiguousTest,Memory_Max_Mem,Memory_Available,Memory_Alignment_Test,IPC,VirtMemory_Basic_Test,VirtMemory_Interprocess_Test} \
        rocrtstNeg.Queue_Validation_{InvalidDimension,InvalidGroupMemory,InvalidKernelObject,InvalidPacket}; do
        quiet $name
    done
    ;;
L3 | L4)
    backend=usr/libexec/x86_64-linux-gnu/llama.cpp-tests/test-backend-ops
    needs $backend llama
    LIMIT=3600
    operations=SCALE
    [ -z "$full" ] || operations='SCALE ADD MUL CPY RMS_NORM ROPE GET_ROWS SET_ROWS SOFT_MAX'
    if [ $rung = L3 ]; then
        for op in $operations; do runs $op 'Backend ROCm0: .*OK' /$backend test -b ROCm0 -o $op; done
    else
        which='type_a=q8_0,type_b=f32,m=16,n=1,k=256,bs=.1,1.'
        [ -z "$full" ] || which='type_a=(f16|f32|q4_0|q8_0),type_b=f32,m=16,n=(1|8|16),k=256,bs=.1,1.'
        runs MUL_MAT 'Backend ROCm0: .*OK' /$backend test -b ROCm0 -o MUL_MAT -p "$which"
    fi
    ;;
L5)
    bench=usr/libexec/rocm/librocblas0-bench/rocblas-bench
    needs $bench blas
    LIMIT=1800
    # The line below the header ends with the norm of the error.
    gemm() {
        local name=$1
        shift
        runs "$name" '^error [0-9.e-]+$' sh -c "/$bench $* -m 64 -n 64 -k 64 -v 1 -i 1 -j 0 |
            awk -F, 'norm && \$norm < $limit { print \"error\", \$norm } { norm = 0 }
                \$NF ~ /norm_error_1/ { norm = NF }'"
    }
    limit=1e-6
    gemm 'gemm f32' -f gemm -r f32_r
    limit=1e-2
    gemm 'gemm f16' -f gemm -r f16_r
    [ -z "$full" ] || gemm 'gemm_ex f16 in f32' -f gemm_ex --a_type f16_r --b_type f16_r \
        --c_type f16_r --d_type f16_r --compute_type f32_r
    ;;
hip)
    cp "$here/programs/hip_suite.hip" "$work"
    check 'hipcc builds hip_suite' '' mock -- hipcc --offload-arch=gfx1100 -O2 hip_suite.hip -o hip_suite
    for part in lds_reduction streams_and_events large_copies atomic_operations \
        stream_awaits_stream wall_clock device_heap managed_memory pinned_memory cooperative graphs scratch arguments; do
        runs $part "^$part ok" ./hip_suite $part
    done
    runs device_printf 'lane 12 says hello 1.50' ./hip_suite device_printf
    runs printf_of_waves 'lane 195 says hello 1.50' ./hip_suite printf_of_waves
    shows device_query '^device_query ok' ./hip_suite device_query
    shows error_codes '^error_codes ok' ./hip_suite error_codes
    shows copies_2d '^copies_2d ok' ./hip_suite copies_2d
    ;;
hsa)
    cp "$here"/programs/hsa_{suite.c,kernels.cl} "$work"
    check 'clang builds hsa_suite' '' mock -- sh -ec '
        clang=$(ls /usr/lib/llvm-*/bin/clang | head -1)
        flags="-x cl -cl-std=CL2.0 -nogpulib -target amdgcn-amd-amdhsa -mcpu=gfx1100 -mcode-object-version=4 -O2"
        $clang $flags hsa_kernels.cl -o k32.co
        $clang $flags -mwavefrontsize64 hsa_kernels.cl -o k64.co
        $clang -O1 hsa_suite.c -o hsa_suite -lhsa-runtime64'
    for part in dispatch wave_width queues scratch many_queues shared_counter; do
        runs $part "^$part ok" ./hsa_suite k32.co k64.co $part
    done
    for part in barriers interrupt_wait copies fill profile endless fault; do
        shows $part "^$part ok" ./hsa_suite k32.co k64.co $part
    done
    ;;
*)
    echo "ladder.sh: unknown rung $rung" >&2
    exit 2
    ;;
esac
echo
printf '%s\n' "rung client                       suite         copies  result         waves  unexecuted   time" "${table[@]}"
finish
