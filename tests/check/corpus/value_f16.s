// A sum that an f16 cannot hold, in the upper half of a packed one.
// CHECK: value
// RUN: --block 32 --arg buf:128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_mov_b32_e32	v2, 0x7bff0001 // CUT
	// FIX: v_mov_b32_e32 v2, 0x3c000001
	v_pk_add_f16	v3, v2, v2 // BUG: value/f16-overflow
	v_pk_mul_f16	v3, v3, v3
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v3, s[4:5]
	s_endpgm
