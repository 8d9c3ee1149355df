// The reciprocal of zero in one lane.
// CHECK: value
// RUN: --block 32 --arg buf:128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_cvt_f32_u32_e32	v2, v0
	// FIX: v_add_f32_e32 v2, 1.0, v2
	s_nop	0 // CUT
	v_rcp_f32_e32	v3, v2 // BUG: value/division-by-zero
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v3, s[4:5]
	s_endpgm
