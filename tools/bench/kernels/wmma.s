// Matrix instructions only: four independent accumulators.
// kernarg: u32 iterations. Wave32.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.p2align	8
wmma:
	s_load_b32	s4, s[0:1], 0x0
	v_cvt_f32_u32_e32	v64, v0
	v_mul_f32_e32	v64, 0x3d000000, v64		// lane / 32
	v_cvt_f16_f32_e32	v64, v64
	v_pack_b32_f16	v64, v64, v64
	v_mov_b32_e32	v32, v64
	v_mov_b32_e32	v33, v64
	v_mov_b32_e32	v34, v64
	v_mov_b32_e32	v35, v64
	v_mov_b32_e32	v36, v64
	v_mov_b32_e32	v37, v64
	v_mov_b32_e32	v38, v64
	v_mov_b32_e32	v39, v64
	v_mov_b32_e32	v40, v64
	v_mov_b32_e32	v41, v64
	v_mov_b32_e32	v42, v64
	v_mov_b32_e32	v43, v64
	v_mov_b32_e32	v44, v64
	v_mov_b32_e32	v45, v64
	v_mov_b32_e32	v46, v64
	v_mov_b32_e32	v47, v64
	v_mov_b32_e32	v0, 0
	v_mov_b32_e32	v1, 0
	v_mov_b32_e32	v2, 0
	v_mov_b32_e32	v3, 0
	v_mov_b32_e32	v4, 0
	v_mov_b32_e32	v5, 0
	v_mov_b32_e32	v6, 0
	v_mov_b32_e32	v7, 0
	v_mov_b32_e32	v8, 0
	v_mov_b32_e32	v9, 0
	v_mov_b32_e32	v10, 0
	v_mov_b32_e32	v11, 0
	v_mov_b32_e32	v12, 0
	v_mov_b32_e32	v13, 0
	v_mov_b32_e32	v14, 0
	v_mov_b32_e32	v15, 0
	v_mov_b32_e32	v16, 0
	v_mov_b32_e32	v17, 0
	v_mov_b32_e32	v18, 0
	v_mov_b32_e32	v19, 0
	v_mov_b32_e32	v20, 0
	v_mov_b32_e32	v21, 0
	v_mov_b32_e32	v22, 0
	v_mov_b32_e32	v23, 0
	v_mov_b32_e32	v24, 0
	v_mov_b32_e32	v25, 0
	v_mov_b32_e32	v26, 0
	v_mov_b32_e32	v27, 0
	v_mov_b32_e32	v28, 0
	v_mov_b32_e32	v29, 0
	v_mov_b32_e32	v30, 0
	v_mov_b32_e32	v31, 0
	s_waitcnt	lgkmcnt(0)
.Lloop:
	v_wmma_f32_16x16x16_f16	v[0:7], v[32:39], v[40:47], v[0:7]
	v_wmma_f32_16x16x16_f16	v[8:15], v[32:39], v[40:47], v[8:15]
	v_wmma_f32_16x16x16_f16	v[16:23], v[32:39], v[40:47], v[16:23]
	v_wmma_f32_16x16x16_f16	v[24:31], v[32:39], v[40:47], v[24:31]
	s_sub_u32	s4, s4, 1
	s_cmp_lg_u32	s4, 0
	s_cbranch_scc1	.Lloop
	s_endpgm
	.rodata
	.p2align	6
	.amdhsa_kernel wmma
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 32
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_next_free_vgpr 72
		.amdhsa_next_free_sgpr 32
		.amdhsa_wavefront_size32 1
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_vgpr_workitem_id 0
	.end_amdhsa_kernel
