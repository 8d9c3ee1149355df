// The upper half of a 64-bit address is missing.
// RUN: --block 32 --arg buf:128:iota=u32 --arg buf:128
// CHECK: init
// END: 0
	s_load_b128	s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	s_waitcnt	lgkmcnt(0)
	v_add_co_u32	v2, vcc_lo, s4, v1
	// FIX: v_add_co_ci_u32_e64 v3, null, s5, 0, vcc_lo
	s_nop	0 // CUT
	global_load_b32	v4, v[2:3], off // BUG: init/undefined-address
	s_waitcnt	vmcnt(0)
	global_store_b32	v1, v4, s[6:7]
	s_endpgm
