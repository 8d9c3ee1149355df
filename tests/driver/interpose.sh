#!/usr/bin/env bash
# interpose.sh plain|mounts|nobody: the mocked files without any package: shown by the
# preloaded library, several processes at once; mounted; as nobody.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/clients.sh"
command -v python3 >/dev/null || skip "no python3"
program="$here/programs/interpose.py"
run() { timeout -k 5 60 "$rdna3" exec "$@"; }
four() { run --stats -- sh -c "for i in 1 2 3 4; do python3 '$program' & done; wait"; }

part=${1:?plain, mounts or nobody}
if [ "$part" = mounts ]; then
    unshare -m true 2>/dev/null || unshare -rm true 2>/dev/null || skip "no mount namespaces here"
    check 'files without the library' '^46247$' run -- \
        env -u LD_PRELOAD cat /sys/class/kfd/kfd/topology/nodes/1/gpu_id
    check 'device nodes without the library' renderD128 run -- env -u LD_PRELOAD ls /dev/dri /dev/null
    finish
fi
if [ "$part" = nobody ]; then
    [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || skip "needs root, to become nobody"
    nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/)
    "${nobody[@]}" test -x "$rdna3" -a -r "$program" || skip "nobody cannot reach $rdna3"
    check 'as nobody' 'interposition ok' "${nobody[@]}" "$rdna3" exec -- python3 "$program"
    check 'as nobody, without namespaces' 'interposition ok' \
        "${nobody[@]}" "$rdna3" exec --no-namespace -- python3 "$program"
    finish
fi

check 'interposition' 'interposition ok' run -- python3 "$program"
check 'removal' 'removal ok' run -- python3 "$here/programs/removal.py"
check 'interposition alone' 'interposition ok' run --no-namespace -- python3 "$program"
check 'exit status is the program'"'"'s' '^7$' sh -c "'$rdna3' exec -- sh -c 'exit 7'; echo \$?"
check 'four processes' 'interposition ok' four
# By the occurrence: unbuffered, Python writes a line and its end separately.
[ "$(four 2>/dev/null | grep -o 'interposition ok' | wc -l)" = 4 ] || { echo "FAILED: four processes"; failures=1; }
for gib in 1 24 48 300; do
    check "sizes of a board with $gib GiB" 'sizes ok' run --vram ${gib}G -- python3 "$here/programs/sizes.py" $gib
done
# The loader splits lists of libraries at spaces and colons.
away=$(mktemp -d)
mkdir -p "$away/a b:c/bin" "$away/a b:c/lib"
cp "$rdna3" "$away/a b:c/bin/rdna3"
cp "$(dirname "$rdna3")"/lib/librdna3_preload.so "$away/a b:c/lib"
chmod -R a+rX "$away"
check 'a path with a space and a colon' 'interposition ok' \
    "$away/a b:c/bin/rdna3" exec -- python3 "$program"
# A program that would not see the mock does not run.
printf 'no library' >"$away/a b:c/lib/librdna3_preload.so"
chmod 000 "$away/a b:c/lib/librdna3_preload.so"
nothing() { # OUTPUT COMMAND...: status 1, an error that says it, and nothing has run
    local out status
    out=$("${@:2}" 2>&1)
    status=$?
    [ $status = 1 ] && grep -q "$1" <<<"$out" && ! grep -q 'it ran' <<<"$out" || {
        echo "status $status: $out"
        return 1
    }
}
check 'a library that cannot be loaded' '' nothing 'error: .*preload.so' \
    "$away/a b:c/bin/rdna3" exec -- echo it ran
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    # Another root directory, with a folder of its own for temporary files.
    mkdir "$away/root"
    small_shm() { # SIZE COMMAND...
        unshare -m sh -ec 'mount -t tmpfs -o size="$1" none /dev/shm
            mount --bind / "$2/root"
            mount -t tmpfs none "$2/root/tmp"
            cp "$3" "$2/root/tmp"
            shift 3
            exec "$@"' sh "$1" "$away" "$program" "${@:2}"
    }
    check 'another root, shared memory full' 'interposition ok' small_shm 64k \
        "$rdna3" exec --root "$away/root" -- python3 /tmp/interpose.py
    check 'shared memory full' 'interposition ok' small_shm 64k "$rdna3" exec -- python3 "$program"
    no_room() {
        small_shm 64k env -u TMPDIR sh -c 'mount -t tmpfs -o size=64k none /tmp; exec "$@"' sh "$@"
    }
    [ "${rdna3#/tmp/}" != "$rdna3" ] ||
        check 'no room anywhere' '' nothing 'error: .*No space left' no_room "$rdna3" exec -- echo it ran
fi
chmod -R u+rwX "$away"
rm -rf "$away"
log=$(mktemp)
check 'log' '' run --log "$log" -- python3 "$program"
check 'log has the calls' 'kfd GET_VERSION 0x80084b01 in=0+ out=0100000011000000 ret=0' cat "$log"
check 'log has refusals' 'ret=-25' cat "$log"
rm -f "$log"
leftover=$(ls -d /dev/shm/rdna3-* 2>/dev/null | wc -l)
echo "state folders left: $leftover"
finish
