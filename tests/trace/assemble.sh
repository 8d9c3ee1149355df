#!/bin/sh
# Assemble the programs with llvm-mc-19 into programs.inc. Run by hand after changing one;
# the result is committed, so the tests need no assembler.
set -eu
cd "$(dirname "$0")"
out=programs.inc
echo "/* programs.inc: assembled by assemble.sh. Do not edit. */" >$out
for file in mix clock bad; do
    for wave in 32 64; do
        [ $wave = 32 ] && size="+wavefrontsize32,-wavefrontsize64" ||
            size="-wavefrontsize32,+wavefrontsize64"
        llvm-mc-19 -arch=amdgcn -mcpu=gfx1100 -mattr=$size -filetype=obj $file.s -o $file.o
        llvm-objcopy-19 -O binary --only-section=.text $file.o $file.$wave.bin
    done
    cmp $file.32.bin $file.64.bin
    echo "static const uint32_t program_$file[] = {" >>$out
    od -An -v -tx4 -w16 $file.32.bin | sed 's/ \([0-9a-f]*\)/ 0x\1,/g; s/^/   /' >>$out
    echo "};" >>$out
    rm $file.o $file.32.bin $file.64.bin
done
