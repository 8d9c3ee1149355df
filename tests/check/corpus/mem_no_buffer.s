// A buffer load with an image's resource: the chip ignores it, so nothing is read.
// CHECK: mem
// RUN: --block 32 --arg buf:8192:iota=i32
	s_load_b64	s[4:5], s[0:1], 0x0
	v_mov_b32_e32	v2, 0
	v_lshlrev_b32_e32	v4, 2, v0
	s_mov_b32	s6, 0x2000
	s_mov_b32	s7, 0x90014fac // FIX: s_mov_b32 s7, 0x31014fac
	s_waitcnt	lgkmcnt(0)
	buffer_load_b32	v2, v4, s[4:7], 0 offen // BUG: mem/no-buffer
	s_waitcnt	vmcnt(0)
	global_store_b32	v4, v2, s[4:5]
	s_endpgm
