// What follows a barrier lies somewhere else in the code: here behind the next one.
// RUN: --block 64 --arg buf:256
// LDS: 256
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_sub_nc_u32_e32	v2, 0xfc, v1
	s_mov_b32	s3, 2
	s_waitcnt	lgkmcnt(0)
	ds_store_b32	v1, v0
	// FIX: s_waitcnt lgkmcnt(0)
	s_barrier // BUG: wait/barrier-before-wait
	s_branch	.Lread
.Lnext:
	s_waitcnt	lgkmcnt(0)
	s_barrier
	s_cmp_eq_u32	s3, 0
	s_cbranch_scc1	.Lend
.Lread:
	ds_load_b32	v3, v2
	s_add_i32	s3, s3, -1
	s_waitcnt	lgkmcnt(0)
	s_branch	.Lnext
.Lend:
	global_store_b32	v1, v3, s[4:5]
	ds_store_b32	v1, v0 // what nobody reads needs no wait
	s_barrier
	s_endpgm
