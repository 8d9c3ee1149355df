// Peterson's lock of two waves in LDS; the turn is stored by both, and read only where the
// other is there. It is given back too early.
// CHECK: mem race wait sync
// RUN: --block 64
// LDS: 64
	v_lshrrev_b32_e32	v1, 5, v0
	s_mov_b32	exec_lo, 1
	v_mov_b32_e32	v2, 0
	v_lshlrev_b32_e32	v3, 2, v1
	v_sub_nc_u32_e32	v4, 1, v1
	v_lshlrev_b32_e32	v5, 2, v4
	v_mov_b32_e32	v6, 1
	ds_store_b32	v3, v2
	v_cmp_eq_u32_e32	vcc_lo, 0, v1
	s_cbranch_vccz	ready
	ds_store_b32	v2, v2 offset:8
	ds_store_b32	v2, v2 offset:12
ready:
	s_waitcnt	lgkmcnt(0)
	s_mov_b32	exec_lo, -1
	s_barrier
	s_mov_b32	exec_lo, 1
	ds_store_b32	v3, v6
	s_waitcnt	lgkmcnt(0)
	ds_store_b32	v2, v4 offset:8
wait:
	s_waitcnt	lgkmcnt(0)
	ds_load_b32	v7, v5
	s_waitcnt	lgkmcnt(0)
	v_cmp_eq_u32_e32	vcc_lo, 0, v7
	s_cbranch_vccnz	inside
	ds_load_b32	v8, v2 offset:8
	s_waitcnt	lgkmcnt(0)
	v_cmp_eq_u32_e32	vcc_lo, v8, v4
	s_cbranch_vccnz	wait
inside:
	ds_store_b32	v3, v2 // CUT
	ds_load_b32	v9, v2 offset:12 // BUG: race
	s_waitcnt	lgkmcnt(0)
	v_add_nc_u32_e32	v9, 1, v9
	ds_store_b32	v2, v9 offset:12 // BUG: race
	s_waitcnt	lgkmcnt(0)
	// FIX: ds_store_b32	v3, v2
	s_endpgm
