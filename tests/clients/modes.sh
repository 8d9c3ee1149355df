#!/usr/bin/env bash
# modes.sh [SUITE]: the same programs as an unprivileged user, with nothing mounted (the
# preloaded library alone shows the device), both together, and four processes at once.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../driver/clients.sh"
here=$(cd "$(dirname "$0")" && pwd)
suite=${1:-trixie}
clients_root "$suite"
LIMIT=300
cp "$here"/programs/{hip_add.hip,hip_suite.hip,hsa_suite.c,hsa_kernels.cl} "$work"
check 'programs build' '' mock -- sh -ec '
    hipcc --offload-arch=gfx1100 -O2 hip_add.hip -o hip_add
    hipcc --offload-arch=gfx1100 -O2 hip_suite.hip -o hip_suite
    clang=$(ls /usr/lib/llvm-*/bin/clang | head -1)
    flags="-x cl -cl-std=CL2.0 -nogpulib -target amdgcn-amd-amdhsa -mcpu=gfx1100 -mcode-object-version=4 -O2"
    $clang $flags hsa_kernels.cl -o k32.co
    $clang $flags -mwavefrontsize64 hsa_kernels.cl -o k64.co
    $clang -O1 hsa_suite.c -o hsa_suite -lhsa-runtime64'
chmod -R a+rX "$work"
ln -s "$root/usr/bin/rocminfo" "$work/rocminfo"

# Without namespaces there is no other root: the tree's own loader runs its programs.
libraries=$root/usr/lib/x86_64-linux-gnu
loader="$root/lib64/ld-linux-x86-64.so.2 --library-path $libraries"
nobody=()
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/)
fi
user() { (cd "$work" && exec timeout -k 5 $LIMIT "${nobody[@]}" "$rdna3" exec --stats "$@"); }
bare() { # loader, program, arguments
    local program=$1
    shift
    user --no-namespace -- $loader "./$program" "$@"
}
bare_root() { (nobody=() && bare "$@"); }
four() { mock --stats -- sh -c 'for i in 1 2 3 4; do "$@" & done; wait' four "$@"; }

# everywhere NAME PATTERN PROGRAM ARGUMENT...
everywhere() {
    local name=$1 pattern=$2 program=$3
    shift 3
    if [ ${#nobody[@]} -gt 0 ]; then
        check "$name, unprivileged" "$pattern" user --root "$root" -- "${work#"$root"}/$program" "$@"
        check "$name, unprivileged, interposed" "$pattern" bare "$program" "$@"
    fi
    check "$name, interposed" "$pattern" bare_root "$program" "$@"
    check "$name, four at once" "$pattern" four "${work#"$root"}/$program" "$@"
    [ "$(four "${work#"$root"}/$program" "$@" 2>/dev/null | grep -cE -- "$pattern")" -ge 4 ] || {
        echo "FAILED: $name, four at once: not four answers"
        failures=$((failures + 1))
    }
}

check 'rocminfo, interposed' 'amdhsa--gfx1100' bare_root rocminfo
everywhere hip_add 'bad=0' hip_add
inside=${work#"$root"}/
for part in dispatch copies fill scratch interrupt_wait; do
    check "hsa $part, unprivileged" "^$part ok" user --root "$root" -- \
        "${inside}hsa_suite" "${inside}k32.co" "${inside}k64.co" $part
    check "hsa $part, interposed" "^$part ok" bare hsa_suite k32.co k64.co $part
    check "hsa $part, four at once" "^$part ok" four \
        "${inside}hsa_suite" "${inside}k32.co" "${inside}k64.co" $part
done
for part in lds_reduction streams_and_events copies_2d atomic_operations managed_memory pinned_memory graphs; do
    check "hip $part, interposed" "^$part ok" bare hip_suite $part
    check "hip $part, four at once" "^$part ok" four "${inside}hip_suite" $part
done
check_fails 'hip_add interposed without execution' user --no-namespace --no-execute -- $loader ./hip_add
finish
