// The root of a negative difference.
// CHECK: value
// RUN: --block 32 --arg buf:128:iota=f32 --arg buf:128
	s_load_b128	s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	s_waitcnt	lgkmcnt(0)
	global_load_b32	v2, v1, s[4:5]
	s_waitcnt	vmcnt(0)
	v_sub_f32_e32	v3, 1.0, v2 // CUT
	// FIX: v_sub_f32_e32 v3, v2, v2
	v_sqrt_f32_e32	v3, v3 // BUG: value/nan-born
	v_add_f32_e32	v3, v3, v3
	global_store_b32	v1, v3, s[6:7]
	s_endpgm
