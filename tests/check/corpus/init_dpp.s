// DPP reads lanes that have no value.
// RUN: --block 32 --arg buf:128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_cmp_gt_u32_e32	vcc_lo, 20, v0
	s_and_saveexec_b32	s6, vcc_lo
	v_add_nc_u32_e32	v2, 3, v0
	s_mov_b32	exec_lo, s6
	v_mov_b32_e32	v3, v0
	v_mov_b32_dpp	v3, v2 row_shl:8 row_mask:0xf bank_mask:0xf // CUT
	// FIX: v_mov_b32_dpp v3, v2 row_share:3 row_mask:0x3 bank_mask:0xf
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v3, s[4:5] // BUG: init/undefined-store
	s_endpgm
