// Two waves reverse 64 dwords through LDS and double them twice; lanes 0 and 1 of each wave add
// one more. Arguments: in, out.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.p2align	8
	.globl	reverse
	.type	reverse,@function
	.rodata
	.p2align	6
	.amdhsa_kernel reverse
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_group_segment_fixed_size 256
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_wavefront_size32 1
	.end_amdhsa_kernel
	.text
reverse:
	s_load_b128	s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	s_waitcnt	lgkmcnt(0)
	global_load_b32	v2, v1, s[4:5]
	v_sub_nc_u32_e32	v3, 0xfc, v1
	s_waitcnt	vmcnt(0)
	ds_store_b32	v3, v2
	s_waitcnt	lgkmcnt(0)
	s_barrier
	ds_load_b32	v2, v1
	s_mov_b32	s2, 0
	s_waitcnt	lgkmcnt(0)
loop:
	s_add_u32	s2, s2, 1
	v_add_nc_u32_e32	v2, v2, v2
	s_cmp_lt_u32	s2, 2
	s_cbranch_scc1	loop
	v_and_b32_e32	v4, 31, v0
	v_cmp_gt_u32_e32	vcc_lo, 2, v4
	s_and_saveexec_b32	s3, vcc_lo
	v_add_nc_u32_e32	v2, 1, v2
	s_mov_b32	exec_lo, s3
	global_store_b32	v1, v2, s[6:7]
	s_endpgm
