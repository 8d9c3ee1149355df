// A lock that its owner never gives back: the other wave tries for ever.
// RUN: --block 64 --arg buf:64:zero
	s_load_b64	s[4:5], s[0:1], 0x0
	v_mov_b32_e32	v1, 0
	s_mov_b32	exec_lo, 1
	s_waitcnt	lgkmcnt(0)
again:
	v_mov_b32_e32	v2, 1
	v_mov_b32_e32	v3, 0
	global_atomic_cmpswap_b32	v4, v1, v[2:3], s[4:5] glc // BUG: sync/endless-loop
	s_waitcnt	vmcnt(0)
	buffer_gl0_inv
	v_readfirstlane_b32	s6, v4
	s_cmp_eq_u32	s6, 0
	s_cbranch_scc0	again
	v_mov_b32_e32	v2, 0
	// FIX: global_atomic_swap_b32 v1, v2, s[4:5]
	s_endpgm
