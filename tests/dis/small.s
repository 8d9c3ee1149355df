// A bit of everything that `rdna3 dis` has to write again.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.globl	_Z5scalePf
	.p2align 8
	.type	_Z5scalePf,@function
_Z5scalePf:
	s_load_b64 s[0:1], s[0:1], null
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, table@rel32@lo+4
	s_addc_u32 s3, s3, table@rel32@hi+12
	v_mov_b32_e32 v1, 0x40490fdb
	s_waitcnt lgkmcnt(0)
again:
	global_store_b32 v0, v1, s[0:1]
	s_cbranch_scc0 again
	s_endpgm
	v_illegal
	.long	0xdeadbeef
	.long	0x7e0002ff, 1 // an encoding that assemblers would choose otherwise
	.size	_Z5scalePf, .-_Z5scalePf
	// the other wave size in the same file
	.set .Lamdgcn.wavefront_size, 64
	.globl	wide
	.p2align 3
	.type	wide,@function
wide:
	v_cmp_eq_u32_e64 s[4:5], v0, v1
	s_and_saveexec_b64 s[4:5], s[4:5]
	s_endpgm
	.size	wide, .-wide
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel _Z5scalePf
		.amdhsa_next_free_vgpr 20
		.amdhsa_next_free_sgpr 8
		.amdhsa_kernarg_size 8
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_float_round_mode_32 3
		.amdhsa_inst_pref_size 2
		.amdhsa_wavefront_size32 1
	.end_amdhsa_kernel
	.amdhsa_kernel wide
		.amdhsa_next_free_vgpr 9
		.amdhsa_next_free_sgpr 6
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_wavefront_size32 0
	.end_amdhsa_kernel
table:
	.float 1.5, 2.5
	.type	table,@object
	.size	table, 8
	.asciz	"a \"quoted\" word\n"
	.data
	.globl	"a name"
"a name":
	.quad	table+4
	.zero	40
	.byte	1, 2, 3
	.section .bss,"aw",@nobits
	.local	room
room:
	.zero	100
	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.printf: ['1:1:4:%d\n', "two\nlines"]
amdhsa.kernels:
  - .name: _Z5scalePf
    .symbol: _Z5scalePf.kd
    .args:
      - {.name: a, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .type_name: 'float*'}
    .kernarg_segment_size: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 32
    .sgpr_count: 8
    .vgpr_count: 18
    .max_flat_workgroup_size: 64
    made.up: {no: -5, text: 'x: y'}
...
	.end_amdgpu_metadata
