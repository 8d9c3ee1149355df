// One kernel per kind of fault. The kernarg pointer is in s[0:1], the work-item id in v0.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.macro	kernel name, lds=0, scratch=0
	.text
	.p2align	8
	.globl	\name
	.type	\name,@function
	.rodata
	.p2align	6
	.amdhsa_kernel \name
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_group_segment_fixed_size \lds
		.amdhsa_private_segment_fixed_size \scratch
		.amdhsa_enable_private_segment 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_wavefront_size32 1
	.end_amdhsa_kernel
	.text
\name:
	.endm

	kernel illegal
	s_nop	0
	.long	0xffffffff

	kernel null_load
	v_mov_b32_e32	v1, 0
	v_mov_b32_e32	v2, 0
	global_load_b32	v3, v[1:2], off
	s_endpgm

	// Lane n stores at argument 0 + 4 * n: lane 4 is the first behind 16 bytes.
	kernel past_the_end
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	s_waitcnt	lgkmcnt(0)
	global_store_b32	v1, v0, s[4:5]
	s_endpgm

	kernel store_to_kernargs
	v_mov_b32_e32	v1, 0
	global_store_b32	v1, v0, s[0:1]
	s_endpgm

	kernel misaligned_atomic
	s_load_b64	s[4:5], s[0:1], 0x0
	v_mov_b32_e32	v1, 2
	s_waitcnt	lgkmcnt(0)
	global_atomic_add_u32	v1, v0, s[4:5]
	s_endpgm

	kernel lds_range lds=64
	v_lshlrev_b32_e32	v1, 2, v0
	ds_store_b32	v1, v0
	s_endpgm

	kernel scratch_range scratch=16
	v_mov_b32_e32	v1, 1.0
	scratch_store_b32	off, v1, off offset:12
	scratch_store_b32	off, v1, off offset:16
	s_endpgm

	kernel branch_away
	.long	0xbfa07fff			// s_branch, 128 KiB ahead
	s_endpgm

	kernel branch_not_taken
	s_cmp_eq_u32	s0, s0
	.long	0xbfa17fff			// s_cbranch_scc0, 128 KiB ahead
	s_endpgm

	kernel jump_to_null
	s_mov_b64	s[4:5], 0
	s_setpc_b64	s[4:5]

	kernel trap
	s_trap	2
	s_endpgm

	kernel unsupported
	ds_ordered_count v0, v0 gds
	s_endpgm

	// Wave 1 of every workgroup faults, the first workgroup is named.
	kernel second_wave
	v_cmp_lt_u32_e32	vcc_lo, 31, v0
	s_cbranch_vccz	.Ldone
	ds_store_b32	v0, v0 offset:65532
.Ldone:
	s_endpgm

	// Last in the file: execution runs off the end of the code.
	kernel no_end
	s_nop	0
