#!/usr/bin/env bash
# unprivileged.sh: the project's HSA and HIP programs as nobody, without namespaces, all
# files shown by the preloaded library alone; one at a time and four at once; and the
# control. The tree's own loader stands in for its root directory.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/clients.sh"
[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || skip "needs root, to become nobody"
clients_root trixie
programs=$here/../clients/programs
cp "$programs"/{hsa_suite.c,hsa_kernels.cl,hip_suite.hip} "$work"
check 'hipcc builds hip_suite' '' mock -- hipcc --offload-arch=gfx1100 -O2 hip_suite.hip -o hip_suite
check 'clang builds hsa_suite' '' mock -- sh -ec '
    clang=$(ls /usr/lib/llvm-*/bin/clang | head -1)
    flags="-x cl -cl-std=CL2.0 -nogpulib -target amdgcn-amd-amdhsa -mcpu=gfx1100 -O2"
    $clang $flags hsa_kernels.cl -o k32.co
    $clang $flags -mwavefrontsize64 hsa_kernels.cl -o k64.co
    $clang -O1 hsa_suite.c -o hsa_suite -lhsa-runtime64'
chmod -R a+rX "$work"
loader=$(ls "$root"/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)
libraries=$root/usr/lib/x86_64-linux-gnu
# nobody [EXEC-OPTION...] -- PROGRAM ARGUMENT...
nobody() {
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    (cd "$work" && exec setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/tmp \
        timeout -k 5 300 "$rdna3" exec --no-namespace "${options[@]}" -- "$@")
}
run_program() { nobody "${@:1:$#-1}" -- sh -c "'$loader' --library-path '$libraries' ${*: -1}"; }

setpriv --reuid 65534 --regid 65534 --clear-groups test -r "$work/hsa_suite" -a -x "$rdna3" ||
    skip "nobody cannot reach $work or $rdna3"
check 'hsa_suite as nobody' '^endless ok' run_program './hsa_suite k32.co k64.co'
check 'hip_suite as nobody' '^error_codes ok' run_program './hip_suite'
check 'it ran waves' ' [1-9][0-9]* waves' run_program --stats './hsa_suite k32.co k64.co'
check_fails 'hsa_suite as nobody without execution' run_program --no-execute './hsa_suite k32.co k64.co'
four=$(run_program "./hsa_suite k32.co k64.co scratch & for i in 1 2 3; do '$loader' --library-path '$libraries' ./hsa_suite k32.co k64.co scratch & done; wait" 2>&1)
check 'four at once as nobody' '^4$' grep -c '^scratch ok' <<<"$four"
finish
