// v_cmpx of a register that has no value.
// RUN: --block 32 --arg buf:128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_mov_b32_e32	v2, 5
	// FIX: v_mov_b32_e32 v3, 9
	s_nop	0 // CUT
	s_waitcnt	lgkmcnt(0)
	v_cmpx_gt_u32_e32	v3, v0 // BUG: init/undefined-exec
	global_store_b32	v1, v2, s[4:5]
	s_endpgm
