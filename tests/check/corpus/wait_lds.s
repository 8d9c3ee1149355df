// LDS loads come back in order; the second one is used.
// CHECK: mem race wait sync
// RUN: --block 32 --arg buf:128
// LDS: 128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	s_waitcnt	lgkmcnt(0)
	ds_load_b32	v2, v1
	ds_load_b32	v3, v1
	s_waitcnt	lgkmcnt(1)
	v_add_nc_u32_e32	v2, 1, v2
	// FIX: s_waitcnt lgkmcnt(0)
	v_add_nc_u32_e32	v2, v2, v3 // BUG: wait/read-before-wait
	global_store_b32	v1, v2, s[4:5]
	s_endpgm
