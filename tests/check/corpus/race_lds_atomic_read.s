// Bins that others still count in are read.
// CHECK: mem race wait sync
// RUN: --block 64 --arg buf:256
// LDS: 256
	s_load_b64	s[4:5], s[0:1], 0x0
	v_and_b32_e32	v1, 28, v0
	v_mov_b32_e32	v2, 1
	ds_add_u32	v1, v2 // BUG: race
	s_waitcnt	lgkmcnt(0)
	// FIX: s_barrier
	ds_load_b32	v3, v1 // BUG: race
	v_lshlrev_b32_e32	v1, 2, v0
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v3, s[4:5]
	s_endpgm
