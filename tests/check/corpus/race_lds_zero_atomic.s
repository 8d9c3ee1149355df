// Bins are set to zero and counted in without a barrier between.
// CHECK: mem race wait sync
// RUN: --block 64
// LDS: 256
	v_lshlrev_b32_e32	v1, 2, v0
	v_mov_b32_e32	v2, 0
	v_mov_b32_e32	v3, 1
	ds_store_b32	v1, v2 // BUG: race
	s_waitcnt	lgkmcnt(0)
	// FIX: s_barrier
	v_xor_b32_e32	v1, 0x80, v1
	ds_add_u32	v1, v3 // BUG: race
	s_endpgm
