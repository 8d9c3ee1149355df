// A product that an f32 cannot hold, in the Y half of a VOPD; what comes of it is not told.
// CHECK: value
// RUN: --block 32 --arg buf:128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_mov_b32_e32	v2, 0x7e967699 // CUT
	// FIX: v_mov_b32_e32 v2, 2.0
	v_mov_b32_e32	v5, 1.0
	v_dual_add_f32	v4, v5, v5 :: v_dual_mul_f32 v7, v2, v2 // BUG: value/infinity-born
	v_add_f32_e32	v9, v7, v4
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v9, s[4:5]
	s_endpgm
