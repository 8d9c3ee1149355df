// A loop of lanes begins with a mask that nobody has set.
// RUN: --block 32 --arg buf:128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_mov_b32_e32	v2, 5
	s_waitcnt	lgkmcnt(0)
	// FIX: v_cmp_gt_u32_e32 vcc_lo, 16, v0
	s_nop	0 // CUT
	s_and_saveexec_b32	s6, vcc_lo // BUG: init/undefined-exec
	v_mov_b32_e32	v2, 7
	s_or_b32	exec_lo, exec_lo, s6
	global_store_b32	v1, v2, s[4:5]
	s_endpgm
