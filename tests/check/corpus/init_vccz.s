// Some lanes compare what has no value, and all branch.
// RUN: --block 32 --arg buf:128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_mov_b32_e32	v2, 5
	v_cmp_gt_u32_e32	vcc_lo, 8, v0
	s_and_saveexec_b32	s6, vcc_lo
	v_mov_b32_e32	v3, 40
	s_mov_b32	exec_lo, s6
	// FIX: v_mov_b32_e32 v3, 40
	s_nop	0 // CUT
	v_cmp_lt_u32_e32	vcc_lo, v3, v0
	s_cbranch_vccz	done // BUG: init/undefined-branch
	v_mov_b32_e32	v2, 7
done:
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v2, s[4:5]
	s_endpgm
