# Files that are missing or wrong, kernels that are not there, arguments that do not match
# the metadata: exit status 1.
file empty.bin
file code.bin 0000b0bf
file kd63.bin 000000000000000000000000
file small.bin 010203
build add.hsaco vector_add.cl
build two.hsaco two_kernels.cl
build between.hsaco hidden_between.s
rdna3 run missing.elf
rdna3 run --raw missing.bin
rdna3 run --raw code.bin --kd missing.bin
rdna3 run --raw code.bin --kd kd63.bin
rdna3 run --raw empty.bin
rdna3 run --raw code.bin --entry-offset 2
rdna3 run --raw code.bin --entry-offset 4
rdna3 run --raw code.bin --block 1025
rdna3 run --raw code.bin --block 32,32,2
rdna3 run --raw code.bin --grid 4294967295 --block 2
rdna3 run empty.bin
rdna3 run code.bin
rdna3 run two.hsaco
rdna3 run two.hsaco --kernel third
rdna3 run two.hsaco --kernel second --block 512
rdna3 run add.hsaco
rdna3 run add.hsaco --arg buf:4K --arg buf:4K --arg buf:4K
rdna3 run add.hsaco --arg buf:4K --arg buf:4K --arg buf:4K --arg u32:5 --arg u32:6
rdna3 run add.hsaco --arg buf:4K --arg buf:4K --arg buf:4K --arg u64:5
rdna3 run add.hsaco --arg buf:4K --arg f64:1 --arg buf:4K --arg u32:5
rdna3 run add.hsaco --arg buf:4K --arg i32:1 --arg buf:4K --arg u32:5
rdna3 run add.hsaco --arg buf:4K --arg buf:4K --arg buf:4K --arg u32:5 --block 128
rdna3 run add.hsaco --arg buf:4K --arg buf:4K --arg buf:4K --arg u32:5 --wave 64
rdna3 run add.hsaco --arg buf:4K --arg buf:4K --arg buf:4K --arg u32:5 --dynamic-lds 70000
rdna3 run add.hsaco --arg buf:2:file=small.bin --arg buf:4K --arg buf:4K --arg u32:5
rdna3 run between.hsaco --arg u64:1
rdna3 run add.hsaco --arg file:missing --arg buf:4K --arg buf:4K --arg u32:5
rdna3 run add.hsaco --arg buf:4K --arg buf:4K --arg buf:4K --arg u32:5 --out 2=no/such/folder
rdna3 doc v_frobnicate_b32
rdna3 device --vfio-user /nonexistent/socket
# A database that would be nowhere, a file without an end.
printf 'command = true {n}\nn = 1..2\n' >s.sweep
rdna3 sweep s.sweep --db ''
rdna3 sweep s.sweep --db :memory:
rdna3 sweep s.sweep --db /dev/null
rdna3 dis /dev/zero
# A script of the debugger is named with its line, a library with its path.
printf '# one\nfoo\n' >cmds
rdna3 debug --raw code.bin --batch -x cmds
rdna3 debug --raw code.bin --batch -x none
rdna3 exec --preload none -- true
