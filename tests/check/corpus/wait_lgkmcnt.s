// The pointer is used before it has arrived.
// RUN: --block 32 --arg buf:128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	// FIX: s_waitcnt lgkmcnt(0)
	global_store_b32	v1, v0, s[4:5] // BUG: wait/read-before-wait
	s_endpgm
