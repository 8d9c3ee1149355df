// The last lane's eight bytes end behind LDS.
// RUN: --block 32
// LDS: 256
	v_lshlrev_b32_e32	v1, 3, v0
	v_mov_b32_e32	v2, 0
	v_mov_b32_e32	v3, 0
	ds_store_b64	v1, v[2:3] offset:8 // BUG: mem/lds-out-of-bounds CUT
	// FIX: ds_store_b64 v1, v[2:3]
	s_endpgm
