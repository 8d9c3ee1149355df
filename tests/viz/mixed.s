// Every kind of wait in one kernel: scalar and vector loads, LDS with and without bank
// conflicts, barriers, dependencies, transcendentals, a loop, divergence, a sleep, stores.
// Arguments: in, out. Workgroups of 256 work-items, 4 KB of each buffer for a workgroup.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.p2align	8
	.globl	mixed
	.type	mixed,@function
	.rodata
	.p2align	6
	.amdhsa_kernel mixed
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_group_segment_fixed_size 16384
		.amdhsa_next_free_vgpr 48
		.amdhsa_next_free_sgpr 16
		.amdhsa_wavefront_size32 1
	.end_amdhsa_kernel
	.text
mixed:
	s_load_b128	s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_and_b32_e32	v2, 31, v0
	v_lshlrev_b32_e32	v3, 7, v2
	s_lshl_b32	s8, s2, 12
	s_waitcnt	lgkmcnt(0)
	s_add_u32	s4, s4, s8
	s_addc_u32	s5, s5, 0
	s_add_u32	s6, s6, s8
	s_addc_u32	s7, s7, 0
	s_mov_b32	s9, 0
	v_mov_b32_e32	v12, 0
loop:
	global_load_b32	v4, v1, s[4:5]
	global_load_b32	v5, v1, s[4:5] offset:1024
	s_waitcnt	vmcnt(1)
	ds_store_b32	v1, v4
	s_waitcnt	vmcnt(0)
	ds_store_b32	v3, v5 offset:4096
	s_waitcnt	lgkmcnt(0)
	s_barrier
	ds_load_b32	v6, v3 offset:4096
	ds_load_b32	v7, v1
	s_waitcnt	lgkmcnt(0)
	v_fma_f32	v8, v6, v7, v12
	s_delay_alu	instid0(VALU_DEP_1)
	v_fma_f32	v8, v8, v7, v6
	s_delay_alu	instid0(VALU_DEP_1)
	v_exp_f32_e32	v9, v8
	s_delay_alu	instid0(TRANS32_DEP_1)
	v_fma_f32	v12, v9, v9, v8
	s_barrier
	s_add_u32	s9, s9, 1
	s_cmp_lt_u32	s9, 6
	s_cbranch_scc1	loop
	v_cmp_gt_u32_e32	vcc_lo, 8, v2
	s_and_saveexec_b32	s3, vcc_lo
	s_cbranch_execz	rest
	v_rcp_f32_e32	v12, v12
	v_mul_f32_e32	v12, v12, v12
rest:
	s_mov_b32	exec_lo, s3
	s_sleep	1
	global_store_b32	v1, v12, s[6:7]
	s_nop	0
	s_delay_alu	instid0(VALU_DEP_1)
	s_nop	0
	s_endpgm
.Lend:
	.size	mixed, .Lend-mixed

	.amdgpu_metadata
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx1100
amdhsa.kernels:
  - .name: mixed
    .symbol: mixed.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 16384
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 16
    .vgpr_count: 48
    .max_flat_workgroup_size: 1024
    .args:
      - { .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }
      - { .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global }
	.end_amdgpu_metadata
