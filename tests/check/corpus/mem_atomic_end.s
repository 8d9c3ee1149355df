// Bins of a histogram: one more than there is room for.
// RUN: --block 64 --arg buf:64:zero
// WAVE: 64
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshrrev_b32_e32	v1, 2, v0
	v_add_nc_u32_e32	v1, 1, v1 // CUT
	v_lshlrev_b32_e32	v1, 2, v1
	v_mov_b32_e32	v2, 1
	s_waitcnt	lgkmcnt(0)
	global_atomic_add_u32	v1, v2, s[4:5] // BUG: mem/out-of-bounds
	s_endpgm
