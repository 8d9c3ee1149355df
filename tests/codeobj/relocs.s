# Every relocation that clang, lld and hand-written assembly ask for on gfx1100.
# SHARED is defined when lld has to link the file as well: it knows no absolute 32-bit
# relocations.
    .text
    .globl  kern
    .p2align 8
    .type   kern,@function
kern:
    s_getpc_b64 s[0:1]
    s_add_u32 s0, s0, helper@rel32@lo+4
    s_addc_u32 s1, s1, helper@rel32@hi+12
    s_getpc_b64 s[2:3]
    s_add_u32 s2, s2, table@gotpcrel32@lo+4
    s_addc_u32 s3, s3, table@gotpcrel32@hi+12
    s_getpc_b64 s[2:3]
    s_add_u32 s2, s2, maybe@gotpcrel32@lo+4
    s_addc_u32 s3, s3, maybe@gotpcrel32@hi+12
    s_getpc_b64 s[2:3]
    s_add_u32 s2, s2, kern@gotpcrel32@lo+4
.ifndef SHARED
    s_mov_b32 s4, number@abs32@lo
    s_mov_b32 s5, number@abs32@hi
    s_mov_b32 s4, table@abs32@lo+20
    s_mov_b32 s5, table@abs32@hi+20
.endif
    s_cbranch_scc0 helper
    s_branch far
    s_endpgm
    .size   kern, .-kern

    .section .text.far,"ax",@progbits
    .p2align 8
    s_nop 0
    .globl  helper
    .hidden helper
    .type   helper,@function
helper:
    s_setpc_b64 s[30:31]
    .size   helper, .-helper
far:
    s_branch kern
    s_endpgm

    .data
    .p2align 4
    .globl  table
    .hidden table
    .type   table,@object
table:
    .quad   kern
    .quad   helper+8
    .quad   far - .
    .long   number
    .long   helper - .
    .quad   number
    .quad   open+4
    .size   table, .-table

    .globl  open
    .type   open,@object
open:
    .quad   0x0123456789abcdef
    .size   open, 8

    .bss
    .globl  zeros
    .hidden zeros
    .type   zeros,@object
zeros:
    .zero   100
    .size   zeros, 100

    .weak   maybe
    .hidden maybe
    .globl  number
    .hidden number
    .set    number, 0x1234567

    .rodata
    .p2align 6
    .amdhsa_kernel kern
        .amdhsa_next_free_vgpr 8
        .amdhsa_next_free_sgpr 32
    .end_amdhsa_kernel
