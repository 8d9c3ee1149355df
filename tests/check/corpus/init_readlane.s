// A scalar is read out of a lane that has no value.
// RUN: --block 32 --arg buf:128:iota=u32 --arg buf:128
	s_load_b128	s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_cmp_gt_u32_e32	vcc_lo, 20, v0
	s_and_saveexec_b32	s8, vcc_lo
	v_mov_b32_e32	v2, 8
	s_mov_b32	exec_lo, s8
	v_readlane_b32	s9, v2, 25 // CUT
	// FIX: v_readlane_b32 s9, v2, 3
	s_waitcnt	lgkmcnt(0)
	s_load_b32	s10, s[4:5], s9 // BUG: init/undefined-address
	v_mov_b32_e32	v3, 1
	global_store_b32	v1, v3, s[6:7]
	s_endpgm
