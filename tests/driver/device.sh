#!/usr/bin/env bash
# device.sh: the user-mode runtime and `rdna3 run --device kfd` on the mock; the sample
# kernels must give what they give directly. SPDX-License-Identifier: MIT
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

# The program under test, as the scripts that compare sample kernels call it.
cat >"$work/rdna3" <<END
#!/bin/sh
shift
exec "$rdna3" exec --no-namespace -- "$rdna3" run --device kfd "\$@"
END
chmod +x "$work/rdna3"
oracle=${RDNA3_SHARED:-}/functional/reference/oracle.py
if [ -f "$oracle" ] && command -v python3 >/dev/null; then
    check 'sample kernels through the device' '[1-9][0-9]* passed, 0 failed' \
        python3 "$oracle" --rdna3 "$work/rdna3" --jobs 2
else
    echo "skipped: sample kernels (no $oracle)"
fi
finish
