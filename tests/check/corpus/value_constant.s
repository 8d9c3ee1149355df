// The reciprocal of a zero that the instruction itself holds.
// CHECK: value
// RUN: --block 32 --arg buf:128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	// FIX: v_rcp_f32_e32 v3, 2.0
	v_rcp_f32_e32	v3, 0 // BUG: value/division-by-zero CUT
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v3, s[4:5]
	s_endpgm
