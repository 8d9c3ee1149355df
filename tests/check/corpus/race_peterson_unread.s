// Peterson's lock; the turn is stored by both, and read only where the other is there. One
// workgroup does not wait for its store before it gives the lock back.
// CHECK: mem race wait sync
// RUN: --grid 2 --block 1 --arg buf:16:zero --arg buf:4:zero
	s_load_b128	s[4:7], s[0:1], null
	s_sub_i32	s8, 1, s2
	v_mov_b32_e32	v0, 0
	v_mov_b32_e32	v1, 1
	v_mov_b32_e32	v2, s8
	v_mov_b32_e32	v3, s2
	v_lshlrev_b32_e32	v3, 2, v3
	v_lshlrev_b32_e32	v4, 2, v2
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v3, v1, s[4:5]
	s_waitcnt_vscnt	null, 0x0
	global_store_b32	v0, v2, s[4:5] offset:8
	s_waitcnt_vscnt	null, 0x0
wait:
	global_load_b32	v5, v4, s[4:5] glc
	s_waitcnt	vmcnt(0)
	buffer_gl1_inv
	buffer_gl0_inv
	v_cmp_eq_u32_e32	vcc_lo, 0, v5
	s_cbranch_vccnz	inside
	global_load_b32	v5, v0, s[4:5] offset:8 glc
	s_waitcnt	vmcnt(0)
	buffer_gl1_inv
	buffer_gl0_inv
	v_cmp_eq_u32_e32	vcc_lo, s8, v5
	s_cbranch_vccnz	wait
inside:
	global_load_b32	v5, v0, s[6:7] // BUG: race
	s_waitcnt	vmcnt(0)
	v_add_nc_u32_e32	v5, 1, v5
	global_store_b32	v0, v5, s[6:7] // BUG: race
	// FIX: s_waitcnt_vscnt null, 0x0
	global_store_b32	v3, v0, s[4:5]
	s_endpgm
