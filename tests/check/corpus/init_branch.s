// A comparison with a scalar that is set on one way only.
// RUN: --grid 2 --block 32 --arg buf:256
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	s_lshl_b32	s8, s2, 7
	// FIX: s_mov_b32 s6, 0
	s_nop	0 // CUT
	s_cmp_eq_u32	s2, 0
	s_cbranch_scc1	over
	s_mov_b32	s6, 1
over:
	v_mov_b32_e32	v2, 5
	s_cmp_eq_u32	s6, 1
	s_cbranch_scc1	done // BUG: init/undefined-branch
	v_mov_b32_e32	v2, 7
done:
	v_add_nc_u32_e32	v1, s8, v1
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v2, s[4:5]
	s_endpgm
