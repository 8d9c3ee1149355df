// A counter in LDS is raised under a lock; the second wave forgets to take it.
// CHECK: mem race wait sync
// RUN: --block 64
// LDS: 64
	v_mov_b32_e32	v1, 0
	v_readfirstlane_b32	s6, v0
	s_mov_b32	exec_lo, 1
	s_cmp_lg_u32	s6, 0 // CUT
	s_cbranch_scc1	inside // CUT
take:
	v_mov_b32_e32	v2, 0
	v_mov_b32_e32	v3, 1
	ds_cmpstore_rtn_b32	v4, v1, v3, v2
	s_waitcnt	lgkmcnt(0)
	v_readfirstlane_b32	s4, v4
	s_cmp_lg_u32	s4, 0
	s_cbranch_scc1	take
inside:
	ds_load_b32	v5, v1 offset:4 // BUG: race
	s_waitcnt	lgkmcnt(0)
	v_add_nc_u32_e32	v5, 1, v5
	ds_store_b32	v1, v5 offset:4 // BUG: race
	s_waitcnt	lgkmcnt(0)
	v_mov_b32_e32	v2, 0
	s_cmp_lg_u32	s6, 0 // CUT
	s_cbranch_scc1	out // CUT
	ds_store_b32	v1, v2
out:
	s_endpgm
