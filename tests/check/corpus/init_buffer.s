// A buffer that has been given no contents is read.
// RUN: --block 32 --arg buf:128 --arg buf:128
	s_load_b128	s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	s_waitcnt	lgkmcnt(0)
	// FIX: global_store_b32 v1, v0, s[4:5]
	s_nop	0 // CUT
	s_waitcnt_vscnt	null, 0x0
	global_load_b32	v2, v1, s[4:5]
	s_waitcnt	vmcnt(0)
	v_mul_u32_u24_e32	v2, 3, v2
	global_store_b32	v1, v2, s[6:7] // BUG: init/undefined-store
	s_endpgm
