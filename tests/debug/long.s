// Many steps: each wave counts to 130000 and stores the count, at a place that wanders over
// 64 pages. s[0:1]: kernarg; s2: workgroup.
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32	v1, 2, v0
	s_mov_b32	s6, 0
	s_waitcnt	lgkmcnt(0)
again:
	s_add_u32	s6, s6, 1
	s_and_b32	s7, s6, 63
	s_lshl_b32	s7, s7, 12
	v_add_nc_u32	v2, s7, v1
	v_mov_b32	v3, s6
	global_store_b32	v2, v3, s[4:5]
	s_cmp_lt_u32	s6, 130000
	s_cbranch_scc1	again
	s_endpgm
