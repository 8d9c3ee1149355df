// One wave waits at a barrier for the other, which waits for a flag that the first would
// set behind it.
// CHECK: mem race wait sync
// RUN: --block 64
// LDS: 64
	v_mov_b32_e32	v1, 0
	v_mov_b32_e32	v3, 1
	v_mov_b32_e32	v4, 0
	v_readfirstlane_b32	s4, v0
	s_cmp_eq_u32	s4, 0
	s_cbranch_scc0	second
	// FIX: ds_add_u32 v1, v3
	s_branch	meet
second:
	ds_add_rtn_u32	v2, v1, v4 // BUG: sync/endless-loop
	s_waitcnt	lgkmcnt(0)
	v_readfirstlane_b32	s4, v2
	s_cmp_eq_u32	s4, 0
	s_cbranch_scc1	second
meet:
	s_barrier // BUG: sync/waits-for-ever
	ds_add_u32	v1, v3
	s_endpgm
