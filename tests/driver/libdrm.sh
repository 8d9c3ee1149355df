#!/usr/bin/env bash
# libdrm.sh: unmodified programs of Debian's libdrm-tests on the mock: the PCI device as
# libdrm finds it, copies submitted through the render node. SPDX-License-Identifier: MIT
. "$(dirname "$0")/clients.sh"
dir=${RDNA3_CLIENTS:-${TMPDIR:-/tmp}/clients}/libdrm
if ! [ -e "$dir/.ready" ]; then
    mkdir -p "$dir" && (cd "$dir" && apt-get download libdrm-tests libdrm-amdgpu1 libdrm2 \
        libdrm-radeon1 libdrm-intel1 libdrm-nouveau2 libpciaccess0 >/dev/null 2>&1) ||
        skip "cannot fetch libdrm-tests"
    for deb in "$dir"/*.deb; do dpkg -x "$deb" "$dir" || skip "cannot unpack $deb"; done
    touch "$dir/.ready"
fi
bin=$dir/usr/bin
export LD_LIBRARY_PATH=$dir/usr/lib/x86_64-linux-gnu
ldd "$bin/amdgpu_stress" 2>/dev/null | grep -q 'not found' && skip "libdrm's programs lack a library"
run() { timeout -k 5 120 "$rdna3" exec "$@"; }

check 'drmdevice' 'device_id +744c' run -- "$bin/drmdevice"
check 'drmdevice, nothing mounted' 'renderD128' run --no-namespace -- "$bin/drmdevice"
stress=("$bin/amdgpu_stress" -b v 1M -b g 1M -c 0 1 1M 4 -c 1 0 64k 8)
check 'copies by submissions' 'Submitted 8 IBs' run -- "${stress[@]}"
check 'bytes were copied' ' [1-9][0-9]* copies \([1-9][0-9]{6} bytes\)' run --stats -- "${stress[@]}"
check 'nothing is refused' '\(0 refused\)' run --stats -- "${stress[@]}"
check_fails 'no device without the mock' "${stress[@]}"
finish
