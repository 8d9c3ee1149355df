#!/bin/sh
# From a clone to running GPU kernels: installs what is needed, builds rdna3, compiles the
# example kernels for gfx1100 with clang, runs them on the emulator, then shows the mock
# driver to programs: this one, Debian's rocminfo, and the compiler's five levels.
set -eu
cd "$(dirname "$0")/.."

sh tools/install.sh cmake ninja-build gcc libc6-dev libzstd-dev clang-19 lld-19 \
    libsqlite3-dev libdw-dev libsdl2-dev libsdl2-ttf-dev libpng-dev fonts-dejavu-core

echo "== Building"
cmake --preset release >/dev/null
cmake --build --preset release --target rdna3 levels

rdna3=build/release/rdna3
kernels=build/release/examples
mkdir -p "$kernels"

# compile NAME: tools/examples/NAME.cl -> $kernels/NAME.hsaco
compile() {
    clang-19 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx1100 -nogpulib -O2 \
        "tools/examples/$1.cl" -o "$kernels/$1.hsaco"
}

# run NAME OPTION...: show the command, run it
run() {
    name=$1
    shift
    compile "$name"
    echo
    echo "== $name"
    echo "\$ rdna3 run $name.hsaco $*"
    "$rdna3" run "$kernels/$name.hsaco" "$@"
}

run vector_add --grid 4096 --arg buf:4M:iota=f32 --arg buf:4M:iota=f32 --arg buf:4M \
    --arg u32:1048576 --print 2:f32:8 --stats
run reduce --grid 64 --arg buf:4M:iota=u32 --arg buf:4 --arg u32:1048576 \
    --print 1:u32 --stats
run matmul --grid 16,16 --arg buf:256K:rand=f32,1 --arg buf:256K:rand=f32,2 \
    --arg buf:256K --arg u32:256 --print 2:f32:8 --stats
run mandelbrot --grid 3,36 --arg buf:3456 --arg u32:96 --arg u32:36 --arg u32:200 \
    --out "0=$kernels/mandelbrot.txt" --stats
echo
cat "$kernels/mandelbrot.txt"

echo
echo "== a kernel through the driver's interface, as on a real board"
echo "\$ rdna3 exec -- rdna3 run --device kfd vector_add.hsaco ..."
"$rdna3" exec -- "$rdna3" run --device kfd "$kernels/vector_add.hsaco" --grid 4 \
    --arg buf:4K:iota=f32 --arg buf:4K:iota=f32 --arg buf:4K --arg u32:1024 \
    --print 2:f32:8 --stats

echo
echo "== an unmodified ROCm program: rocminfo of Debian 13"
clients=build/release/clients
if ! sh tools/clients.sh trixie "$clients" base-files bash coreutils libc-bin rocminfo; then
    echo "skipped: its packages cannot be fetched here"
elif ! "$rdna3" exec --root "$clients/root" -- true; then
    echo "skipped: there are no mounts of one's own here"
else
    echo "\$ rdna3 exec --root $clients/root -- rocminfo"
    "$rdna3" exec --root "$clients/root" -- rocminfo | sed -n '/^Agent 2/,/L3:/p'
fi

echo
echo "== one sum at five levels of abstraction, by this project's compiler"
echo "\$ tools/levels.sh"
tools/levels.sh

echo
echo "Everything ran without a GPU, on the emulator in $rdna3. Next: $rdna3 --help"
