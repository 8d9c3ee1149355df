// Less LDS is filled than read.
// RUN: --block 64 --arg buf:256
// LDS: 256
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_cmp_gt_u32_e32	vcc_lo, 48, v0 // CUT
	// FIX: v_cmp_gt_u32_e32 vcc_lo, 64, v0
	s_and_saveexec_b32	s6, vcc_lo
	ds_store_b32	v1, v0
	s_mov_b32	exec_lo, s6
	s_waitcnt	lgkmcnt(0)
	s_barrier
	v_xor_b32_e32	v2, 0x80, v1
	ds_load_b32	v3, v2
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v3, s[4:5] // BUG: init/undefined-store
	s_endpgm
