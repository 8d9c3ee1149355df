#!/bin/sh
# The device's clock under `rdna3 exec --timing` counts simulated cycles: a program prints
# the same times every time, and bandwidth that the chip could have.
#   levels_timing.sh RDNA3 PROGRAM
rdna3=$1
program=$2
"$rdna3" exec --timing -- true 2>/dev/null || { echo "skipped: no timing model"; exit 77; }
first=$("$rdna3" exec --timing -- "$program") || exit 1
second=$("$rdna3" exec --timing -- "$program") || exit 1
echo "$first"
if [ "$first" != "$second" ]; then
    echo "the second time: $second"
    exit 1
fi
rate=$(echo "$first" | sed -n 's/.* ms, \([0-9]*\)\..* GB\/s.*/\1/p')
# an empty clock or the host's would be far outside
[ "${rate:-0}" -ge 1 ] && [ "$rate" -le 4000 ]
