// Only the lower half of a register has a value.
// RUN: --block 32 --arg buf:64:iota=u16 --arg buf:128
// CHECK: init
	s_load_b128	s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 1, v0
	v_lshlrev_b32_e32	v3, 2, v0
	s_waitcnt	lgkmcnt(0)
	global_load_d16_b16	v2, v1, s[4:5]
	// FIX: global_load_d16_hi_b16 v2, v1, s[4:5]
	s_nop	0 // CUT
	s_waitcnt	vmcnt(0)
	v_pk_add_u16	v2, v2, v2
	v_alignbit_b32	v2, v2, v2, 12
	global_store_b32	v3, v2, s[6:7] // BUG: init/undefined-store
	s_endpgm
