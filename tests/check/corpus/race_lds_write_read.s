// What the other wave has written is read without a barrier between.
// CHECK: mem race wait sync
// RUN: --block 64 --arg buf:256
// LDS: 256
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_xor_b32_e32	v2, 0x80, v1
	ds_store_b32	v1, v0 // BUG: race
	s_waitcnt	lgkmcnt(0)
	// FIX: s_barrier
	ds_load_b32	v3, v2 // BUG: race
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v3, s[4:5]
	s_endpgm
