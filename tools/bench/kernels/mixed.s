// What compiled kernels are made of: address arithmetic, divergence, scalar work, scalar
// and vector memory, LDS, VOPD, DPP, a transcendental.
// kernarg: u64 data (4 bytes a work-item), u32 iterations. 256 work-items.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.p2align	8
mixed:
	s_clause	0x1
	s_load_b64	s[4:5], s[0:1], 0x0
	s_load_b32	s8, s[0:1], 0x8
	s_lshl_b32	s3, s2, 8
	v_add_nc_u32_e32	v1, s3, v0
	v_mov_b32_e32	v2, 0
	v_lshlrev_b32_e32	v4, 2, v0
	v_lshlrev_b64	v[5:6], 2, v[1:2]
	s_waitcnt	lgkmcnt(0)
	v_add_co_u32	v5, vcc_lo, s4, v5
	v_add_co_ci_u32_e32	v6, vcc_lo, s5, v6, vcc_lo
	v_mov_b32_e32	v10, 1.0
	v_mov_b32_e32	v11, 0.5
.Lloop:
	global_load_b32	v7, v[5:6], off
	s_load_b64	s[10:11], s[0:1], 0x0
	s_and_b32	s12, s8, 15
	s_lshl_b32	s12, s12, 2
	s_waitcnt	vmcnt(0) lgkmcnt(0)
	v_add_nc_u32_e32	v7, s12, v7
	ds_store_b32	v4, v7
	v_and_b32_e32	v8, 1, v7
	v_cmp_eq_u32_e32	vcc_lo, 0, v8
	s_and_saveexec_b32	s13, vcc_lo
	s_cbranch_execz	.Ljoin
	v_mul_lo_u32	v7, v7, 3
	v_cvt_f32_u32_e32	v9, v7
	v_rcp_f32_e32	v9, v9
	v_fmac_f32_e32	v10, v9, v11
.Ljoin:
	s_or_b32	exec_lo, exec_lo, s13
	s_waitcnt	lgkmcnt(0)
	s_barrier
	ds_load_b32	v12, v4
	v_add_f32_dpp	v13, v10, v11 row_ror:1 row_mask:0xf bank_mask:0xf
	v_dual_mul_f32	v10, v10, v11 :: v_dual_add_f32 v15, v11, v13
	v_bfe_u32	v14, v7, 3, 8
	s_waitcnt	lgkmcnt(0)
	v_add3_u32	v7, v12, v14, v7
	global_store_b32	v[5:6], v7, off
	s_barrier
	s_sub_u32	s8, s8, 1
	s_cmp_lg_u32	s8, 0
	s_cbranch_scc1	.Lloop
	s_endpgm
	.rodata
	.p2align	6
	.amdhsa_kernel mixed
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 32
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 32
		.amdhsa_wavefront_size32 1
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_vgpr_workitem_id 0
	.end_amdhsa_kernel
