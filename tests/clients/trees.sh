#!/usr/bin/env bash
# trees.sh SUITE DIR [blas|llama]...: unpack the programs that the client tests run, from
# Debian's archive, into DIR/root (about 1 GB; 3.5 GB with the libraries). SUITE: trixie
# (HIP 5.7), sid (HIP 6.4) or experimental (ROCr 7.2 and its test suite).
# SPDX-License-Identifier: MIT
set -eu
[ $# -ge 2 ] || { echo "usage: trees.sh trixie|sid|experimental DIR [blas|llama]..." >&2; exit 2; }
suite=$1 dir=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
want=(base-files bash coreutils grep sed findutils libc-bin procps mawk rocminfo)
case $suite in
trixie) hip=libamdhip64-5 blas=librocblas0-bench ;;
sid) hip=libamdhip64-6 blas=librocblas4-bench ;;
esac
options=(--gfx gfx1100)
if [ "$suite" = experimental ]; then
    # The test suite names a library that the archive has only in a newer version.
    options+=(--alone libhsa-runtime64-tests --link libamd_smi.so.26)
    want+=(libhsa-runtime64-1 libhwloc15 libnuma1 libamd-smi27)
else
    want+=("$hip" hipcc libamdhip64-dev libhsa-runtime-dev rocm-opencl-icd clinfo
        opencl-headers ocl-icd-opencl-dev)
fi
for extra in "$@"; do
    case $extra in
    blas) want+=("$blas") ;;
    llama) want+=(llama.cpp-tests libggml0-backend-hip) ;;
    *) echo "trees.sh: no programs called $extra" >&2; exit 2 ;;
    esac
done
sh "$here/../../tools/clients.sh" "${options[@]}" "$suite" "$dir" "${want[@]}"
touch "$dir/.ready"
