// A sum of workgroups without an atomic.
// RUN: --grid 4 --block 1 --arg buf:4:zero
	s_load_b64	s[4:5], s[0:1], 0x0
	v_mov_b32_e32	v1, 0
	v_mov_b32_e32	v2, 1
	s_waitcnt	lgkmcnt(0)
	global_load_b32	v3, v1, s[4:5] // BUG: race CUT
	s_waitcnt	vmcnt(0)
	v_add_nc_u32_e32	v3, 1, v3
	global_store_b32	v1, v3, s[4:5] // BUG: race CUT
	// FIX: global_atomic_add_u32 v1, v2, s[4:5]
	s_endpgm
