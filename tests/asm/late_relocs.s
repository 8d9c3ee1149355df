	// Relocations by name that loadable files know, too, up to the end of a section.
	.text
	.globl	f
f:
local:
	s_nop 0
	s_nop 0
	s_nop 0
	s_nop 0
	s_branch 0xffff
	s_mov_b32 s0, 0x12345678
	s_mov_b32 s1, other
	s_endpgm
	.reloc	0, R_AMDGPU_REL32, data+4
	.reloc	4, R_AMDGPU_REL32_HI, data
	.reloc	8, R_AMDGPU_REL64, data
	.reloc	16, R_AMDGPU_REL16, local
	.reloc	24, R_AMDGPU_REL32, local
	.hidden	other
	.globl	other
other:
	s_endpgm
	.data
	.hidden	data
	.globl	data
data:
	.long 0
	.quad 0
	.long 0
	.reloc	4, R_AMDGPU_ABS64, f
	.reloc	12, R_AMDGPU_REL32, data+8
	.section	.debug_x,"",@progbits
	.byte 1
	.long 0
	.reloc	1, R_AMDGPU_ABS32, data
