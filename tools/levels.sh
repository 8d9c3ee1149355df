#!/bin/sh
# One sum at five levels of abstraction, each a program of compiler/examples/levels:
# a tensor expression, HIP, UOps, a search for the best kernel, assembly. All run through
# the kernel driver's interface: on the mock, or with --real on a board.
#   levels.sh [--real] [-n COUNT]      COUNT: a multiple of 262144 (default 262144)
set -eu
cd "$(dirname "$0")/.."
rdna3=build/release/rdna3
run="$rdna3 exec --"
if [ "${1-}" = --real ]; then
    run=
    shift
elif "$rdna3" exec --timing -- true 2>/dev/null; then
    run="$rdna3 exec --timing --"
else
    echo "Times are those of the emulator, not of the chip: no timing model here."
fi
status=0
for program in build/release/examples/level[1-5]_*; do
    code=0
    $run "$program" "$@" || code=$?
    [ "$code" != 2 ] || exit 2
    [ "$code" = 0 ] || [ "$code" = 77 ] || status=1
done
exit "$status"
