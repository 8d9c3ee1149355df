// A matrix product reads what the one before it writes.
// RUN: --block 32 --arg buf:128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
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
	v_wmma_f32_16x16x16_f16	v[24:31], v[8:15], v[16:23], 0
	// FIX: v_nop
	s_nop	0 // CUT
	v_wmma_f32_16x16x16_f16	v[8:15], v[24:31], v[16:23], 0 // BUG: wait/matrix-forwarding
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v8, s[4:5]
	s_endpgm
