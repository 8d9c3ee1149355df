# Assembling files, statements and files of expected bytes; what is refused and how.
rdna3 asm --help
printf 's_nop 1\nv_add_f32 v0, v1\n\ns_mov_b32 s0, sym+4\n  s_bogus\n' | rdna3 asm --hex
printf 's_nop 1 -> 010080bf\ns_endpgm\t0000b0bf\ns_nop 2 ; encoding: [0x02,0x00,0x80,0xbf]\n' > good.txt; rdna3 asm --check good.txt
printf '\t.text\n\t.globl\tfoo\nfoo:\n\ts_branch foo ; encoding: [A,A,0xa0,0xbf]\n  ;   fixup A - offset: 0, value: foo, kind: fixup_si_sopp_br\n\ts_nop 0 ; encoding: [0x00,0x00,0x80,0xbf]\n\ts_nop 1 ; encoding: [0x00,0x00,0x80,0xbf]\n' > mc.s; rdna3 asm --check mc.s
printf 's_nop 1 -> 020080bf\ns_bogus -> 00000000\nno bytes\n' > bad.txt; rdna3 asm --check bad.txt
printf '// RUN: llvm-mc -triple=amdgcn -mcpu=gfx1100 -show-encoding %%s | FileCheck --check-prefixes=GFX11,W32 %%s\n// RUN: not llvm-mc -mcpu=gfx1100 -mattr=+wavefrontsize64 %%s 2>&1 | \\\n// RUN: FileCheck --check-prefix=W64-ERR %%s\n// RUN: llvm-mc -mcpu=gfx1200 %%s | FileCheck --check-prefix=GFX12 %%s\ns_nop 1\n// GFX11: s_nop 1 ; encoding: [0x01,0x00,0x80,0xbf]\n// GFX12: s_nop 1 ; encoding: [0xff]\nv_cmp_eq_u32_e64 s5, v0, v1\n// W32: v_cmp_eq_u32_e64 s5, v0, v1 ; encoding: [0x05,0x00,0x4a,0xd4,0x00,0x03,0x02,0x00]\n// W64-ERR: :[[@LINE-2]]:{{[0-9]+}}: error: invalid operand\ns_branch foo // GFX11 is no check here\n// GFX11-NEXT: s_branch foo ; encoding: [A,A,0xa0,0xbf]\ns_nop 2\n// GFX11: [0x02,0x00,0x80,0xbf]\n' > lit.s; rdna3 asm --check lit.s
sed 's/0x01,0x00,0x80/0x02,0x00,0x80/; s/s5, v0/s[4:5], v0/; s/\[A,A/[A;A/' lit.s > lit_bad.s; rdna3 asm --check lit_bad.s
printf 's_bogus\ns_nop 0\n' > wrong.txt; rdna3 asm --check --reject wrong.txt
printf 'k: s_endpgm\n' > k.s; rdna3 asm k.s && rdna3 asm -c k.s && ls
printf 's_nop 0\n\tv_add_f32\tv0, v1, s[0:1] ; why\n.long 1 +\n.macro m r\n s_mov_b32 \\r, v0\n.endm\nm s0\ns_branch nowhere\n' > errors.s; rdna3 asm errors.s; ls
yes s_bogus | head -1000 | rdna3 asm -o out.o -
rdna3 asm
rdna3 asm -
rdna3 asm missing.s
rdna3 asm --wave 16 k.s
rdna3 asm --hex k.s
rdna3 asm --fuzz-pairs 0
rdna3 asm --frobnicate k.s
# A lit test in which nothing is for this chip is not a clean one.
sed 's/gfx1100/gfx1030/' lit.s > lit_none.s; rdna3 asm --check lit_none.s
sed 's/GFX11/OTHER/g' lit.s | sed 's/prefixes=OTHER,W32/prefix=NONE/' > lit_none.s; rdna3 asm --check --wave 32 lit_none.s
printf 's_nop 0\n' | rdna3 asm --hex --defsym X=1
printf 's_nop 0\n' | rdna3 asm --hex -o x.o
rdna3 asm --check -I inc lit.s
