// Two workgroups write the same places.
// RUN: --grid 2 --block 32 --arg buf:256
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_mov_b32_e32	v2, s2
	s_lshl_b32	s6, s2, 7
	v_add_nc_u32_e32	v3, s6, v1
	v_mov_b32_e32	v3, v1 // CUT
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v3, v2, s[4:5] // BUG: race/write-write
	s_endpgm
