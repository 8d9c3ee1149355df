// Wave 1 reads what wave 0 has yet to write: no barrier between. s[0:1]: kernarg.
// RUN: --block 64 --arg buf:256
	s_load_b64	s[4:5], s[0:1], 0x0
	v_and_b32	v2, 31, v0
	v_lshlrev_b32	v1, 2, v0
	v_lshlrev_b32	v2, 2, v2
	v_mov_b32	v3, 7
	v_cmp_gt_u32	vcc_lo, 32, v0
	s_waitcnt	lgkmcnt(0)
	s_cbranch_vccz	reader
	s_sleep	1
	ds_store_b32	v2, v3
	s_endpgm
reader:
	ds_load_b32	v4, v2
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v4, s[4:5]
	s_endpgm
