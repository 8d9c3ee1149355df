// LDS traffic: stores, loads of several widths, an atomic and a cross-lane permute.
// kernarg: u32 iterations. 256 work-items, 16 bytes of LDS each.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.p2align	8
lds:
	s_load_b32	s4, s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 4, v0		// own 16 bytes
	v_lshlrev_b32_e32	v2, 2, v0
	v_mov_b32_e32	v3, v0
	v_mov_b32_e32	v4, 1
	v_mov_b32_e32	v5, 2
	v_mov_b32_e32	v6, 3
	s_waitcnt	lgkmcnt(0)
.Lloop:
	ds_store_b128	v1, v[3:6]
	ds_store_b32	v1, v4 offset:4
	s_waitcnt	lgkmcnt(0)
	s_barrier
	ds_load_b32	v7, v2
	ds_load_b64	v[8:9], v1
	ds_load_2addr_b32	v[10:11], v1 offset1:2
	ds_add_u32	v2, v4
	ds_bpermute_b32	v12, v2, v3
	s_waitcnt	lgkmcnt(0)
	v_add3_u32	v3, v7, v8, v12
	s_barrier
	s_sub_u32	s4, s4, 1
	s_cmp_lg_u32	s4, 0
	s_cbranch_scc1	.Lloop
	s_endpgm
	.rodata
	.p2align	6
	.amdhsa_kernel lds
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 32
		.amdhsa_group_segment_fixed_size 4096
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 32
		.amdhsa_wavefront_size32 1
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_vgpr_workitem_id 0
	.end_amdhsa_kernel
