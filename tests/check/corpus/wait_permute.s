// A permutation by the LDS unit has to be waited for like a load.
// RUN: --block 32 --arg buf:128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_xor_b32_e32	v2, 4, v1
	s_waitcnt	lgkmcnt(0)
	ds_bpermute_b32	v3, v2, v0
	// FIX: s_waitcnt lgkmcnt(0)
	global_store_b32	v1, v3, s[4:5] // BUG: wait/read-before-wait
	s_endpgm
