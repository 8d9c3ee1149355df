#!/bin/sh
# Install the test packages, build every configuration and run all tests. Ends with
# ctest's own summary; exit status 0 only if everything passed.
set -eu
cd "$(dirname "$0")/.."
jobs=$(nproc)

sh tools/install.sh cmake ninja-build gcc libc6-dev libzstd-dev pkg-config check libexpat1-dev \
    python3 git clang-19 lld-19 llvm-19 clang-format-19 \
    libsdl2-dev libsdl2-ttf-dev libpng-dev fonts-dejavu-core xvfb xauth

# build PRESET TARGET...
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

# check PRESET CTEST-OPTION...: a failure is remembered, the rest still runs
failed=0
check() {
    preset=$1
    shift
    echo "== Testing $preset"
    ctest --test-dir "build/$preset" -j "$jobs" --output-on-failure --timeout 600 "$@" ||
        failed=1
}

mkdir -p build
build tsan
build dev
build release
check tsan -L threads
check dev -LE lint
check release
[ "$failed" = 0 ] || echo "error: tests failed (see above)" >&2
exit "$failed"
