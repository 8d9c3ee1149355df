# Sources of several files: what is read where, and what is said of mistakes in them.
mkdir inc; printf '.macro twice r\n v_add_u32 \\r, \\r, \\r\n.endm\ntwice v1\ntwice v2\n' > inc/m.inc; printf '\1\2\3\4\5\6\7\10' > inc/eight.bin
printf '.include "m.inc"\n.if LIMIT > 3\ns_nop LIMIT\n.endif\n.data\n.incbin "eight.bin", 2, 4\n.incbin "inc/eight.bin", 6\n' > a.s; printf '.text\ns_endpgm\n' > b.s
rdna3 asm -c -I inc --defsym LIMIT=0x5 -o a.o a.s b.s && rdna3 dis a.o
printf '.data\n.quad "a b"+8, "a b"@rel64\n"a b":\n' > q.s; rdna3 asm -c -o q.o q.s && rdna3 dis q.o | grep quad
# Mistakes.
rdna3 asm -c --defsym LIMIT=1 -o a.o a.s
printf 's_nop 0\n.include "in2.s"\n' > in1.s; printf '\n s_bogus\n.include "in1.s"\ntwice v0\n' > in2.s; rdna3 asm -o x.o in1.s
printf '.include "./in1.s"\n' > loop.s; printf '.include "loop.s"\n' > in1.s; rdna3 asm -o x.o loop.s 2>&1 | tail -4
printf '.include\n.include "a.s" 5\n.include ""\n.incbin "inc/eight.bin", -1\n.include "inc"\n.if 1\n' > bad.s; rdna3 asm -o x.o bad.s
rdna3 asm -o x.o a.s missing.s -I inc --defsym LIMIT=1
rdna3 asm --defsym LIMIT a.s
rdna3 asm --defsym 1X=2 a.s
rdna3 asm --defsym X=2y a.s
rdna3 asm a.s b.s c.s d.s e.s f.s g.s h.s i.s j.s
printf '.include "g2.s"\ns_nop 1\n' > g1.s; printf 's_nop 2\n' > g2.s; rdna3 asm -o x.o g1.s g2.s && rdna3 dis x.o | grep -c s_nop
long=$(printf '%0120d' 0); printf 's_bogus\n' > $long.s; printf '.include "%s.s"\n' $long > m.s; printf '.include "m.s"\n' > n.s; rdna3 asm -o x.o n.s 2>&1 | cut -c1-60
printf 'here:\n' > d1.s; printf '.include "d1.s"\nhere:\nthere:\nthere:\n' > d2.s; rdna3 asm -o x.o d2.s
