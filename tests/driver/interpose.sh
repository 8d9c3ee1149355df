#!/usr/bin/env bash
# interpose.sh: the mocked files without any package, as root and as nobody; several
# processes at once. SPDX-License-Identifier: MIT
. "$(dirname "$0")/clients.sh"
command -v python3 >/dev/null || skip "no python3"
program="$here/programs/interpose.py"
run() { timeout -k 5 60 "$rdna3" exec "$@"; }
four() { run --stats -- sh -c "for i in 1 2 3 4; do python3 '$program' & done; wait"; }

check 'interposition' 'interposition ok' run -- python3 "$program"
check 'interposition alone' 'interposition ok' run --no-namespace -- python3 "$program"
if unshare -m true 2>/dev/null || unshare -rm true 2>/dev/null; then
    check 'files without the library' '^46247$' run -- \
        env -u LD_PRELOAD cat /sys/class/kfd/kfd/topology/nodes/1/gpu_id
    check 'device nodes without the library' renderD128 run -- env -u LD_PRELOAD ls /dev/dri /dev/null
fi
check 'exit status is the program'"'"'s' '^7$' sh -c "'$rdna3' exec -- sh -c 'exit 7'; echo \$?"
check 'four processes' 'interposition ok' four
[ "$(four 2>/dev/null | grep -c 'interposition ok')" = 4 ] || { echo "FAILED: four processes"; failures=1; }
for gib in 1 24 48 300; do
    check "sizes of a board with $gib GiB" 'sizes ok' run --vram ${gib}G -- python3 "$here/programs/sizes.py" $gib
done
log=$(mktemp)
check 'log' '' run --log "$log" -- python3 "$program"
check 'log has the calls' 'kfd GET_VERSION 0x80084b01 in=0+ out=0100000011000000 ret=0' cat "$log"
check 'log has refusals' 'ret=-25' cat "$log"
rm -f "$log"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    check 'as nobody' 'interposition ok' setpriv --reuid 65534 --regid 65534 --clear-groups \
        env HOME=/ "$rdna3" exec -- python3 "$program"
    check 'as nobody, without namespaces' 'interposition ok' setpriv --reuid 65534 --regid 65534 \
        --clear-groups env HOME=/ "$rdna3" exec --no-namespace -- python3 "$program"
fi
leftover=$(ls -d /dev/shm/rdna3-* 2>/dev/null | wc -l)
echo "state folders left: $leftover"
finish
