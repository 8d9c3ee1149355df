// Two waves write bytes of the same dwords: beside each other in the twin.
// RUN: --block 64
// LDS: 256
	v_and_b32_e32	v1, 31, v0
	v_lshlrev_b32_e32	v1, 1, v1
	v_lshrrev_b32_e32	v2, 5, v0
	v_mov_b32_e32	v2, 0 // CUT
	v_add_nc_u32_e32	v1, v1, v2
	ds_store_b8	v1, v0 // BUG: race/write-write
	s_endpgm
