// The last workgroup adds up what all have stored; who is last is told by a counter. The
// stores must have arrived before the counter is raised.
// RUN: --grid 4 --block 1 --arg buf:64 --arg buf:4:zero --arg buf:4
	s_load_b128	s[4:7], s[0:1], 0x0
	s_load_b64	s[8:9], s[0:1], 0x10
	v_mov_b32_e32	v1, 0
	v_mov_b32_e32	v2, 1
	s_lshl_b32	s10, s2, 2
	v_mov_b32_e32	v3, s10
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v3, v2, s[4:5] // BUG: race
	// FIX: s_waitcnt_vscnt null, 0x0
	global_atomic_add_u32	v4, v1, v2, s[6:7] glc
	s_waitcnt	vmcnt(0)
	buffer_gl1_inv
	buffer_gl0_inv
	v_readfirstlane_b32	s11, v4
	s_cmp_lg_u32	s11, 3
	s_cbranch_scc1	out
	global_load_b128	v[4:7], v1, s[4:5] // BUG: race
	s_waitcnt	vmcnt(0)
	global_store_b32	v1, v7, s[8:9]
out:
	s_endpgm
