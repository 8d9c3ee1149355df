// A workgroup of 128 work-items exchanges dwords through LDS and touches every space.
// s[0:1]: in, s[2:3]: out, s4: workgroup. Runs in both wave sizes.
	v_lshlrev_b32	v1, 2, v0
	s_lshl_b32	s5, s4, 9
	s_add_u32	s0, s0, s5
	s_addc_u32	s1, s1, 0
	s_add_u32	s2, s2, s5
	s_addc_u32	s3, s3, 0
	global_load_b32	v2, v1, s[0:1]
	s_load_b64	s[6:7], s[0:1], 0x8
	s_waitcnt	0
	ds_store_b32	v1, v2
	s_barrier
	v_xor_b32	v3, 0x1fc, v1
	ds_load_b32	v4, v3
	s_mov_b32	s7, 0
loop:
	v_add_nc_u32	v4, v4, v2
	s_add_u32	s7, s7, 1
	s_cmp_lt_u32	s7, 5
	s_cbranch_scc1	loop
	scratch_store_b32	off, v4, off offset:8
	scratch_load_b32	v5, off, off offset:8
	ds_store_2addr_b32	v1, v4, v5 offset0:128 offset1:255
	s_mov_b64	s[8:9], src_shared_base
	v_mov_b32	v6, v1
	v_mov_b32	v7, s9
	flat_load_b32	v8, v[6:7]
	s_mov_b32	exec_lo, 0x0f0f
	s_mov_b32	exec_hi, 0x00ff
	global_atomic_add_u32	v9, v1, v2, s[0:1] offset:4 glc
	s_mov_b32	exec_lo, -1
	s_mov_b32	exec_hi, -1
	v_add_nc_u32	v4, v4, v8
	global_store_b32	v1, v4, s[2:3]
	s_endpgm
