// A register that nobody has written is stored.
// RUN: --block 32 --arg buf:128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	// FIX: v_mov_b32_e32 v2, v0
	s_nop	0 // CUT
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v2, s[4:5] // BUG: init/undefined-store
	s_endpgm
