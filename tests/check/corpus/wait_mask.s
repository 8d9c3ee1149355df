// A wave of 64 lanes: the SALU reads a mask that it has just written over one of the VALU.
// RUN: --block 64 --arg buf:256
// WAVE: 64
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_mov_b32_e32	v2, 1
	s_mov_b64	s[6:7], 0xff
	v_cndmask_b32_e64	v2, v2, v0, s[6:7]
	s_not_b64	s[6:7], exec
	// FIX: s_waitcnt_depctr depctr_sa_sdst(0)
	s_nop	0 // CUT
	s_and_b64	s[8:9], s[6:7], exec // BUG: wait/mask-write
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v2, s[4:5]
	s_endpgm
