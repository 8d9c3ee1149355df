#!/usr/bin/env bash
# device.sh: the user-mode runtime on the mock. SPDX-License-Identifier: MIT
. "$(dirname "$0")/clients.sh"
suite=${RT_SUITE:?path of rt_suite}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
run() { timeout -k 5 300 "$rdna3" exec "$@"; }

for part in device memory shown shown_queues shown_meanwhile beside removed copies dispatch barrier bad_packet fault vanished own_handler spin leave; do
    check "$part" "^$part ok" run -- "$suite" "$part"
done
# A thread is held up only where it can be let go again (spinners.c).
if (renice -n 1 -p $BASHPID && renice -n 0 -p $BASHPID) >/dev/null 2>&1; then
    check 'spinning waits for kernels' 'the kernel went first' run -- "$suite" spin
else
    check 'spinning as it likes' 'all went on alike' run -- "$suite" spin
fi
check 'all parts in one process' '^leave ok' run -- "$suite"
check 'all parts, nothing mounted' '^leave ok' run --no-namespace -- "$suite"
check 'leaving a kernel that never ends, timed' '^leave ok' run --timing -- "$suite" leave
check_fails 'dispatch without execution' run --no-execute -- "$suite" dispatch
check_fails 'no device without the mock' "$suite" device
check 'emu_mode as asked' '^0$' "$RDNA3_BIN" exec --emu-mode 0 -- cat /sys/module/amdgpu/parameters/emu_mode
check 'emu_mode unasked' '^1$' "$RDNA3_BIN" exec -- cat /sys/module/amdgpu/parameters/emu_mode

# Folders of processes go with them, at the latest when the next one comes.
folders() {
    run -- sh -c 'proc=/sys/class/kfd/kfd/proc; ls $proc | wc -l; mkdir "$RDNA3_STATE/root/sys/devices/virtual/kfd/kfd/proc/4194304"; "$1" shown; ls $proc | wc -l' \
        sh "$suite" | tr '\n' ' '
}
check 'folders of processes' '^0 shown ok 0 $' folders
check 'a process that has become another program' '^0$' run -- \
    "$suite" -- sh -c '"$0" shown >/dev/null; ls /sys/class/kfd/kfd/proc | wc -l' "$suite"
if unshare -p -f true 2>/dev/null; then
    RT_BESIDE="unshare -p -f '$suite' shown" check 'one in another PID namespace' '^beside ok' run -- "$suite" beside
fi

# Records of processes that have ended are used again. (With a sanitizer each takes long.)
many() {
    run --no-namespace -- sh -c 'i=0
        while [ $i -lt 1030 ]; do "$1" device >/dev/null || { echo "failed at $i"; exit 1; }; i=$((i + 1)); done
        "$1" device' sh "$suite"
}
[ -n "${ASAN_OPTIONS-}" ] || check 'more processes than records' '^device ok' many

# Each opcode is counted, of all processes; together they are what --stats counts.
opcodes() {
    run --opcodes --stats -- sh -c '"$@" & "$@"; wait' sh "$suite" dispatch 2>&1 | awk '
        / instructions, / { sub(/ instructions,.*/, ""); sub(/.* /, ""); total += $0 }
        /%$/ { sum += $3; ends = ends || $2 == "s_endpgm" }
        END { print total, sum, ends; exit !(total > 0 && total == sum && ends) }'
}
check 'instructions by opcode' '' opcodes

# Registers that nobody models are named.
regs=$(dirname "$suite")/pm4_regs
check 'registers in --stats' 'register COMPUTE_START_X \(0x2e04\), not modelled: 0 reads, 1 writes, 0 waits' \
    run --stats -- "$regs"
check 'a register without a name' 'register 0xa3f1, not modelled' run --stats -- "$regs"
check 'with --log' '^pm4_regs ok' run --log "$work/log" -- "$regs"
check 'registers in --log' '^# [0-9]+: register COMPUTE_START_X \(0x2e04\) written' cat "$work/log"
check 'such a log is replayed' 'calls, 0 differ' run --replay "$work/log"

finish
