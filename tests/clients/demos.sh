#!/usr/bin/env bash
# demos.sh [SUITE]: rdna3 check on the mistakes that the demos of NVIDIA's compute-sanitizer
# make (programs/hip_demos.hip): each is found, as what and where; repaired, nothing is.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../driver/clients.sh"
here=$(cd "$(dirname "$0")" && pwd)
clients_root "${1:-trixie}"
cp "$here/programs/hip_demos.hip" "$work"
check 'it builds' '' mock -- hipcc --offload-arch=gfx1100 -g -O1 hip_demos.hip -o hip_demos
checked() { (cd "$work" && exec timeout -k 5 300 "$rdna3" check --root "$root" --keep-going "$@" 2>&1); }
line() { # of a mark; nothing without a library for source lines
    ! ldconfig -p | grep -q libdw.so.1 || echo "hip_demos.hip:$(grep -nE "// $1\$" "$here/programs/hip_demos.hip" | head -n 1 | cut -d : -f 1)"
}
# found PART OPTIONS PATTERN...: an error with all of these in the report; repaired, none
found() {
    local part=$1 options=$2 out pattern status
    shift 2
    # shellcheck disable=SC2086 # several options
    out=$(checked $options -- ./hip_demos "$part")
    status=$?
    [ $status = 1 ] || out+=$'\n'"status $status"
    for pattern in '^error: ' "$@"; do
        if ! grep -qE -- "$pattern" <<<"$out" || [ $status != 1 ]; then
            echo "FAILED: $part: no /$pattern/"
            echo "$out"
            failures=$((failures + 1))
            return
        fi
    done
    # shellcheck disable=SC2086
    check "$part" '^0 errors in [0-9]* accesses of [1-9]' checked $options -- ./hip_demos "$part" fixed
}

found wild '' '\[wild-address\]' "$(line WILD)"
found leak --leak-check '\[leak\]' '1024 bytes of hipMalloc are never freed' "$(line MADE)"
found block_sum '' 'of LDS after an unordered' "$(line 'BLOCK STORE')" "$(line 'BLOCK LOAD')"
found wave_sum --race-lanes 'of another lane' "$(line 'WAVE STORE')" "$(line 'WAVE LOAD')"
found memset '' '\[undefined-store\]' 'byte 256 of memory of hipMalloc' "$(line INCREMENT)" 'made by hipMalloc'
found print '' '\[undefined-store\]' 'byte 0 of memory of hipMalloc' "$(line PRINTED)"
found divergent '' '\[masked-lanes\]' "$(line DIVERGENT)"
found streams '' 'of another kernel' "$(line PRODUCE)" "$(line CONSUME)"
found copy '' 'hipMemcpy reads 1024 bytes from byte 4' "$(line COPY)"
check 'beside' '; 1 kernel ran unchecked beside them$' checked --check mem,sync -- ./hip_demos beside
finish
