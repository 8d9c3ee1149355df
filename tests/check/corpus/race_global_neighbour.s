// A stencil that works in place: workgroups read what their neighbours write.
// RUN: --grid 2 --block 32 --arg buf:260:iota=u32 --arg buf:260
	s_load_b128	s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	s_lshl_b32	s8, s2, 7
	v_add_nc_u32_e32	v1, s8, v1
	s_waitcnt	lgkmcnt(0)
	s_mov_b64	s[6:7], s[4:5] // CUT
	global_load_b32	v2, v1, s[4:5] offset:4 // BUG: race
	s_waitcnt	vmcnt(0)
	global_store_b32	v1, v2, s[6:7] // BUG: race
	s_endpgm
