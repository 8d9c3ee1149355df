// A load from nowhere is left out: its register is what it was, which nothing has written.
// RUN: --block 32 --arg buf:128:zero --arg buf:128
	s_load_b128	s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	s_waitcnt	lgkmcnt(0)
	s_movk_i32	s8, 0x1000 // FIX: s_mov_b32 s8, s4
	s_mov_b32	s9, 0 // FIX: s_mov_b32 s9, s5
	s_movk_i32	s10, 0x80
	s_mov_b32	s11, 0x31014000
	buffer_load_b32	v2, v1, s[8:11], 0 offen // BUG: mem
	s_waitcnt	vmcnt(0)
	global_store_b32	v1, v2, s[6:7] // BUG: init/undefined-store
	s_endpgm
