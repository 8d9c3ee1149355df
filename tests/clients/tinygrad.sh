#!/usr/bin/env bash
# tinygrad.sh: unmodified tinygrad from PyPI on the mock, with PM4 and with AQL queues,
# thread traces, performance counters, and the control. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../driver/clients.sh"
here=$(cd "$(dirname "$0")" && pwd)
venv=${RDNA3_CLIENTS:-/tmp/clients}/tinygrad
python=$venv/bin/python
if ! "$python" -c 'import tinygrad' 2>/dev/null; then
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "tinygrad needs Python 3.11"
    python3 -m venv "$venv" >/dev/null 2>&1 && "$venv/bin/pip" install -q tinygrad >/dev/null 2>&1 ||
        skip "cannot install tinygrad"
fi
tools=$(mktemp -d) && trap 'rm -rf "$tools"' EXIT
clang=$(command -v clang-19 || command -v clang) || skip "no clang for tinygrad's host code"
ln -s "$clang" "$tools/clang"
llvm=$(ls /usr/lib/llvm-*/lib/libLLVM.so* 2>/dev/null | head -n 1)
[ -n "$llvm" ] || skip "no libLLVM"
export PATH=$tools:$PATH CACHEDB=$tools/cache.db XDG_CACHE_HOME=$tools
run() { timeout -k 5 300 "$rdna3" exec "$@"; }
suite="$here/programs/tinygrad_suite.py"

check 'tinygrad, PM4 queues' 'jit ok' run -- env 'DEV=KFD+AMD:LLVM' "$python" "$suite"
check 'tinygrad, AQL queues' 'jit ok' run -- env AMD_AQL=1 'DEV=KFD+AMD:LLVM' "$python" "$suite"
check 'tinygrad ran waves' ' [1-9][0-9]* waves' run --stats -- env 'DEV=KFD+AMD:LLVM' "$python" "$suite"
trace() { run "$@" -- env SQTT=1 PROFILE=1 SQTT_BUFFER_SIZE=4 'DEV=KFD+AMD:LLVM' "$python" "$here/programs/tinygrad_trace.py"; }
check 'thread traces, read by tinygrad' 'traces ok' trace --timing
check 'counters beside traces' 'traces ok' run --timing -- env TMPDIR="$tools" VIZ=2 SQTT_BUFFER_SIZE=4 'DEV=KFD+AMD:LLVM' "$python" "$here/programs/tinygrad_trace.py"
check 'that capture, scored' ' 100\.0 +0\.[0-9]+ +0\.[0-9]+ +0\.[0-9]+ ' \
    "$rdna3" timing score --warm '' --launch 0 "$tools"/profile.pkl*
check_fails 'thread traces without times' trace
count() { run --stats "$@" -- env PMC=1 PROFILE=1 'DEV=KFD+AMD:LLVM' "$python" "$here/programs/tinygrad_pmc.py" $with; }
with=
count >"$tools/counters" 2>&1
check 'performance counters, against the code' 'counters ok' cat "$tools/counters"
check 'counters need times' 'without --timing SQ_BUSY_CYCLES reads 0' cat "$tools/counters"
waves=$(sed -n 's/^all kernels: \([0-9]* waves\)$/\1/p' "$tools/counters")
check 'waves counted are those that ran' "workgroups, ${waves:-none}," cat "$tools/counters"
with=times check 'counters of cycles and caches' 'counters ok' count --timing
check_fails 'counters without execution' count --no-execute
check_fails 'tinygrad without execution' run --no-execute -- env 'DEV=KFD+AMD:LLVM' "$python" "$suite"
finish
