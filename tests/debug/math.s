// Values to look at. s[0:1]: kernarg.
	s_load_b64	s[4:5], s[0:1], 0x0
	v_cvt_f32_u32	v1, v0
	v_mov_b32	v2, 0x3c00c000
	v_mov_b32	v3, 0xfffffff0
	s_mov_b32	s6, 0x12345678
	s_mov_b32	s7, -1
	v_lshlrev_b32	v4, 2, v0
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v4, v1, s[4:5]
	v_cmp_gt_u32	vcc_lo, 8, v0
	s_mov_b32	exec_lo, vcc_lo
	scratch_store_b32	off, v3, off offset:8
	s_mov_b32	m0, 5
	s_nop	0
	s_endpgm
