#!/bin/sh
# Compare what rdna3 compile prints with the files beside this one.
#   run.sh RDNA3 [--rebase]
here=$(dirname "$0")
[ -x "$1" ] || { echo "skipped: no rdna3 program"; exit 77; }
status=0
for file in "$here"/*.uop; do
    for form in uops prog c opencl asm; do
        want=${file%.uop}.$form.out
        got=$("$1" compile "$file" --emit $form 2>&1)
        if [ "$2" = --rebase ]; then
            printf '%s\n' "$got" >"$want"
        elif [ "$got" != "$(cat "$want")" ]; then
            echo "$file: --emit $form differs"
            printf '%s\n' "$got" | diff "$want" - | head -10
            status=1
        fi
    done
done
exit $status
