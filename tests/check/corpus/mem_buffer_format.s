// A buffer without a format in its resource: stores to it are dropped.
// CHECK: mem
// RUN: --block 32 --arg buf:8192:iota=i32
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v4, 2, v0
	s_mov_b32	s6, 0x2000
	s_mov_b32	s7, 0x30000fac // FIX: s_mov_b32 s7, 0x31014fac
	s_waitcnt	lgkmcnt(0)
	buffer_store_b32	v0, v4, s[4:7], 0 offen // BUG: mem/no-buffer
	s_endpgm
