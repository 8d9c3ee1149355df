// A sum begins with what the register held.
// RUN: --block 32 --arg buf:128:iota=u32 --arg buf:128
	s_load_b128	s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	// FIX: v_mov_b32_e32 v3, 0
	s_nop	0 // CUT
	s_mov_b32	s8, 4
	s_waitcnt	lgkmcnt(0)
loop:
	global_load_b32	v2, v1, s[4:5]
	s_sub_u32	s8, s8, 1
	s_waitcnt	vmcnt(0)
	v_add_nc_u32_e32	v3, v3, v2
	s_cmp_lg_u32	s8, 0
	s_cbranch_scc1	loop
	global_store_b32	v1, v3, s[6:7] // BUG: init/undefined-store
	s_endpgm
