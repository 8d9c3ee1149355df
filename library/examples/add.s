// add.s: out[i] = a[i] + 1 for 64 work-items of a workgroup.
.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.text
.globl add_one
.p2align 8
.type add_one,@function
add_one:
  s_load_b128 s[4:7], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  s_lshl_b32 s2, s2, 8
  s_delay_alu instid0(VALU_DEP_1)
  v_lshl_add_u32 v1, v0, 2, s2
  s_waitcnt lgkmcnt(0)
  global_load_b32 v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_f32 v2, 1.0, v2
  global_store_b32 v1, v2, s[6:7]
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel add_one
  .amdhsa_kernarg_size 16
  .amdhsa_user_sgpr_count 2
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 8
  .amdhsa_wavefront_size32 1
.end_amdhsa_kernel
