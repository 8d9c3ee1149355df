// An offset of a scalar load that nobody has set.
// RUN: --block 32 --arg buf:128:iota=u32 --arg buf:128
	s_load_b128	s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	// FIX: s_mov_b32 s9, 0
	s_nop	0 // CUT
	s_waitcnt	lgkmcnt(0)
	s_load_b32	s8, s[4:5], s9 // BUG: init/undefined-address
	s_waitcnt	lgkmcnt(0)
	v_mov_b32_e32	v2, s8
	global_store_b32	v1, v2, s[6:7]
	s_endpgm
