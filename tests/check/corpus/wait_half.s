// The halves of a register are loaded apart; the upper one is read before its wait.
// RUN: --block 32 --arg buf:256:iota=u32 --arg buf:128
	s_load_b128	s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	s_waitcnt	lgkmcnt(0)
	global_load_d16_b16	v2, v1, s[4:5]
	global_load_d16_hi_b16	v2, v1, s[4:5] offset:128
	s_waitcnt	vmcnt(1)
	v_cvt_f32_f16_e32	v3, v2
	// FIX: s_waitcnt vmcnt(0)
	v_lshrrev_b32_e32	v4, 16, v2 // BUG: wait/read-before-wait
	v_add_nc_u32_e32	v3, v3, v4
	s_waitcnt	vmcnt(0)
	global_store_b32	v1, v3, s[6:7]
	s_endpgm
