// An image load with a buffer's resource: the chip ignores it, so nothing is read.
// CHECK: mem
// RUN: --block 32 --arg buf:8192:iota=i32
	s_load_b64	s[2:3], s[0:1], 0x0
	v_mov_b32_e32	v1, 0
	v_mov_b32_e32	v2, 0
	v_lshlrev_b32_e32	v4, 2, v0
	s_waitcnt	lgkmcnt(0)
	s_lshr_b64	s[4:5], s[2:3], 8
	s_and_b32	s5, s5, 0xff
	s_or_b32	s5, s5, 0xc1400000
	s_mov_b32	s6, 7
	s_mov_b32	s7, 0x31016fac // FIX: s_mov_b32 s7, 0x90000fac
	s_mov_b64	s[8:9], 0
	s_mov_b64	s[10:11], 0
	image_load	v2, v[0:1], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D // BUG: mem/no-image
	s_waitcnt	vmcnt(0)
	global_store_b32	v4, v2, s[2:3]
	s_endpgm
