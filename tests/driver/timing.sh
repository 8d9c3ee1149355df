#!/usr/bin/env bash
# timing.sh [rocm]: under `rdna3 exec --timing` the device's clock shows model time: to our
# own runtime; with rocm, to HSA's profiling and to HIP's events.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/clients.sh"
if [ "${1:-}" = rocm ]; then
    clients_root trixie
    cp "$here"/../clients/programs/{hsa_suite.c,hsa_kernels.cl,hip_suite.hip,hip_streams.hip} "$work"
    check 'clang builds hsa_suite' '' mock -- sh -ec '
        clang=$(ls /usr/lib/llvm-*/bin/clang | head -1)
        flags="-x cl -cl-std=CL2.0 -nogpulib -target amdgcn-amd-amdhsa -mcpu=gfx1100 -O2"
        $clang $flags hsa_kernels.cl -o k32.co
        $clang $flags -mwavefrontsize64 hsa_kernels.cl -o k64.co
        $clang -O1 hsa_suite.c -o hsa_suite -lhsa-runtime64'
    profile() { mock --timing -- ./hsa_suite k32.co k64.co profile | sed -n 's/^profile: \([0-9]*\) ns/\1/p'; }
    one=$(profile)
    check "HSA profile in model time ($one ns)" '^[1-9][0-9]{2,3}$' echo "$one"
    check 'HSA profile repeats' "^${one:-none}$" profile
    mock --timing --timing-trace "$work/timeline" -- ./hsa_suite k32.co k64.co profile >/dev/null
    check 'a timeline has the kernels of ROCr by name' '^dispatch [0-9]*: increment, ' \
        "$rdna3" trace "$work/timeline"
    check 'hipcc builds hip_suite' '' mock -- hipcc --offload-arch=gfx1100 -O2 hip_suite.hip -o hip_suite
    check 'HIP events in model time' 'one kernel [0-9]{1,5}\.' mock --timing -- ./hip_suite event_time
    check 'hipcc builds hip_streams' '' mock -- hipcc --offload-arch=gfx1100 -O2 hip_streams.hip -o hip_streams
    streams() { mock --timing -- ./hip_streams 2>/dev/null; }
    two=$(streams)
    shared() { awk '{ gsub(",", ""); exit !(2 * $5 > 3 * $2 && $7 < 2.2 * $2) }' <<<"$two"; }
    check "kernels of two streams share the chip ($two)" '' shared
    check 'in as many cycles again' "^${two:-none}$" streams
    finish
fi
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
code=$work/code

# A loop of 4000 turns in 64 waves, without memory: cycles depend on nothing else.
cat >"$code.s" <<'END'
.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.text
.globl k
.p2align 8
k:
    s_movk_i32 s0, 4000
1:  v_add_f32 v1, v1, v0
    v_mul_f32 v2, v1, v1
    s_sub_i32 s0, s0, 1
    s_cmp_lg_u32 s0, 0
    s_cbranch_scc1 1b
    s_endpgm
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 8
  .amdhsa_wavefront_size32 1
.end_amdhsa_kernel
END
"$rdna3" asm -o "$code" "$code.s" || exit 1
shape=(--grid 16 --block 128)

direct() { "$rdna3" run "$code" "${shape[@]}" --timing --sclk-mhz "$1" | sed -n 's/^cycles.*(\([0-9.]*\) us.*/\1/p'; }
device() {
    "$rdna3" exec --timing --sclk-mhz "$1" "${@:2}" -- "$rdna3" run --device kfd "$code" "${shape[@]}" --stats 2>&1 |
        sed -n 's/^dispatch: \([0-9.]*\) us.*/\1/p'
}
# same NAME A B: microseconds that differ by less than two ticks of the 100 MHz clock
same() {
    if awk -v a="$2" -v b="$3" 'BEGIN { d = a - b; exit !(a > 0 && d < 0.02 && d > -0.02) }'; then
        echo "ok: $1 ($2 us, $3 us)"
    else
        echo "FAILED: $1: $2 us, $3 us"
        failures=$((failures + 1))
    fi
}
for mhz in 2482 1000; do
    same "a dispatch takes the model's time at $mhz MHz" "$(device $mhz)" "$(direct $mhz)"
done
same 'and without mounts' "$(device 2482 --no-namespace)" "$(direct 2482)"
check 'model time in the statistics' 'us in kernels by the model' \
    "$rdna3" exec --timing --stats -- "$rdna3" run --device kfd "$code" "${shape[@]}"
check_fails '--sclk-mhz without --timing' "$rdna3" exec --sclk-mhz 1000 -- true

finish
