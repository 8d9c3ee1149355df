// What an atomic returns is used; only its stores are waited for.
// RUN: --block 32 --arg buf:4:zero --arg buf:128
	s_load_b128	s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_mov_b32_e32	v2, 0
	v_mov_b32_e32	v3, 1
	s_waitcnt	lgkmcnt(0)
	global_atomic_add_u32	v4, v2, v3, s[4:5] glc
	s_waitcnt_vscnt	null, 0x0 // CUT
	// FIX: s_waitcnt vmcnt(0)
	v_add_nc_u32_e32	v4, 1, v4 // BUG: wait/read-before-wait
	global_store_b32	v1, v4, s[6:7]
	s_endpgm
