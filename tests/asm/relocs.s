// Relocations of every kind, against local, global and undefined symbols.
.text
.globl gl
s_nop 0
gl:
loc:
s_mov_b32 s2, loc
s_mov_b32 s3, gl
s_mov_b32 s4, loc@rel32@lo+4
s_mov_b32 s4, loc-gl
s_mov_b32 s4, undef-1
s_mov_b32 s5, dat
s_mov_b32 s5, dat+4
s_mov_b32 s5, loc@abs32@lo
s_mov_b32 s5, equ
s_mov_b32 s5, dat@GOTPCREL
s_branch gl
s_branch loc
s_branch dat
s_branch .Lsec
s_branch gl
.set equ, dat+4
.section .text2,"ax",@progbits
.Lsec:
s_nop 1
.set t, 5
.data
.long undef, undef-., loc, gl+3, dat@rel32@lo, dat-gl2, loc-.
gl2:
dat:
.quad undef, dat, .Lsec
.long .Lsec - .
.p2align 3
.balign 16
.byte t, loc2-dat
loc2:
