// LDS has room for 32 elements; the wave's second half of the workgroup needs more.
// CHECK: mem race wait sync
// RUN: --block 64
// LDS: 128
	v_lshlrev_b32_e32	v1, 2, v0
	v_and_b32_e32	v1, 0xff, v1 // CUT
	// FIX: v_and_b32_e32 v1, 0x7c, v1
	ds_add_u32	v1, v0 // BUG: mem/lds-out-of-bounds
	s_endpgm
