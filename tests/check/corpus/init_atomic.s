// The operand of an atomic.
// RUN: --block 32 --arg buf:4:zero
	s_load_b64	s[4:5], s[0:1], 0x0
	v_mov_b32_e32	v1, 0
	// FIX: v_mov_b32_e32 v2, 1
	s_nop	0 // CUT
	s_waitcnt	lgkmcnt(0)
	global_atomic_add_u32	v1, v2, s[4:5] // BUG: init/undefined-atomic
	s_endpgm
