// Data, alignment, sections, groups, macros, conditionals, numeric labels.
.text
.data
.set t,70000
.2byte 1
.p2align 2
.fill 2,8,0x55667788
.ascii "abc"  "def", "x"
.quad 0xffffffffffffffff
.byte 255, -128
.float 1.5, -0.0, 1e10
.double 3.14159
.octa 0x5566778899aabbccddeeff00
.uleb128 300, 0, 127
.sleb128 -1, 64, -65, 1000000
.p2align 4
.string "a\tb\n\\\"\x41\101"
.balign 16, 0xff
.text
.p2align 8
.if 1 == 1
s_nop 1
.elseif 1
s_nop 2
.else
s_nop 3
.endif
.ifdef t
 s_nop 4
.endif
.macro foo a, b=7, c:vararg
 .if \a
 s_nop \a
 s_nop \b
 .endif
 .ifnb \c
 .long \c
 .endif
 .ifb \c
  lab\@: s_branch lab\@
 .endif
.endm
foo 1
foo 2, 3
foo 3 , 4 , 5, 6, 7
.set a,1
.set b,2
.data
.rept 3
.byte 1
.rept 2
.byte 2
.endr
.endr
.irp x, 1, 2, 3
.short \x
foo \x
.endr
.irpc c, 789
.byte \c
.endr
.p2align 2
.text
1: s_branch 1f
s_branch 1b
1:
.rept 2
.text
1: s_branch 1f
s_branch 1b
.endr
1: s_nop 0
.pushsection .rodata
.long 5
.popsection
.previous
.long 1
.previous
.section .foo,"aMS",@progbits,1
.Lstr: .asciz "hi"
s2: .asciz "ho"
.text
.quad .Lstr+1, .Lstr, s2, s2+1
.data
.globl q
.type q,@object
.size q, 8
q: .quad q
.weak w
.hidden hid
.protected q
.long w - ., hid
.bss
.zero 100
.p2align 4
.byte 0
.section .text.k,"axG",@progbits,grp,comdat
s_nop 7
.globl grp
grp: .quad grp
.section .data.k,"awG",@progbits,grp,comdat
.long 4
.org 16, 3
.equ e, d
d = 5
.set lab, grp+4
.globl lab
.long (1+2)*3-4/2%3, ~5&0xff|3^1<<2, max(1,5,3), or(1,2,4), alignto(13,8)
