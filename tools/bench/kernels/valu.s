// Arithmetic only: 16 VALU instructions on f32 and integers in a loop.
// kernarg: u32 iterations. s[0:1] kernarg pointer, v0 work-item id.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.p2align	8
valu:
	s_load_b32	s4, s[0:1], 0x0
	v_cvt_f32_u32_e32	v1, v0
	v_add_f32_e32	v2, 1.0, v1
	v_mov_b32_e32	v3, 0.5
	v_mov_b32_e32	v4, 0x3f7f0000		// 0.99609375: products stay finite
	v_lshlrev_b32_e32	v5, 3, v0
	v_mov_b32_e32	v6, 7
	v_mov_b32_e32	v7, v0
	v_mov_b32_e32	v8, 0x1234567
	s_mov_b32	vcc_lo, 0x5a5a5a5a
	s_waitcnt	lgkmcnt(0)
.Lloop:
	v_fma_f32	v1, v1, v4, v3
	v_add_nc_u32_e32	v5, v5, v6
	v_mul_f32_e32	v2, v2, v4
	v_xor_b32_e32	v7, v7, v5
	v_add_f32_e32	v9, v1, v2
	v_lshlrev_b32_e32	v10, 5, v7
	v_max_f32_e32	v11, v9, v3
	v_and_b32_e32	v8, v8, v10
	v_fmac_f32_e32	v2, v4, v3
	v_sub_nc_u32_e32	v6, v5, v8
	v_sub_f32_e32	v12, v11, v1
	v_or_b32_e32	v8, v8, v7
	v_min_f32_e32	v13, v12, v9
	v_add3_u32	v7, v7, v6, v10
	v_cndmask_b32_e32	v14, v5, v7, vcc_lo
	v_lshrrev_b32_e32	v15, 7, v14
	s_sub_u32	s4, s4, 1
	s_cmp_lg_u32	s4, 0
	s_cbranch_scc1	.Lloop
	s_endpgm
	.rodata
	.p2align	6
	.amdhsa_kernel valu
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 32
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 32
		.amdhsa_wavefront_size32 1
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_vgpr_workitem_id 0
	.end_amdhsa_kernel
