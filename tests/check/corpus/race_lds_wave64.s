// Waves of 64: a reduction that reads its neighbour's half.
// RUN: --block 128
// LDS: 512
// WAVE: 64
	v_lshlrev_b32_e32	v1, 2, v0
	v_xor_b32_e32	v2, 0x100, v1
	ds_store_b32	v1, v0 // BUG: race
	s_waitcnt	lgkmcnt(0)
	// FIX: s_barrier
	ds_load_b32	v3, v2 // BUG: race
	s_waitcnt	lgkmcnt(0)
	s_endpgm
