// The waves wait at barriers of their own.
// RUN: --block 64
	v_readfirstlane_b32	s4, v0
	s_cmp_eq_u32	s4, 0 // CUT
	s_cbranch_scc0	second // CUT
	s_barrier // BUG: sync/different-barriers
	s_branch	done // CUT
second:
	s_barrier // CUT
done:
	s_endpgm
