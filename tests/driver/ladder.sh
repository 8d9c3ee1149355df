#!/usr/bin/env bash
# ladder.sh L0|L1|suite|hsa [SUITE]: unmodified ROCm programs of Debian on the mock, each with
# its controls. SPDX-License-Identifier: MIT
. "$(dirname "$0")/clients.sh"
rung=${1:?L0, L1, suite or hsa}
suite=${2:-trixie}
clients_root "$suite" base rocminfo hip compiler opencl +opencl-headers +ocl-icd-opencl-dev

# Both ways of copying: SDMA for all sizes, and the runtime's own choice.
each_copy_setting() {
    local name=$1 pattern=$2
    shift 2
    check "$name, copies by choice" "$pattern" mock -- "$@"
    check "$name, copies by SDMA" "$pattern" mock -- env GPU_FORCE_BLIT_COPY_SIZE=0 "$@"
    check "$name ran waves" ' [1-9][0-9]* waves' mock --stats -- "$@"
    check_fails "$name without execution" mock --no-execute -- "$@"
}

case $rung in
L0)
    check rocminfo 'amdgcn-amd-amdhsa--gfx1100' mock -- rocminfo
    check 'rocminfo: 96 CUs' 'Compute Unit: +96' mock -- rocminfo
    check 'rocminfo: L2' 'L2: +6144' mock -- rocminfo
    check clinfo gfx1100 mock -- clinfo -l
    check rocm_agent_enumerator gfx1100 mock -- rocm_agent_enumerator
    ;;
L1)
    cp "$RDNA3_SHARED"/clients/{vadd.hip,cl.c} "$work" || skip "no $RDNA3_SHARED/clients"
    check 'hipcc builds vadd' '' mock -- hipcc --offload-arch=gfx1100 -O2 vadd.hip -o vadd
    each_copy_setting vadd 'bad=0' ./vadd
    check 'clang builds cl' '' mock -- sh -c '$(ls /usr/lib/llvm-*/bin/clang | head -1) cl.c -o cl -lOpenCL'
    each_copy_setting cl 'bad 0$' ./cl
    ;;
suite)
    cp "$here/programs/hip_suite.hip" "$work"
    check 'hipcc builds hip_suite' '' mock -- hipcc --offload-arch=gfx1100 -O2 hip_suite.hip -o hip_suite
    for part in device_query lds_reduction streams_and_events event_time copies_2d large_copies \
        atomic_operations managed_memory pinned_memory cooperative graphs scratch arguments \
        error_codes; do
        check "$part" "^$part ok" mock -- ./hip_suite $part
    done
    check device_printf 'lane 12 says hello 1.50' mock -- ./hip_suite device_printf
    check_fails 'hip_suite without execution' mock --no-execute -- ./hip_suite
    ;;
hsa)
    cp "$here"/programs/hsa_{suite.c,kernels.cl} "$work"
    check 'clang builds hsa_suite' '' mock -- sh -ec '
        clang=$(ls /usr/lib/llvm-*/bin/clang | head -1)
        flags="-x cl -cl-std=CL2.0 -nogpulib -target amdgcn-amd-amdhsa -mcpu=gfx1100 -O2"
        $clang $flags hsa_kernels.cl -o k32.co
        $clang $flags -mwavefrontsize64 hsa_kernels.cl -o k64.co
        $clang -O1 hsa_suite.c -o hsa_suite -lhsa-runtime64'
    for part in dispatch wave_width barriers queues interrupt_wait copies fill scratch profile \
        endless fault; do
        check "$part" "^$part ok" mock -- ./hsa_suite k32.co k64.co $part
    done
    check 'all parts ran waves' ' [1-9][0-9]* waves' mock --stats -- ./hsa_suite k32.co k64.co
    check_fails 'hsa_suite without execution' mock --no-execute -- ./hsa_suite k32.co k64.co dispatch
    ;;
*)
    echo "ladder.sh: unknown rung $rung" >&2
    exit 2
    ;;
esac
finish
