#!/usr/bin/env bash
# device.sh: the user-mode runtime on the mock. SPDX-License-Identifier: MIT
. "$(dirname "$0")/clients.sh"
suite=${RT_SUITE:?path of rt_suite}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
run() { timeout -k 5 300 "$rdna3" exec "$@"; }

for part in device memory copies dispatch barrier bad_packet fault vanished own_handler leave; do
    check "$part" "^$part ok" run -- "$suite" "$part"
done
check 'all parts in one process' '^leave ok' run -- "$suite"
check 'all parts, nothing mounted' '^leave ok' run --no-namespace -- "$suite"
check 'leaving a kernel that never ends, timed' '^leave ok' run --timing -- "$suite" leave
check_fails 'dispatch without execution' run --no-execute -- "$suite" dispatch
check_fails 'no device without the mock' "$suite" device
finish
