// A private variable is read before it is written.
// RUN: --block 32 --arg buf:128
// SCRATCH: 16
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	// FIX: scratch_store_b32 off, v0, off offset:8
	s_nop	0 // CUT
	scratch_load_b32	v2, off, off offset:8
	s_waitcnt	vmcnt(0) lgkmcnt(0)
	global_store_b32	v1, v2, s[4:5] // BUG: init/undefined-store
	s_endpgm
