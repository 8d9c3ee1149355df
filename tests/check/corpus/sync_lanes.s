// Only half of the lanes reach the barrier.
// RUN: --block 64
	v_cmp_gt_u32_e32	vcc_lo, 16, v0 // CUT
	s_and_saveexec_b32	s4, vcc_lo // CUT
	s_barrier // BUG: sync/masked-lanes
	s_endpgm
