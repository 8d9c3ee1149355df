// Waves of a workgroup exchange through memory, without a barrier.
// RUN: --block 64 --arg buf:256:zero --arg buf:256
	s_load_b128	s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_xor_b32_e32	v2, 0x80, v1
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v0, s[4:5] // BUG: race
	s_waitcnt_vscnt	null, 0x0
	// FIX: s_barrier
	buffer_gl0_inv
	global_load_b32	v3, v2, s[4:5] // BUG: race
	s_waitcnt	vmcnt(0)
	global_store_b32	v1, v3, s[6:7]
	s_endpgm
