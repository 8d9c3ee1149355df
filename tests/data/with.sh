#!/bin/sh
# Run a command that needs a file, or skip where there is none.
#   with.sh FILE COMMAND...
[ -e "$1" ] || {
    echo "skipped: there is no $1"
    exit 77
}
shift
exec "$@"
