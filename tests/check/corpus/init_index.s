// M0 selects a register and has no value.
// RUN: --block 32 --arg buf:128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_mov_b32_e32	v4, v0
	v_mov_b32_e32	v5, v0
	// FIX: s_mov_b32 m0, 1
	s_nop	0 // CUT
	s_waitcnt	lgkmcnt(0)
	v_movrels_b32_e32	v3, v4 // BUG: init/undefined-index
	global_store_b32	v1, v3, s[4:5]
	s_endpgm
