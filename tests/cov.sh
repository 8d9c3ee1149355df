#!/bin/sh
# Lines of the project that its tests execute, without and with RDNA3_SHARED: builds the
# preset cov (gcc), runs all but lint and fuzzers, first those of a plain clone, then shared/*
# (where there is no ../shared: on the folder RDNA3_SHARED).
#   [RDNA3_SHARED=FOLDER] cov.sh [CTEST-OPTION...]
set -eu
cd "$(dirname "$0")/.."
build=build/cov
cmake --preset cov ${RDNA3_SHARED:+-DRDNA3_SHARED="$RDNA3_SHARED"} >/dev/null
cmake --build --preset cov -j "$(nproc)" >build/cov.log 2>&1 || {
    tail -n 60 build/cov.log
    exit 1
}
find $build -name '*.gcda' -delete
run() {
    xml=$1
    shift
    ctest --test-dir $build -j "$(nproc)" --timeout 900 --output-junit "../$xml" "$@" >"build/$xml.log" 2>&1 ||
        grep -E 'Failed|tests failed' "build/$xml.log" || true
}
run cov_plain.xml -LE 'lint|fuzz-smoke|shared' "$@"
python3 tests/cov.py $build >build/cov_plain.tsv
run cov_shared.xml -L shared "$@"
python3 tests/cov.py $build >build/cov_all.tsv
python3 tests/cov.py --compare build/cov_plain.tsv build/cov_all.tsv
python3 tests/report.py build/cov_plain.xml build/cov_shared.xml
