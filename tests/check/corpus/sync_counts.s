// A loop that counts by a step that does not divide its end.
// RUN: --block 32 --watchdog 100000
	s_mov_b32	s4, 0
again:
	s_add_i32	s4, s4, 2
	s_nop	0
	s_cmp_lg_u32	s4, 0x101 // CUT
	// FIX: s_cmp_lg_u32 s4, 0x100
	s_cbranch_scc1	again // BUG: sync/endless-loop
	s_endpgm
