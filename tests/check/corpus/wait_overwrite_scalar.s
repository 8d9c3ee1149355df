// The same of a scalar register.
// RUN: --block 32 --arg buf:128 --arg u32:5
	s_load_b64	s[4:5], s[0:1], 0x0
	s_load_b32	s6, s[0:1], 0x8
	v_lshlrev_b32_e32	v1, 2, v0
	// FIX: s_waitcnt lgkmcnt(0)
	s_mov_b32	s6, 7 // BUG: wait/overwrite-before-wait
	s_waitcnt	lgkmcnt(0)
	v_mov_b32_e32	v2, s6
	global_store_b32	v1, v2, s[4:5]
	s_endpgm
