// A store into the kernel's arguments.
// RUN: --block 1 --arg buf:128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_mov_b32_e32	v1, 0
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v0, s[0:1] // BUG: mem/read-only CUT
	// FIX: global_store_b32 v1, v0, s[4:5]
	s_endpgm
