// A load of four bytes of which the last three are behind the buffer.
// RUN: --block 1 --arg buf:129 --arg buf:4
	s_load_b128	s[4:7], s[0:1], 0x0
	v_mov_b32_e32	v1, 0x80
	v_mov_b32_e32	v3, 0
	s_waitcnt	lgkmcnt(0)
	global_load_b32	v2, v1, s[4:5] // BUG: mem/out-of-bounds CUT
	// FIX: global_load_u8 v2, v1, s[4:5]
	s_waitcnt	vmcnt(0)
	global_store_b32	v3, v2, s[6:7]
	s_endpgm
