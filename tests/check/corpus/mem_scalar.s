// A scalar load of eight dwords from a buffer of three. Up to a multiple of 16 bytes it
// could be one that a compiler has widened.
// RUN: --block 1 --arg buf:12:zero --arg buf:16
	s_load_b128	s[4:7], s[0:1], 0x0
	v_mov_b32_e32	v1, 0
	s_waitcnt	lgkmcnt(0)
	s_load_b256	s[8:15], s[4:5], 0x0 // BUG: mem/out-of-bounds CUT
	// FIX: s_load_b128 s[8:11], s[4:5], 0x0
	s_waitcnt	lgkmcnt(0)
	v_mov_b32_e32	v2, s8
	global_store_b32	v1, v2, s[6:7]
	s_endpgm
