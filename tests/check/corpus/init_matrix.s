// A column of a matrix has no value in some lanes.
// RUN: --block 32 --arg buf:1024
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_mov_b32_e32	v2, 0
	v_mov_b32_e32	v3, 0
	v_mov_b32_e32	v4, 0
	v_mov_b32_e32	v5, 0
	v_mov_b32_e32	v6, 0
	v_mov_b32_e32	v7, 0
	v_mov_b32_e32	v8, 0
	v_mov_b32_e32	v9, 0
	v_and_b32_e32	v18, 15, v0
	v_cmp_gt_u32_e32	vcc_lo, 12, v18 // CUT
	// FIX: v_cmp_gt_u32_e32 vcc_lo, 16, v18
	s_and_saveexec_b32	s6, vcc_lo
	v_mov_b32_e32	v10, 0
	s_mov_b32	exec_lo, s6
	v_mov_b32_e32	v11, 0
	v_mov_b32_e32	v12, 0
	v_mov_b32_e32	v13, 0
	v_mov_b32_e32	v14, 0
	v_mov_b32_e32	v15, 0
	v_mov_b32_e32	v16, 0
	v_mov_b32_e32	v17, 0
	v_wmma_f32_16x16x16_f16	v[18:25], v[2:9], v[10:17], 0
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v18, s[4:5] // BUG: init/undefined-store
	s_endpgm
