# Code objects as source files that make them again, and as JSON.
copy small.s ../dis/small.s
rdna3 asm -o small.hsaco small.s && rdna3 dis small.hsaco
rdna3 asm -c -o small.o small.s && rdna3 dis small.o | grep -e @ -e .quad
rdna3 dis --json small.hsaco | head -40
# Without debug information there are no lines to show.
rdna3 dis -l small.hsaco >/dev/null
rdna3 dis --raw -l small.hsaco
rdna3 dis --json --hex
printf 'not an object' > bad.hsaco; rdna3 dis --json bad.hsaco
head -c 3000 small.hsaco > cut.hsaco; rdna3 dis cut.hsaco
# The wave size is told to the assembler by a symbol.
printf '.set .Lamdgcn.wavefront_size, 48\n' | rdna3 asm -o x.o -
printf '.section .got,"aw",@progbits\n.quad k\n.text\nk: s_add_u32 s0, s0, k@gotpcrel32@lo+4\n' | rdna3 asm -o x.o -
