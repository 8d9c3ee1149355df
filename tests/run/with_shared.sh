#!/bin/sh
# Run a command that needs a file of the shared folder, or skip where there is none.
#   with_shared.sh FILE COMMAND...
[ -e "$1" ] || {
    echo "skipped: there is no $1"
    exit 77
}
shift
exec "$@"
