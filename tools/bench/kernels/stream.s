// y[i] = a * x[i] + y[i] over buffers that caches do not hold; one dword a lane.
// kernarg: u64 x, u64 y, u32 iterations, u32 stride in bytes between iterations.
// s[0:1] kernarg pointer, s2 workgroup, v0 work-item id; 256 work-items.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.p2align	8
stream:
	s_clause	0x1
	s_load_b128	s[4:7], s[0:1], 0x0
	s_load_b64	s[8:9], s[0:1], 0x10
	s_lshl_b32	s3, s2, 8
	v_add_nc_u32_e32	v1, s3, v0
	v_lshlrev_b32_e32	v1, 2, v1
	v_mov_b32_e32	v4, 0.5
	s_waitcnt	lgkmcnt(0)
.Lloop:
	s_clause	0x1
	global_load_b32	v2, v1, s[4:5]
	global_load_b32	v3, v1, s[6:7]
	s_waitcnt	vmcnt(0)
	v_fmac_f32_e32	v3, v4, v2
	global_store_b32	v1, v3, s[6:7]
	v_add_nc_u32_e32	v1, s9, v1
	s_sub_u32	s8, s8, 1
	s_cmp_lg_u32	s8, 0
	s_cbranch_scc1	.Lloop
	s_endpgm
	.rodata
	.p2align	6
	.amdhsa_kernel stream
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 32
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 32
		.amdhsa_wavefront_size32 1
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_vgpr_workitem_id 0
	.end_amdhsa_kernel
