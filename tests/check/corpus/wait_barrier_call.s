// A barrier in a function: what is behind its call reads what was stored before.
// RUN: --block 64 --arg buf:256
// LDS: 256
	s_branch	.Lmain
.Lsync:
	s_barrier // BUG: wait/barrier-before-wait
	s_setpc_b64	s[8:9]
	s_endpgm
.Lmain:
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_sub_nc_u32_e32	v2, 0xfc, v1
	s_waitcnt	lgkmcnt(0)
	ds_store_b32	v1, v0
	// FIX: s_waitcnt lgkmcnt(0)
	s_call_b64	s[8:9], .Lsync
	ds_load_b32	v3, v2
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v3, s[4:5]
	s_endpgm
