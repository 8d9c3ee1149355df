// The Y half of a VOPD reads what has no value.
// RUN: --block 32 --arg buf:128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_mov_b32_e32	v4, 1.0
	v_mov_b32_e32	v7, 1.0
	// FIX: v_mov_b32_e32 v5, 2.0
	s_nop	0 // CUT
	v_dual_add_f32	v2, v4, v7 :: v_dual_mul_f32 v3, v5, v4
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v2, s[4:5]
	global_store_b32	v1, v3, s[4:5] // BUG: init/undefined-store
	s_endpgm
