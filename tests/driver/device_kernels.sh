#!/usr/bin/env bash
# device_kernels.sh COMMAND...: kernels through `rdna3 run --device kfd` on the mock must
# give what they give directly. The command, a script that compares results of `rdna3 run`
# with an oracle, is called with --rdna3 and a program that stands in for it.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/clients.sh"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cat >"$work/rdna3" <<END
#!/bin/sh
shift
exec "$rdna3" exec --no-namespace -- "$rdna3" run --device kfd "\$@"
END
chmod +x "$work/rdna3"
"$@" --rdna3 "$work/rdna3" --jobs 2
