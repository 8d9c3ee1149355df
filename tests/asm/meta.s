// Metadata: block and flow YAML, quoting, numbers, keys out of order.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.amdhsa_code_object_version 6
	.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]   # a comment
amdhsa.target: amdgcn-amd-amdhsa--gfx1100
zz:
  - - 1
    - 2
  - { b: [ 1, -5, 128 ], a: 'it''s' }
  - x: 65536
    y:
    - 0x10
    - 010
    - 0b101
  - "tab\there \x41 \u00e9"
  - plain words: and more
    long: one
      two
  - |
    line
      deeper
    line
  - true
  - off
  - -129
  - 4294967296
  - -2147483649
amdhsa.printf:
  - '1:1:4:%d\n'
amdhsa.kernels:
  - .symbol: k.kd
    .name: k
    .language: OpenCL C
    .language_version: [ 2, 0 ]
    .kernarg_segment_size: 28
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .uses_dynamic_stack: false
    .args:
      - .size: 8
        .offset: 0
        .value_kind: global_buffer
        .address_space: global
        .is_const: true
      - { .size: 4, .offset: 8, .value_kind: by_value, .name: count }
...
	.end_amdgpu_metadata
	.text
	.p2align 8
	.globl k
	.type k,@function
k:	s_endpgm
.Lend:
	.size k, .Lend-k
	.rodata
	.p2align 6
	.amdhsa_kernel k
		.amdhsa_next_free_vgpr last+1
		.amdhsa_next_free_sgpr .amdgcn.next_free_sgpr
		.amdhsa_group_segment_fixed_size 1<<10
	.end_amdhsa_kernel
.set last, 42
