#!/bin/sh
# Build the project's own sample kernels with clang-19, both wave sizes, O0 and O2:
# NAME.w32.O2.hsaco and so on, for the tests of the code object library.
#   kernels.sh FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
for source in "$here"/../../tools/examples/*.cl "$here"/../golden/two_kernels.cl; do
    name=$(basename "$source" .cl)
    for wave in 32 64; do
        for level in O0 O2; do
            flags="-x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx1100 -nogpulib"
            [ $wave = 32 ] || flags="$flags -mwavefrontsize64"
            # shellcheck disable=SC2086
            clang-19 $flags -w -$level "$source" -o "$1/$name.w$wave.$level.hsaco"
        done
    done
done
