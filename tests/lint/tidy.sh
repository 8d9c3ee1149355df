#!/bin/sh
# clang-tidy over source files, by hand: with all files it takes the better part of an hour.
#   tidy.sh BUILD [FILE...]      default: what differs from the last commit of origin
set -eu
cd "$(dirname "$0")/../.."
build=$1
shift
if [ $# = 0 ]; then
    # shellcheck disable=SC2046
    set -- $(git diff --name-only --diff-filter=d "@{upstream}" -- '*.c' 2>/dev/null ||
        git ls-files '*.c')
fi
status=0
for file in "$@"; do
    clang-tidy-19 --quiet -p "$build" "$file" 2>/dev/null || status=1
done
exit $status
