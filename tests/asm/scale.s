// out[i] = in[i] * factor + table[i & 3], by one workgroup of 64: runs on the emulator.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.set KERNARG_BYTES, 20
	.macro address base, symbol
	s_getpc_b64 \base
	s_add_u32 s8, s8, \symbol\()@rel32@lo+4
	s_addc_u32 s9, s9, \symbol\()@rel32@hi+12
	.endm
	.text
	.globl	scale
	.p2align	8
	.type	scale,@function
scale:
	s_load_b128	s[4:7], s[0:1], 0x0
	s_load_b32	s10, s[0:1], 0x10
	v_lshlrev_b32_e32	v1, 2, v0
	address s[8:9], table
	v_and_b32_e32	v2, 12, v1
	global_load_b32	v3, v2, s[8:9]
	s_waitcnt	lgkmcnt(0)
	global_load_b32	v4, v1, s[4:5]
	s_waitcnt	vmcnt(0)
	v_mul_lo_u32	v4, v4, s10
	v_add_nc_u32_e32	v4, v4, v3
	s_cbranch_execz	1f
	global_store_b32	v1, v4, s[6:7]
1:
	s_endpgm
.Lend:
	.size	scale, .Lend-scale
	.rodata
	.p2align	6
	.amdhsa_kernel scale
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size KERNARG_BYTES
		.amdhsa_next_free_vgpr .amdgcn.next_free_vgpr
		.amdhsa_next_free_sgpr .amdgcn.next_free_sgpr
	.end_amdhsa_kernel
table:
	.irp value, 100, 200, 300, 400
	.long	\value
	.endr
	.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx1100
amdhsa.kernels:
  - .name: scale
    .symbol: scale.kd
    .kernarg_segment_size: 20
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 64
    .args:
      - { .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }
      - { .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global }
      - { .size: 4, .offset: 16, .value_kind: by_value }
...
	.end_amdgpu_metadata
