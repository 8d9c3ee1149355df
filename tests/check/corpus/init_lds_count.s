// A counter in LDS that is never set to zero.
// RUN: --block 64 --arg buf:4
// LDS: 16
	s_load_b64	s[4:5], s[0:1], 0x0
	v_mov_b32_e32	v1, 0
	v_mov_b32_e32	v2, 1
	v_cmp_eq_u32_e32	vcc_lo, 0, v0
	s_and_saveexec_b32	s6, vcc_lo
	// FIX: ds_store_b32 v1, v1
	s_nop	0 // CUT
	s_mov_b32	exec_lo, s6
	s_waitcnt	lgkmcnt(0)
	s_barrier
	ds_add_u32	v1, v2 // BUG: init/undefined-atomic
	s_endpgm
