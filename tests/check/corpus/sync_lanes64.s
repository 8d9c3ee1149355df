// The same in a wave of 64: all lanes but one.
// RUN: --block 128
// WAVE: 64
	v_cmp_ne_u32_e32	vcc, 33, v0 // CUT
	s_and_saveexec_b64	s[4:5], vcc // CUT
	s_barrier // BUG: sync/masked-lanes
	s_endpgm
