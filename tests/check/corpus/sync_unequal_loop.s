// One wave goes round once more than the other.
// RUN: --block 64
	v_readfirstlane_b32	s4, v0
	s_lshr_b32	s4, s4, 5 // CUT
	// FIX: s_mov_b32 s4, 1
	s_add_i32	s4, s4, 1
again:
	s_barrier // BUG: sync/missed-barrier
	s_sub_i32	s4, s4, 1
	s_cmp_lg_u32	s4, 0
	s_cbranch_scc1	again
	s_endpgm
