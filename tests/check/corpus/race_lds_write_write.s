// Both waves write the same places, each something else.
// RUN: --block 64
// LDS: 256
	v_and_b32_e32	v1, 31, v0 // CUT
	// FIX: v_mov_b32_e32 v1, v0
	v_lshlrev_b32_e32	v1, 2, v1
	ds_store_b32	v1, v0 // BUG: race/write-write
	s_endpgm
