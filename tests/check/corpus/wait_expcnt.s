// What the LDS gives to all lanes counts in expcnt, which no other wait covers.
// CHECK: mem race wait sync
// RUN: --block 32 --arg buf:128
// LDS: 128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	ds_store_b32	v1, v1
	s_mov_b32	m0, 8
	s_waitcnt	lgkmcnt(0)
	lds_direct_load	v2 wait_vdst:0
	lds_direct_load	v3 wait_vdst:0
	s_waitcnt	expcnt(1)
	v_add_nc_u32_e32	v2, 1, v2
	s_waitcnt	vmcnt(0) lgkmcnt(0)
	// FIX: s_waitcnt expcnt(0)
	v_add_nc_u32_e32	v2, v2, v3 // BUG: wait/read-before-wait
	global_store_b32	v1, v2, s[4:5]
	s_endpgm
