// Wave 0 faults at its load, wave 1 ends.
	v_readfirstlane_b32	s5, v0
	s_cmp_eq_u32	s5, 0
	s_cbranch_scc0	away
	v_mov_b32	v1, 64
	v_mov_b32	v2, 0
	global_load_b32	v3, v[1:2], off
away:
	s_endpgm
