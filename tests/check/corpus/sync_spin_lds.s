// Both waves wait for a flag in LDS that nobody sets.
// CHECK: mem race wait sync
// RUN: --block 64
// LDS: 64
	v_mov_b32_e32	v1, 0
	v_mov_b32_e32	v3, 1
	// FIX: ds_store_b32 v1, v3
	s_waitcnt	lgkmcnt(0)
	s_barrier
again:
	ds_load_b32	v2, v1 // BUG: sync/endless-loop
	s_waitcnt	lgkmcnt(0)
	v_readfirstlane_b32	s4, v2
	s_cmp_eq_u32	s4, 0
	s_cbranch_scc1	again
	s_endpgm
