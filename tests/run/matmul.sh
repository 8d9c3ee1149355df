#!/bin/sh
# The LDS-tiled f32 matrix product of tools/examples, N a side, against the host.
#   matmul.sh RDNA3 MATMUL_DATA N
set -eu
rdna3=$1 data=$2 n=$3
examples=$(dirname "$0")/../../tools/examples
command -v clang-19 >/dev/null || {
    echo "skipped: there is no clang-19"
    exit 77
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
clang-19 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx1100 -nogpulib -O2 \
    "$examples/matmul.cl" -o "$tmp/matmul.hsaco"
"$data" make "$n" "$tmp/a" "$tmp/b"
"$rdna3" run "$tmp/matmul.hsaco" --grid "$((n / 16)),$((n / 16))" --arg "file:$tmp/a" \
    --arg "file:$tmp/b" --arg "buf:$((n * n * 4))" --arg "u32:$n" --out "2=$tmp/c"
"$data" check "$n" "$tmp/a" "$tmp/b" "$tmp/c"
