// A spilled value is used before it is back.
// RUN: --block 32 --arg buf:128
// SCRATCH: 64
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	scratch_store_b32	off, v0, off offset:16
	s_waitcnt	lgkmcnt(0)
	s_waitcnt_vscnt	null, 0x0
	scratch_load_b32	v2, off, off offset:16
	// FIX: s_waitcnt vmcnt(0)
	global_store_b32	v1, v2, s[4:5] // BUG: wait/read-before-wait
	s_endpgm
