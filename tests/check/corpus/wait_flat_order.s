// FLAT and LDS accesses leave LGKMcnt in the order in which they were issued.
// RUN: --block 32 --arg buf:128
// LDS: 256
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	s_mov_b64	s[6:7], src_shared_base
	v_mov_b32_e32	v3, s7
	v_add_nc_u32_e32	v2, 0x80, v1
	ds_store_b32	v1, v0
	s_waitcnt	lgkmcnt(0)
	ds_load_b32	v4, v1
	flat_store_b32	v[2:3], v0
	s_waitcnt	lgkmcnt(2) // CUT
	// FIX: s_waitcnt lgkmcnt(1)
	v_add_nc_u32_e32	v4, 1, v4 // BUG: wait/read-before-wait
	global_store_b32	v1, v4, s[4:5]
	s_endpgm
