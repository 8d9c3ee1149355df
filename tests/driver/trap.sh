#!/usr/bin/env bash
# trap.sh: a trap in a kernel goes through the runtime's trap handler and back to the
# program as an exception of its queue. SPDX-License-Identifier: MIT
. "$(dirname "$0")/clients.sh"
clients_root trixie
cp "$here/programs/hip_trap.hip" "$work"
check 'hipcc builds hip_trap' '' mock -- hipcc --offload-arch=gfx1100 -O2 hip_trap.hip -o hip_trap
check 'a trap ends the program' 'HSA_STATUS_ERROR_EXCEPTION' mock -- sh -c '! ./hip_trap'
check 'the driver says where' 'exception: trap: .*s_trap 2' mock -- sh -c '! ./hip_trap'
check 'without execution it goes on' 'went on: 0' mock --no-execute -- ./hip_trap
finish
