#!/bin/sh
# Every mnemonic in the first column of LIST executed, as COVERAGE.TSV of test_coverage says.
#   listed.sh COVERAGE.TSV LIST
awk -F'\t' '
    NR == FNR { if ($4 + $5) executed[$1] = 1; next }
    { n++; if (!($1 in executed)) { bad++; print "real code uses, but no test executes: " $1 } }
    END { print n + 0 " mnemonics, " bad + 0 " not executed"; exit !n || bad }' "$1" "$2"
