#!/usr/bin/env bash
# programs.sh DIR [GROUP]...: unmodified programs in a guest whose GPU is the board, each
# with its control: once more where the board completes dispatches without running them
# (`rdna3 device --no-execute`), it must fail. Ends with a table. GROUPs (default: all):
#   queries    rocminfo, clinfo: no kernel, no control
#   hip        tests/clients/programs/hip_add.hip and all parts of hip_suite.hip
#   opencl     cl_scale.c
#   hsa        all parts of hsa_suite.c, with its page fault and 40 queues of one process
#   run        rdna3 run --device kfd
#   processes  three programs at once; one killed inside a kernel, then another
#   rocrtst    ROCr's 16 tests in which kernels run (tree of experimental)
#   llama      llama.cpp's MUL_MAT (tree of sid with llama)
# DIR: where tools/guest.sh keeps its guests. RDNA3_BIN: the program rdna3; RDNA3_CLIENTS:
# the folder with the trees of trixie, experimental and sid (tests/clients/trees.sh); what
# has no tree is left out, and said so. RDNA3_SUITE: whose kernel boots (default trixie).
# Half an hour with TCG; not part of `ctest`. Exit status 0: nothing failed.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../driver/clients.sh"
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?where tools/guest.sh keeps its guests}
shift
groups=${*:-queries hip opencl hsa run processes rocrtst llama}
kernel=${RDNA3_SUITE:-trixie}
files=$(mktemp -d)
left_out=()
: >"$files/wanted"
: >"$files/said"
clients_root trixie
trap 'rm -rf "$work" "$files"' EXIT

# What runs in the guest: lines `show|kernels NAME SECONDS PATTERN COMMAND...`
cat >"$files/each" <<'END'
# Says "done NAME RESULT SECONDS LAST LINE"; what it wrote is in $O/NAME.
each() {
    name=$1 limit=$2 pattern=$3
    shift 3
    begin=$(cut -d ' ' -f 1 /proc/uptime)
    timeout -k 2 "$limit" "$@" >"$O/$name" 2>&1 </dev/null
    code=$?
    result=pass
    grep -aqE -- "$pattern" "$O/$name" || result="no /$pattern/"
    [ $code = 0 ] || result="status $code"
    end=$(cut -d ' ' -f 1 /proc/uptime)
    echo "done|$name|$result|$((${end%.*} - ${begin%.*}))|$(tail -n 1 "$O/$name" | tr '|' ' ' | cut -c 1-90)"
}
show() { [ -n "$CONTROL" ] || each "$@"; }
kernels() { each "$@"; }
END
hsa() { echo "$1 hsa_$2 120 '^$2 ok' ./hsa_suite k32.co k64.co $2"; }
list() {
    local part kind
    case $1 in
    queries)
        echo "show rocminfo 120 'amdgcn-amd-amdhsa--gfx1100' rocminfo"
        echo "show clinfo 200 gfx1100 clinfo -l"
        ;;
    hip)
        echo "kernels hip_add 200 'bad=0' ./hip_add"
        for part in device_query error_codes copies_2d; do
            echo "show hip_$part 200 '^$part ok' ./hip_suite $part"
        done
        for part in lds_reduction streams_and_events large_copies atomic_operations stream_awaits_stream \
            wall_clock device_heap managed_memory pinned_memory cooperative graphs scratch arguments; do
            echo "kernels hip_$part 200 '^$part ok' ./hip_suite $part"
        done
        echo "kernels hip_device_printf 200 'lane 12 says hello 1.50' ./hip_suite device_printf"
        echo "kernels hip_printf_of_waves 200 'lane 195 says hello 1.50' ./hip_suite printf_of_waves"
        ;;
    opencl) echo "kernels cl_scale 200 'bad 0$' ./cl_scale" ;;
    hsa)
        for part in barriers profile; do hsa show $part; done # packets alone
        for part in dispatch wave_width queues scratch interrupt_wait copies fill endless many_queues shared_counter fault; do
            hsa kernels $part
        done
        echo "kernels page_fault 60 'in page starting at address 0x0000123456789000' sh fault.sh"
        ;;
    run)
        echo "kernels run_device_kfd 60 '0: 1 8 15 22 29 36 43 50' rdna3 run --device kfd k32.co --block 64 \
            --kernel scale --grid 4 --arg buf:4K --arg buf:4K:iota=u32 --arg u32:7 --print 0:u32:8"
        ;;
    processes)
        echo "kernels three_at_once 300 '^all passed' sh three.sh"
        echo "kernels killed_in_a_kernel 200 '^another passed' sh killed.sh"
        ;;
    rocrtst)
        for part in Func.Memory_Atomic_{Add,Sub,And,Or,Xor,Min,Max,Inc,Dec,Xchg}_Test .Test_Example \
            Func.{MemoryAccessTests,MemoryAccessCoherent,GroupMemoryAllocationTest,VirtMemory_Access_Test,SvmMemory_Basic_Test}; do
            # Debian's kernels have no shared virtual memory: the test says so, and runs nothing
            case $part in *Svm*) kind=show ;; *) kind=kernels ;; esac
            echo "$kind rocrtst${part//_Test/} 200 '\[  PASSED  \] 1 test' sh -c 'cd /usr/libexec/rocm/libhsa-runtime64-tests/gfx1100 && ../rocrtst64 --gtest_filter=rocrtst$part'"
        done
        ;;
    llama)
        # Copies by SDMA: the runtime's own kernels would leave both sides of a comparison empty.
        echo "kernels MUL_MAT 900 'Backend ROCm0: .*OK' env GPU_FORCE_BLIT_COPY_SIZE=0 /usr/libexec/x86_64-linux-gnu/llama.cpp-tests/test-backend-ops test -b ROCm0 \
            -o MUL_MAT -p 'type_a=(f16|f32|q4_0|q8_0),type_b=f32,m=16,n=(1|8|16),k=256,bs=.1,1.'"
        ;;
    *) echo "programs.sh: no group $1" >&2; exit 2 ;;
    esac
}
cat >"$files/three.sh" <<'END'
./hsa_suite k32.co k64.co dispatch >"$O/one" 2>&1 & one=$!
./hsa_suite k32.co k64.co many_queues >"$O/three" 2>&1 & three=$!
./cl_scale >"$O/two" 2>&1 & two=$!
wait $one && wait $two && wait $three && echo all passed
END
cat >"$files/killed.sh" <<'END'
./hsa_suite k32.co k64.co held >"$O/held" 2>&1 & held=$!
i=0
until grep -qx held "$O/held"; do
    [ $i -lt 100 ] && kill -0 $held || exit 1
    sleep 0.2
    i=$((i + 1))
done
kill -9 $held
wait $held
echo "the killed one: $?"
./hsa_suite k32.co k64.co dispatch && ./hsa_suite k32.co k64.co scratch && echo another passed
END
cat >"$files/fault.sh" <<'END'
before=$(busybox dmesg | wc -l)
./hsa_suite k32.co k64.co fault
busybox dmesg | tail -n +$((before + 1)) | grep amdgpu
END

# One start of a guest: in_guest CONTROL TREE OPTION... ; its list is $files/list
in_guest() {
    local control=$1 tree=$2
    shift 2
    sh "$here/../../tools/guest.sh" --suite "$kernel" --seconds 3000 --files "$files" --root "$tree" "$@" \
        ${control:+--no-execute} "$dir" \
        "CONTROL=$control; O=/tmp/o; mkdir -p \$O; export O; . ./each; . ./list; cp -r \$O/. ${control:-run}" |
        while IFS= read -r line; do
            echo "${control:-run}|$line"
        done
}
# guests GROUPS SUITE OPTION...: both, with a tree
guests() {
    local chosen=$1 suite=$2 group tree control
    shift 2
    tree=${RDNA3_CLIENTS:-${TMPDIR:-/tmp}/clients}/$suite/root
    if [ ! -d "$tree" ]; then
        left_out+=("$chosen: no tree $tree (tests/clients/trees.sh)")
        return
    fi
    for group in $chosen; do list "$group"; done >"$files/list"
    cat "$files/list" >>"$files/wanted"
    for control in '' control; do
        mkdir -p "$files/${control:-run}"
        in_guest "$control" "$(readlink -f "$tree")" "$@" | tee -a "$files/said"
    done
}

own='' # groups that need trixie's tree
for group in $groups; do
    list "$group" >/dev/null
    case $group in rocrtst | llama) ;; *) own+=" $group" ;; esac
done
if [ -n "$own" ]; then
    cp "$here/../clients/programs"/{hip_add.hip,hip_suite.hip,cl_scale.c,hsa_suite.c,hsa_kernels.cl} "$work"
    mock -- sh -ec '
        for f in hip_add hip_suite; do hipcc --offload-arch=gfx1100 -O2 $f.hip -o $f; done
        clang=$(ls /usr/lib/llvm-*/bin/clang | head -1)
        $clang cl_scale.c -o cl_scale -lOpenCL
        flags="-x cl -cl-std=CL2.0 -nogpulib -target amdgcn-amd-amdhsa -mcpu=gfx1100 -mcode-object-version=4 -O2"
        $clang $flags hsa_kernels.cl -o k32.co
        $clang $flags -mwavefrontsize64 hsa_kernels.cl -o k64.co
        $clang -O1 hsa_suite.c -o hsa_suite -lhsa-runtime64' || exit 1
    cp "$work"/* "$files"
    guests "$own" trixie --memory 4096
fi
case " $groups " in *' rocrtst '*) guests rocrtst experimental --vram 8G ;; esac
case " $groups " in *' llama '*) guests llama sid ;; esac

# ---- the table

# of WHICH NAME: what that start said of it, `RESULT SECONDS`
of() { awk -F '|' -v w="$1" -v n="$2" '$1 == w && $2 == "done" && $3 == n { print $4 "|" $5 }' "$files/said"; }
echo
printf '%-44s %-22s %7s  %s\n' program result seconds 'where nothing is executed'
count=0
while read -r kind name _; do
    IFS='|' read -r result seconds < <(of run "$name")
    IFS='|' read -r unexecuted _ < <(of control "$name")
    case $kind,${unexecuted:=not run} in
    show,*) unexecuted=- ;;
    *,pass) unexecuted='passes!' ;;
    *,not\ run) ;;
    *) unexecuted="fails, $unexecuted" ;;
    esac
    case ${result:=not run},$unexecuted in
    pass,fails* | pass,-) ;;
    *) failures=$((failures + 1)) ;;
    esac
    count=$((count + 1))
    printf '%-44s %-22s %7s  %s\n' "$name" "$result" "${seconds:-}" "$unexecuted"
    unset result seconds unexecuted
done <"$files/wanted"
[ ${#left_out[@]} = 0 ] || printf 'left out: %s\n' "${left_out[@]}"
echo "$count programs"
[ "$count" -gt 0 ] || failures=1
finish
