// An atomic of LDS at an odd address.
// CHECK: mem race wait sync
// RUN: --block 1
// LDS: 256
	v_mov_b32_e32	v1, 2 // CUT
	// FIX: v_mov_b32_e32 v1, 4
	ds_add_u32	v1, v0 // BUG: mem/misaligned
	s_endpgm
