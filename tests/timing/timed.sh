#!/bin/sh
# Stands in for rdna3 where a test calls `rdna3 run`: the same with --timing, so that
# functional vectors show that time changes no result. RDNA3 names the program.
if [ "$1" = run ]; then
    exec "$RDNA3" "$@" --timing --sclk-mhz 2500
fi
exec "$RDNA3" "$@"
