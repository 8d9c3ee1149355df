// The second wave ends before the barrier.
// RUN: --block 64
	v_readfirstlane_b32	s4, v0
	s_cmp_eq_u32	s4, 0 // CUT
	s_cbranch_scc0	over // CUT
	s_barrier // BUG: sync/missed-barrier
over:
	s_endpgm
