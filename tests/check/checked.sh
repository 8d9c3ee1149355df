#!/bin/sh
# checked.sh RDNA3 LOG CHECKS [ARGUMENT...]: rdna3, and every `run` with --check CHECKS; what
# was found, and how much was looked at, is appended to LOG.
rdna3=$1 log=$2 checks=$3
shift 3
[ "${1:-}" = run ] || exec "$rdna3" "$@"
err=$(mktemp)
"$rdna3" "$@" --check "$checks" --keep-going --error-exitcode 99 2>"$err"
status=$?
cat "$err" >&2
cat "$err" >>"$log"
rm -f "$err"
exit $status
