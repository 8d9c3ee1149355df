// A counter that is never set to zero.
// RUN: --block 32 --arg buf:4
	s_load_b64	s[4:5], s[0:1], 0x0
	v_mov_b32_e32	v1, 0
	v_mov_b32_e32	v2, 1
	v_mov_b32_e32	v3, 0
	s_waitcnt	lgkmcnt(0)
	// FIX: global_store_b32 v1, v3, s[4:5]
	s_nop	0 // CUT
	s_waitcnt_vscnt	null, 0x0
	global_atomic_add_u32	v1, v2, s[4:5] // BUG: init/undefined-atomic
	s_endpgm
