#!/bin/sh
# Install the test packages, build every configuration and run all tests, the fuzzers for a
# minute together. Then one line for each skipped test with its reason, how many ran, the
# time of each phase, and last the summary that ctest gives of the release tests. Exit
# status 0 only if everything passed.
set -eu
cd "$(dirname "$0")/.."
jobs=$(nproc)
mkdir -p build
: >build/phases

# phase NAME COMMAND...: run it and write down how long it took
phase() {
    name=$1
    began=$(date +%s)
    shift
    "$@"
    echo "$name $(($(date +%s) - began)) s" >>build/phases
}

# build PRESET CMAKE-OPTION...
build() {
    preset=$1
    shift
    echo "== Building $preset"
    cmake --preset "$preset" >/dev/null
    cmake --build --preset "$preset" -j "$jobs" "$@" >"build/$preset.log" 2>&1 || {
        tail -n 60 "build/$preset.log"
        exit 1
    }
}

# check PRESET CTEST-OPTION...: a failure is remembered, the rest still runs. ctest's
# summary goes to PRESET.summary.
failed=
check() {
    preset=$1
    shift
    echo "== Testing $preset"
    {
        ctest --test-dir "build/$preset" -j "$jobs" --output-on-failure --timeout 600 \
            --test-output-size-passed 65536 --output-junit ../"$preset.xml" "$@" 2>&1 ||
            echo "$preset" >>build/failed
    } | awk -v summary="build/$preset.summary" '
        BEGIN { printf "" >summary }
        /^[0-9]+% tests passed/ { hold = 1 }
        hold { print >summary; next }
        { print; fflush() }'
}

# pypi PACKAGE...: clients that nobody here wrote; without them their tests are skipped.
pypi() {
    [ "$(cat build/pypi/have 2>/dev/null)" != "$*" ] || return 0
    python3 -m venv build/pypi &&
        build/pypi/bin/pip install -q --disable-pip-version-check --target build/pypi/site "$@" &&
        echo "$*" >build/pypi/have || echo "not to be had from PyPI: $*"
}

need=10 # GB: dev 6, tsan 2, release and fuzz 1 each
free=$(df -Pk . | awk 'NR == 2 { print int($4 / 1000000) }')
[ -d build/dev ] || [ "$free" -ge $need ] ||
    echo "warning: $free GB of disk are free here, a first build of everything takes $need" >&2
rm -f build/failed build/*.xml
phase install sh tools/install.sh cmake ninja-build gcc libc6-dev libzstd-dev pkg-config check \
    libexpat1-dev python3 git clang-19 lld-19 llvm-19 clang-format-19 clang-tidy-19 \
    libclang-rt-19-dev libsqlite3-dev libsdl2-dev libsdl2-ttf-dev libpng-dev libzydis-dev libdw-dev libedit-dev libjansson-dev fonts-dejavu-core \
    xvfb xauth python3-numpy python3-pytest python3-venv chromium zsh fish openmpi-bin libopenmpi-dev openssh-client
phase packages pypi dap-python tinygrad==0.14.0
export PYTHONPATH="$PWD/build/pypi/site${PYTHONPATH:+:$PYTHONPATH}"
phase 'build tsan' build tsan
phase 'build dev' build dev
phase 'build release' build release
phase 'build fuzz' build fuzz --target fuzzers
phase 'test tsan' check tsan -L threads
cat build/tsan.summary
phase 'test fuzz' check fuzz -L fuzzers
cat build/fuzz.summary
phase 'test dev' check dev -LE 'lint|plain'
cat build/dev.summary
phase 'test release' check release

python3 tests/report.py build/tsan.xml build/fuzz.xml build/dev.xml build/release.xml
paste -s -d, build/phases | sed 's/,/, /g; s/^/Time: /'
[ ! -e build/failed ] || {
    failed=$(paste -s -d' ' build/failed)
    echo "error: tests failed (see above): $failed" >&2
}
echo
cat build/release.summary
[ -z "$failed" ]
