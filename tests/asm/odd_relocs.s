// Relocations that no operand or word of data makes.
.text
  s_nop 0
  s_nop 0
  .reloc 2, R_AMDGPU_NONE, .data
  .reloc 1, R_AMDGPU_NONE, foo+4
  .reloc 0, R_AMDGPU_NONE, 8
  .reloc 0, R_AMDGPU_NONE
  .reloc 0, R_AMDGPU_ABS32_LO, .data
  .reloc 0, R_AMDGPU_ABS32_HI, .data-4
  s_mov_b32 s0, foo
  .reloc 0, R_AMDGPU_ABS64, .data
  .reloc 12, R_AMDGPU_REL32, .data
  .reloc 0, R_AMDGPU_REL64, undefined+1
  .reloc 0, R_AMDGPU_ABS32, .data
  .reloc 0, R_AMDGPU_GOTPCREL, .data
  .reloc 0, R_AMDGPU_GOTPCREL32_LO, .data
  s_mov_b32 s1, foo+8
  .reloc 0, R_AMDGPU_GOTPCREL32_HI, .data
  .reloc 0, R_AMDGPU_REL32_LO, .data
  .reloc 0, R_AMDGPU_REL32_HI, .data
  .reloc 0, R_AMDGPU_RELATIVE64, .data
  .reloc 0, R_AMDGPU_REL16, .data
  .reloc 24, R_AMDGPU_NONE, .data

.data
.globl foo
foo:
  .long 0
  .long 7
  .quad foo
  .reloc 4, R_AMDGPU_ABS32, foo
  .reloc 0, R_AMDGPU_ABS64, local
  .quad foo+1
local:
  .byte 1
