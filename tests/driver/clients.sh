# clients.sh: sourced by the tests that run Debian's ROCm programs. SPDX-License-Identifier: MIT
#
# Provides $root (a tree with the programs, from clients_root SUITE) and the
# functions mock, check, skip. A missing tree is fetched once if the host can; otherwise
# the test is skipped, with the reason.
set -u
rdna3=${RDNA3_BIN:?path of rdna3}
here=$(cd "$(dirname "$0")" && pwd)
failures=0

skip() {
    echo "skipped: $*"
    exit 77
}

# clients_root SUITE: sets root; only trixie is fetched unasked
clients_root() {
    local suite=$1 dir trees=$here/../clients/trees.sh
    dir=${RDNA3_CLIENTS:-${TMPDIR:-/tmp}/clients}/$suite
    root=$dir/root
    work=$root/tmp/rdna3-test.$$
    if ! [ -e "$dir/.ready" ]; then
        [ "$suite" = trixie ] || skip "no tree of $suite: run tests/clients/trees.sh $suite $dir"
        [ "$(id -u)" = 0 ] || skip "unpacking the clients into $dir needs root"
        mkdir -p "$dir"
        bash "$trees" "$suite" "$dir" >"$dir/provision.log" 2>&1 ||
            skip "cannot fetch the clients: $(tail -n 1 "$dir/provision.log")"
    fi
    mkdir -p "$work" || skip "cannot write to $root"
    trap 'rm -rf "$work"' EXIT
}

# mock [EXEC-OPTION...] -- COMMAND...: in $work, inside the tree
mock() {
    (cd "$work" && exec timeout -k 5 "${LIMIT:-120}" "$rdna3" exec --root "$root" "$@")
}

# check NAME PATTERN COMMAND...: the command succeeds and its output matches
check() {
    local name=$1 pattern=$2 out status
    shift 2
    out=$("$@" 2>&1)
    status=$?
    if [ $status = 0 ] && grep -qE -- "$pattern" <<<"$out"; then
        echo "ok: $name"
    else
        echo "FAILED: $name (status $status, wanted /$pattern/)"
        tail -n 20 <<<"$out"
        failures=$((failures + 1))
    fi
}

# check_fails NAME COMMAND...: the control; the command must not succeed
check_fails() {
    local name=$1
    shift
    if "$@" >/dev/null 2>&1; then
        echo "FAILED: $name succeeded, but must not"
        failures=$((failures + 1))
    else
        echo "ok: $name"
    fi
}

finish() {
    echo "$failures failures"
    exit $((failures > 0))
}
