// The last word of a buffer descriptor is missing.
// RUN: --block 32 --arg buf:128
// CHECK: init
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	s_mov_b32	s6, 128
	// FIX: s_mov_b32 s7, 0x31016fac
	s_nop	0 // CUT
	s_waitcnt	lgkmcnt(0)
	buffer_store_b32	v0, v1, s[4:7], 0 offen // BUG: init/undefined-address
	s_endpgm
