// A clause of loads has a store in it.
// RUN: --block 32 --arg buf:128:zero --arg buf:128
	s_load_b128	s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	s_waitcnt	lgkmcnt(0)
	s_clause	0x2 // FIX: s_clause 0x1
	global_load_b32	v2, v1, s[4:5]
	global_load_b32	v3, v1, s[4:5] offset:0
	global_store_b32	v1, v0, s[6:7] // BUG: wait/clause
	s_waitcnt	vmcnt(0)
	s_endpgm
