#!/bin/sh
# The committed benchmark kernels are what build.py makes of their sources.
#   bench_kernels.sh FOLDER-FOR-OUTPUT
kernels=$(dirname "$0")/../../tools/bench/kernels
command -v clang-19 >/dev/null && command -v llvm-objdump-19 >/dev/null || {
    echo "skipped: there is no clang-19 or llvm-objdump-19"
    exit 77
}
python3 "$kernels/build.py" "$1/bench_kernels.c" &&
    diff -u "$kernels/bench_kernels.c" "$1/bench_kernels.c"
