#!/usr/bin/env bash
# replay.sh [rocminfo]: transcripts of `rdna3 exec --log` can be issued again with the same results;
# a changed one is noticed. SPDX-License-Identifier: MIT
. "$(dirname "$0")/clients.sh"
suite=${RT_SUITE:?path of rt_suite}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
run() { timeout -k 5 300 "$rdna3" exec "$@"; }
same='calls, 0 differ, [0-9]+ not repeatable'
if [ "${1:-}" = rocminfo ]; then
    rmdir "$work" # clients_root makes another
    clients_root trixie
    check 'record rocminfo' gfx1100 mock --log "$work/log" -- rocminfo
    check 'replay rocminfo' "$same" run --replay "$work/log"
    finish
fi
command -v python3 >/dev/null || skip "no python3"

for part in device memory copies dispatch barrier; do
    check "record $part" "^$part ok" run --log "$work/$part" -- "$suite" $part
    check "replay $part" "^process [0-9]+: [1-9][0-9]* $same" run --replay "$work/$part"
done
check 'record interpose' 'ok' run --log "$work/interpose" -- python3 "$here/programs/interpose.py"
check 'replay interpose' "$same" run --replay "$work/interpose"
# Controls: another result, another output, a line that is none.
sed '/ALLOC_MEMORY/s/ret=0$/ret=-12/' "$work/memory" >"$work/changed"
check_fails 'another result' run --replay "$work/changed"
sed '/GET_VERSION/s/out=01/out=02/' "$work/memory" >"$work/changed"
check_fails 'another output' run --replay "$work/changed"
sed '/APERTURES_NEW/s/put=\(0x[0-9a-f]*\):../put=\1:ee/' "$work/device" >"$work/changed"
check_fails 'other memory written' run --replay "$work/changed"
echo 'no transcript' >"$work/changed"
check_fails 'no transcript' run --replay "$work/changed"
check_fails 'a command with --replay' run --replay "$work/memory" -- true
check 'four processes' '' run --log "$work/four" -- sh -c "for i in 1 2 3 4; do '$suite' device & done; wait"
[ "$(run --replay "$work/four" | grep -cE "$same")" = 4 ] || { echo 'FAILED: replay of four processes'; failures=1; }
finish
