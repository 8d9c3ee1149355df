// Two loads; the wait covers only the first.
// RUN: --block 32 --arg buf:128:iota=u32 --arg buf:128:zero
	s_load_b128	s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	s_waitcnt	lgkmcnt(0)
	global_load_b32	v2, v1, s[4:5]
	global_load_b32	v3, v1, s[6:7]
	s_waitcnt	vmcnt(1) // CUT
	// FIX: s_waitcnt vmcnt(0)
	v_add_nc_u32_e32	v2, 1, v2
	v_add_nc_u32_e32	v2, v2, v3 // BUG: wait/read-before-wait
	global_store_b32	v1, v2, s[6:7]
	s_endpgm
