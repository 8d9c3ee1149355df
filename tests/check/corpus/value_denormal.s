// MODE takes denormals as zeros, and an operand is one.
// CHECK: value
// RUN: --block 32 --arg buf:128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	s_denorm_mode	0 // CUT
	// FIX: s_denorm_mode 3
	v_mov_b32_e32	v2, 0x00012345
	v_mov_b32_e32	v3, 0x4b000000
	v_mul_f32_e32	v3, v2, v3 // BUG: value/denormal-flushed
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v3, s[4:5]
	s_endpgm
