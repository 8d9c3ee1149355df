// On one way round the wait is missing.
// RUN: --grid 2 --block 32 --arg buf:128:iota=u32 --arg buf:256
	s_load_b128	s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	s_waitcnt	lgkmcnt(0)
	global_load_b32	v2, v1, s[4:5]
	s_cmp_eq_u32	s2, 0
	s_cbranch_scc1	over // CUT
	s_waitcnt	vmcnt(0)
over:
	s_lshl_b32	s8, s2, 7
	v_add_nc_u32_e32	v1, s8, v1
	global_store_b32	v1, v2, s[6:7] // BUG: wait/read-before-wait
	s_endpgm
