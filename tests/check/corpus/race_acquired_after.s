// A flag is stored, and its wave acquires another one afterwards: who acquires the first
// one meanwhile knows nothing of what the second one told.
// RUN: --grid 3 --block 1 --arg buf:4096:zero
	s_load_b64	s[4:5], s[0:1], 0x0
	v_mov_b32	v1, 0
	v_mov_b32	v2, 1
	s_mov_b32	s9, 0
	s_waitcnt	lgkmcnt(0)
	s_cmp_eq_u32	s2, 1
	s_cbranch_scc1	.Lbetween
	s_cmp_eq_u32	s2, 2
	s_cbranch_scc1	.Lfirst
.Llast:
	s_add_u32	s9, s9, 1
	s_cmp_lt_u32	s9, 9000
	s_cbranch_scc1	.Llast
	global_load_b32	v3, v1, s[4:5] offset:256 glc
	s_waitcnt	vmcnt(0)
	buffer_gl1_inv
	buffer_gl0_inv
	global_load_b32	v4, v1, s[4:5] // BUG: race
	s_waitcnt	vmcnt(0)
	s_endpgm
.Lfirst:
	global_store_b32	v1, v2, s[4:5] // BUG: race
	s_waitcnt_vscnt	null, 0x0
.Lwhile:
	s_add_u32	s9, s9, 1
	s_cmp_lt_u32	s9, 3000
	s_cbranch_scc1	.Lwhile
	global_store_b32	v1, v2, s[4:5] offset:512
	s_endpgm
.Lbetween:
	s_add_u32	s9, s9, 1
	s_cmp_lt_u32	s9, 500
	s_cbranch_scc1	.Lbetween
	global_store_b32	v1, v2, s[4:5] offset:256 // CUT
.Lpoll:
	global_load_b32	v3, v1, s[4:5] offset:512 glc
	s_waitcnt	vmcnt(0)
	v_readfirstlane_b32	s6, v3
	s_cmp_eq_u32	s6, 0
	s_cbranch_scc1	.Lpoll
	buffer_gl1_inv
	buffer_gl0_inv
	// FIX: global_store_b32	v1, v2, s[4:5] offset:256
.Lstay:
	s_add_u32	s9, s9, 1
	s_cmp_lt_u32	s9, 20000
	s_cbranch_scc1	.Lstay
	s_endpgm
