// A wave of 64 lanes: operands from right before and right behind a change of EXEC.
// RUN: --block 64 --arg buf:256
// WAVE: 64
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	s_waitcnt	lgkmcnt(0)
	v_add_nc_u32_e32	v2, 1, v0
	s_mov_b64	exec, 0xffff
	v_add_nc_u32_e32	v3, 2, v0
	// FIX: s_waitcnt_depctr depctr_va_vdst(0)
	s_nop	0 // CUT
	v_add_nc_u32_e32	v4, v2, v3 // BUG: wait/partial-forwarding
	global_store_b32	v1, v4, s[4:5]
	s_endpgm
