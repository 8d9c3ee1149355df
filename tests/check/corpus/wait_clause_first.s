// What follows s_clause does not say its type.
// RUN: --block 32 --arg buf:128:zero --arg buf:128
	s_load_b128	s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	s_waitcnt	lgkmcnt(0)
	s_clause	0x1
	s_nop	0 // BUG: wait/clause CUT
	global_load_b32	v2, v1, s[4:5]
	global_load_b32	v3, v1, s[4:5] offset:0
	s_waitcnt	vmcnt(0)
	v_add_nc_u32_e32	v2, v2, v3
	global_store_b32	v1, v2, s[6:7]
	s_endpgm
