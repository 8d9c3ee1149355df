// Seven bits are cut out where four have a value.
// RUN: --block 32 --arg buf:32
	s_load_b64	s[4:5], s[0:1], 0x0
	v_bfi_b32	v2, 15, v0, v3
	v_and_b32_e32	v2, 0x7f, v2 // CUT
	// FIX: v_and_b32_e32 v2, 15, v2
	s_waitcnt	lgkmcnt(0)
	global_store_b8	v0, v2, s[4:5] // BUG: init/undefined-store
	s_endpgm
