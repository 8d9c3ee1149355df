// The upper half of a mask in a wave of 64 lanes.
// RUN: --block 64 --arg buf:256
// WAVE: 64
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_mov_b32_e32	v2, 1
	s_mov_b32	s6, 0xff00ff
	// FIX: s_mov_b32 s7, 0xff00ff
	s_nop	0 // CUT
	v_cndmask_b32_e64	v2, v2, v0, s[6:7]
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v2, s[4:5] // BUG: init/undefined-store
	s_endpgm
