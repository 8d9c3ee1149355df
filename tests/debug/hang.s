// Wave 0 takes a lock and ends; wave 1 tries for ever. s[0:1]: kernarg.
	s_load_b64	s[4:5], s[0:1], 0x0
	v_mov_b32	v1, 0
	s_mov_b32	exec_lo, 1
	s_waitcnt	lgkmcnt(0)
again:
	v_mov_b32	v2, 1
	v_mov_b32	v3, 0
	global_atomic_cmpswap_b32	v4, v1, v[2:3], s[4:5] glc
	s_waitcnt	vmcnt(0)
	v_readfirstlane_b32	s6, v4
	s_cmp_eq_u32	s6, 0
	s_cbranch_scc0	again
	s_endpgm
