// Scalar loads come back in any order: a wait for all but one says nothing.
// RUN: --block 32 --arg buf:128 --arg buf:128
	s_load_b64	s[4:5], s[0:1], 0x0
	s_load_b64	s[6:7], s[0:1], 0x8
	v_lshlrev_b32_e32	v1, 2, v0
	s_waitcnt	lgkmcnt(1) // CUT
	// FIX: s_waitcnt lgkmcnt(0)
	global_store_b32	v1, v0, s[4:5] // BUG: wait/read-before-wait
	s_endpgm
