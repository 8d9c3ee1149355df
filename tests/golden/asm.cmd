# Assembling files, statements and files of expected bytes; what is refused and how.
rdna3 asm --help
printf 's_nop 1\nv_add_f32 v0, v1\n\ns_mov_b32 s0, sym+4\n  s_bogus\n' | rdna3 asm --hex
printf 's_nop 1 -> 010080bf\ns_endpgm\t0000b0bf\ns_nop 2 ; encoding: [0x02,0x00,0x80,0xbf]\n' > good.txt; rdna3 asm --check good.txt
printf 's_nop 1 -> 020080bf\ns_bogus -> 00000000\nno bytes\n' > bad.txt; rdna3 asm --check bad.txt
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
