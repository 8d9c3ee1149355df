// Bodies of the test programs; assemble.py wraps and assembles them.

@interp
v_interp_p10_f32 v10, v2, v3, v4
v_interp_p2_f32 v11, v2, -v3, v4
v_interp_p10_f16_f32 v12, v5, v3, v6
v_interp_p10_f16_f32 v13, v5, v3, v6 op_sel:[1,0,1,0]
v_interp_p2_f16_f32 v14, v5, v3, v4
v_interp_p2_f16_f32 v14, v5, v3, v4 op_sel:[1,0,0,1]
v_interp_p10_rtz_f16_f32 v15, v5, v3, v6
v_interp_p2_rtz_f16_f32 v16, v5, v3, v4
v_interp_p10_f32 v17, v2, v3, v4 clamp

@interp_exec
s_mov_b32 exec_lo, 0x50
v_interp_p10_f32 v10, v2, v3, v4

@sendmsg_rtn
s_sendmsg_rtn_b32 s8, sendmsg(MSG_RTN_GET_DOORBELL)
s_mov_b32 s11, 7
s_sendmsg_rtn_b64 s[10:11], sendmsg(MSG_RTN_GET_TMA)
s_sendmsg_rtn_b64 s[12:13], sendmsg(MSG_RTN_GET_REALTIME)
s_waitcnt lgkmcnt(0)
v_mov_b32 v10, s8
v_mov_b32 v11, s10
v_mov_b32 v12, s11
v_mov_b32 v13, s13

@sethalt
s_sethalt 1

@sethalt_clear
s_sethalt 0
v_mov_b32 v10, 1

@setkill
v_mov_b32 v10, 1
s_setkill 0
v_mov_b32 v11, 2
global_store_b32 v1, v11, s[2:3] offset:256
s_setkill 1

@code_end
s_code_end

// Destinations that can only be read: v_readlane_b32 to SCC, v_readfirstlane_b32 to
// SHARED_BASE, v_cmp_lt_f32 to VCCZ. Nothing is written.
@read_only
s_cmp_lg_u32 s0, s0
v_mov_b32 v20, -1
v_readlane_b32 src_scc, v20, 1
.long 0x7fd60514
.long 0xd41100fb
.long 0x00020514
s_mov_b64 s[4:5], src_shared_base
v_mov_b32 v10, src_scc
v_mov_b32 v11, s4
v_mov_b32 v12, s5

@trap
s_trap 2

// The trap handlers leave in s16.. what they found; s_trap is skipped.

@@handler_show
s_mov_b32 s16, ttmp0
s_mov_b32 s17, ttmp1
s_getreg_b32 s18, hwreg(HW_REG_STATUS)
s_getreg_b32 s19, hwreg(HW_REG_TRAPSTS)
s_mov_b32 s20, ttmp6
s_mov_b32 s21, ttmp9
s_mov_b32 s22, ttmp11
s_mov_b32 s23, ttmp12
s_mov_b64 s[24:25], ttmp[14:15]
s_sendmsg_rtn_b64 s[26:27], sendmsg(MSG_RTN_GET_TMA)
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS), 0
s_bitcmp1_b32 s18, 0
s_add_u32 ttmp0, ttmp0, 4
s_addc_u32 ttmp1, ttmp1, 0
s_and_b32 ttmp1, ttmp1, 0xffff
s_lshr_b32 ttmp2, s18, 0
s_setreg_b32 hwreg(HW_REG_STATUS), ttmp2
s_rfe_b64 ttmp[0:1]

// As runtimes do it: report doorbell and reason, park, halt.
@@handler_halt
s_bfe_u32 ttmp2, ttmp1, 0x80010
s_sendmsg_rtn_b32 ttmp3, sendmsg(MSG_RTN_GET_DOORBELL)
s_waitcnt lgkmcnt(0)
s_and_b32 ttmp3, ttmp3, 0x3ff
s_cmp_eq_u32 ttmp2, 2
s_cbranch_scc0 1
s_bitset1_b32 ttmp3, 10
s_getreg_b32 ttmp4, hwreg(HW_REG_TRAPSTS, 11, 1)
s_lshl_b32 ttmp4, ttmp4, 13
s_or_b32 ttmp3, ttmp3, ttmp4
s_mov_b32 ttmp2, m0
s_mov_b32 m0, ttmp3
s_nop 0
s_sendmsg sendmsg(MSG_INTERRUPT)
s_waitcnt lgkmcnt(0)
s_mov_b32 m0, ttmp2
s_getpc_b64 ttmp[0:1]
s_add_u32 ttmp0, ttmp0, 24
s_addc_u32 ttmp1, ttmp1, 0
s_bitset1_b32 ttmp12, 13
s_setreg_b32 hwreg(HW_REG_STATUS), ttmp12
s_rfe_b64 ttmp[0:1]
s_nop 0
s_trap 2
s_branch 0xfffe

@@handler_fatal
s_sethalt 1
s_sethalt 5
s_endpgm

@@handler_resume
s_sethalt 1
s_sethalt 0
s_add_u32 ttmp0, ttmp0, 4
s_addc_u32 ttmp1, ttmp1, 0
s_and_b32 ttmp1, ttmp1, 0xffff
s_rfe_b64 ttmp[0:1]

@@handler_broken
s_trap 7
s_code_end

@trap_show
s_mov_b32 s8, 1
s_cmp_eq_u32 s8, 1
s_trap 5
s_cselect_b32 s9, 1, 0
s_getreg_b32 s10, hwreg(HW_REG_STATUS, 5, 2)
v_mov_b32 v10, s16
v_mov_b32 v11, s17
v_mov_b32 v12, s18
v_mov_b32 v13, s20
v_mov_b32 v14, s21
v_mov_b32 v15, s22
v_mov_b32 v16, s9
v_mov_b32 v17, s10

@trap_second_level
s_mov_b64 vcc, 1
s_trap 3
v_mov_b32 v10, s18
v_mov_b32 v11, s23
v_mov_b32 v12, s24
v_mov_b32 v13, s25
v_mov_b32 v14, s26
v_mov_b32 v15, s27
s_sendmsg_rtn_b64 s[4:5], sendmsg(MSG_RTN_GET_TBA)
v_mov_b32 v16, s4
v_mov_b32 v17, s5

@trap_illegal
s_mov_b32 s4, 1
.long 0xbf9f0000
v_mov_b32 v10, s16
v_mov_b32 v11, s17
v_mov_b32 v12, s19

@trap_lds
s_mov_b32 m0, 0x20f00
lds_direct_load v2
s_nop 0
v_mov_b32 v10, s17
v_mov_b32 v11, s19

@trap_halt
s_mov_b32 m0, 77
s_trap 2
v_mov_b32 v10, 1

@trap_barrier
v_readfirstlane_b32 s8, v0
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 1
s_trap 2
s_barrier

@trap_temporaries
s_mov_b32 ttmp3, 5
s_cmp_eq_u32 s2, s2
s_and_b32 ttmp4, 0, 0
s_cselect_b32 s8, 1, 0
s_add_u32 s9, ttmp3, 7
v_mov_b32 v10, s8
v_mov_b32 v11, s9
v_mov_b32 v12, ttmp3
v_readfirstlane_b32 ttmp5, v2
s_load_b64 null, s[0:1], 0
s_waitcnt lgkmcnt(0)
v_mov_b32 v13, m0
v_mov_b32 v14, exec_lo

@interrupt
s_mov_b32 m0, 0x1000123
s_sendmsg sendmsg(MSG_INTERRUPT)

@clocks
s_getreg_b32 s8, hwreg(HW_REG_SHADER_CYCLES, 0, 20)
s_nop 0
s_nop 0
s_getreg_b32 s9, hwreg(HW_REG_SHADER_CYCLES, 0, 20)
s_sub_u32 s8, s9, s8
v_mov_b32 v10, s8
s_sendmsg_rtn_b64 s[10:11], sendmsg(MSG_RTN_GET_REALTIME)
s_movk_i32 s12, 500
s_nop 0
s_sub_u32 s12, s12, 1
s_cmp_lg_u32 s12, 0
s_cbranch_scc1 0xfffc
s_sendmsg_rtn_b64 s[14:15], sendmsg(MSG_RTN_GET_REALTIME)
v_mov_b32 v11, s10
v_mov_b32 v12, s11
v_mov_b32 v13, s14
v_mov_b32 v14, s15

@setprio
s_setprio 2
s_getreg_b32 s8, hwreg(HW_REG_STATUS, 3, 2)
v_mov_b32 v10, s8
s_setreg_imm32_b32 hwreg(HW_REG_STATUS), 0x2000
s_getreg_b32 s8, hwreg(HW_REG_STATUS, 13, 1)
v_mov_b32 v11, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS), -1
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS)
v_mov_b32 v12, s8

@rfe
s_rfe_b64 s[4:5]

@subvector
s_mov_b32 s8, 0
s_subvector_loop_begin s9, 3
v_mov_b32 v10, 5
s_add_u32 s8, s8, 1
s_subvector_loop_end s9, 0xfffd
v_mov_b32 v11, s8
v_mov_b32 v12, 1

@append
s_mov_b32 m0, 16
ds_append v10 offset:4
s_mov_b64 s[10:11], exec
s_mov_b64 exec, 0x1f
ds_append v11 offset:4
ds_consume v12 offset:4
s_mov_b64 exec, s[10:11]
v_mov_b32 v2, 20
ds_load_b32 v13, v2
s_waitcnt lgkmcnt(0)

@append_range
s_mov_b32 m0, 0x1000
ds_append v10

@lds_range
ds_store_b32 v1, v2
ds_load_b32 v10, v1
v_mov_b32 v11, -1
v_mov_b32 v12, -1
ds_load_b64 v[11:12], v1
v_mov_b32 v13, v2
ds_load_u16_d16_hi v13, v1
ds_add_rtn_u32 v14, v1, v3
ds_load_b32 v15, v1

@addtid
s_mov_b32 m0, 8
ds_store_addtid_b32 v2 offset:4
v_lshlrev_b32 v3, 2, v0
ds_load_b32 v10, v3 offset:12
ds_load_addtid_b32 v11 offset:4
global_load_addtid_b32 v12, s[0:1] offset:256
s_waitcnt 0
global_store_addtid_b32 v4, s[2:3] offset:1792
v_mov_b32 v17, v4

@lds_direct
v_lshlrev_b32 v3, 2, v0
ds_store_b32 v3, v2
s_mov_b32 m0, 0x2000c
lds_direct_load v10
s_mov_b32 m0, 0x4000c
lds_direct_load v11
s_mov_b32 m0, 0x1000c
lds_direct_load v12
s_mov_b32 exec_lo, 0x20
s_mov_b32 m0, 0x2000c
lds_direct_load v13

@lds_param
v_lshlrev_b32 v3, 2, v0
ds_store_b32 v3, v2
ds_store_b32 v3, v4 offset:128
s_mov_b32 m0, 0x50000
lds_param_load v10, attr0.y
lds_param_load v11, attr1.x

@bvh_stack
v_and_b32 v9, 31, v0
v_and_b32 v8, 32, v0
v_lshl_add_u32 v9, v8, 3, v9
v_lshlrev_b32 v9, 18, v9
v_mov_b32 v8, -1
v_mov_b32 v18, v2
v_mov_b32 v19, v3
v_mov_b32 v20, v4
v_mov_b32 v21, v5
ds_bvh_stack_rtn_b32 v10, v9, v8, v[18:21]
v_mov_b32 v17, v9
v_mov_b32 v8, -2
ds_bvh_stack_rtn_b32 v11, v9, v8, v[18:21]
ds_bvh_stack_rtn_b32 v12, v9, v8, v[18:21]
ds_bvh_stack_rtn_b32 v13, v9, v8, v[18:21]
v_mov_b32 v8, v4
ds_bvh_stack_rtn_b32 v14, v9, v8, v[18:21]
v_mov_b32 v15, v9

@bvh_stack_overflow
v_lshlrev_b32 v9, 18, v0
v_mov_b32 v8, -1
v_mov_b32 v18, v2
v_mov_b32 v19, v3
v_mov_b32 v20, v4
v_mov_b32 v21, v5
s_mov_b64 exec, 1
ds_bvh_stack_rtn_b32 v10, v9, v8, v[18:21]
ds_bvh_stack_rtn_b32 v10, v9, v8, v[18:21]
ds_bvh_stack_rtn_b32 v10, v9, v8, v[18:21]
s_mov_b32 s8, 8
v_mov_b32 v8, -2
ds_bvh_stack_rtn_b32 v11, v9, v8, v[18:21]
s_sub_u32 s8, s8, 1
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 0xfffb
ds_bvh_stack_rtn_b32 v12, v9, v8, v[18:21]
v_mov_b32 v15, v9

@mqsad
v_mqsad_u32_u8 v[10:13], v[2:3], v4, v[5:8]
v_mqsad_u32_u8 v[14:17], s[4:5], v4, v[5:8] clamp

@swap_b16
v_mov_b32 v10, v2
v_mov_b32 v11, v3
v_mov_b32 v12, v4
v_mov_b32 v13, v5
.long 0x7e14cd0b
.long 0x7f18cd0d

// ---- float exceptions: the flags that each of eight instructions leaves

@excp_f32
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_add_f32 v18, v2, v3
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v10, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_mul_f32 v18, v2, v3
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v11, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_fma_f32 v18, v2, v3, v4
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v12, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_sub_f32 v18, v2, v3
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v13, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_rcp_f32 v18, v2
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v14, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_sqrt_f32 v18, v2
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v15, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_cvt_i32_f32_e64 v18, v2 clamp
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v16, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_max_f32 v18, v2, v3
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v17, s8

@excp_f64
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_add_f64 v[18:19], v[2:3], v[4:5]
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v10, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_mul_f64 v[18:19], v[2:3], v[4:5]
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v11, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_fma_f64 v[18:19], v[2:3], v[4:5], v[6:7]
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v12, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_cvt_f32_f64 v18, v[2:3]
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v13, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_sqrt_f64 v[18:19], v[2:3]
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v14, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_rcp_f64 v[18:19], v[2:3]
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v15, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
.long 0x7c420902
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v16, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_cvt_f64_f32 v[18:19], v2
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v17, s8

@excp_f16
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_add_f16 v18, v2, v3
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v10, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_mul_f16 v18, v2, v3
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v11, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_fma_f16 v18, v2, v3, v4
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v12, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_pk_mul_f16 v18, v2, v3
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v13, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_cvt_f16_f32 v18, v5
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v14, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_cvt_f16_u16 v18, v2
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v15, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_cvt_pk_rtz_f16_f32 v18, v5, v6
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v16, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_ldexp_f16 v18, v2, v3
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v17, s8

@excp_packed
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_pk_add_f16 v18, v2, v3
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v10, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_pk_min_f16 v18, v2, v3
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v11, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_pk_add_u16 v18, v2, v3
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v12, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_pk_add_i16 v18, v2, v3
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v13, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_pk_min_u16 v18, v2, v3
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v14, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_pk_max_u16 v18, v2, v3
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v15, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_pk_min_i16 v18, v2, v3
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v16, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_pk_max_i16 v18, v2, v3
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v17, s8

@excp_rest
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_rsq_f32 v18, v2
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v10, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_log_f32 v18, v2
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v11, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_exp_f32 v18, v2
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v12, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_rcp_iflag_f32 v18, v2
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v13, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
.long 0xd411806a
.long 0x00020702
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v14, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_div_fixup_f32 v18, v4, v2, v3
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v15, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_mul_dx9_zero_f32 v18, v2, v3
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v16, s8
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
v_sin_f32 v18, v2
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v17, s8

// Lane 3 alone divides by zero, and is not always there.
@excp_exec
s_mov_b64 s[10:11], exec
v_rcp_f32 v18, v2
s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 7)
s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0
s_and_not1_b64 exec, exec, 8
v_rcp_f32 v18, v2
s_mov_b64 exec, s[10:11]
s_getreg_b32 s9, hwreg(HW_REG_TRAPSTS, 0, 7)
v_mov_b32 v10, s8
v_mov_b32 v11, s9
v_mov_b32 v12, v18

@excp_trap
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 7), 4
v_rcp_f32 v12, v2
s_nop 0
v_mov_b32 v10, s16
v_mov_b32 v11, s19
v_add_f32 v13, v3, v3

@excp_launch
v_rcp_f32 v12, v2
s_nop 0
v_mov_b32 v10, s16
v_mov_b32 v11, s19

// Output modifiers on sums with -0.
@omod
v_add_f32_e64 v10, v2, v3 mul:2
v_add_f32_e64 v11, v2, v3 div:2
v_add_f32_e64 v12, v2, v3 clamp mul:4
v_add_f64 v[13:14], v[4:5], v[6:7] mul:2
v_add_f64 v[15:16], v[4:5], v[6:7] div:2
v_add_f16_e64 v17, v8, v9 div:2

@movrel
s_mov_b32 m0, 0x30002
v_movrelsd_2_b32 v10, v2
v_swaprel_b32 v10, v2
s_mov_b32 m0, 2
s_movreld_b64 s[8:9], s[4:5]
s_movrels_b32 s8, s4
v_movreld_b32 v10, v2
v_movrels_b32 v10, v2

// ---- GDS and GWS

@gds
s_mov_b32 m0, 0x01000040
v_mov_b32 v18, 8
v_lshlrev_b32 v19, 2, v0
ds_store_b32 v18, v2 offset:4 gds
ds_add_rtn_u32 v10, v18, v3 offset:4 gds
s_waitcnt lgkmcnt(0)
ds_load_b32 v11, v18 offset:4 gds
s_mov_b32 m0, 0x00000200
v_mov_b32 v18, 0x10c
ds_load_b32 v12, v18 gds
s_mov_b32 m0, 0x01000040
ds_append v13 gds
ds_consume v14 gds
s_waitcnt lgkmcnt(0)
ds_store_b32 v19, v4
ds_load_b32 v15, v19

@gds_range
s_mov_b32 m0, 0x01000008
v_mov_b32 v18, 8
ds_load_b32 v10, v18 gds

@exports
exp mrt0 v2, v3, v4, v5 done
v_mov_b32 v10, 1

// ---- buffers: the resource is in s[4:7], more scalars in s8...

// v2: offset or index, v3: data
@buf_raw
buffer_load_b32 v10, v2, s[4:7], s8 offen offset:4
buffer_load_u8 v11, v2, s[4:7], 3 offen offset:1
buffer_load_b128 v[12:15], v2, s[4:7], null offen
v_mov_b32 v16, 0x12345678
v_mov_b32 v17, 0x12345678
buffer_load_d16_hi_i8 v16, v2, s[4:7], null offen
buffer_load_d16_b16 v17, v2, s[4:7], null offen
s_waitcnt vmcnt(0)

@buf_store
buffer_store_b96 v[3:5], v2, s[4:7], s8 offen offset:8
buffer_store_b8 v6, v2, s[4:7], s8 offen offset:20
buffer_store_d16_hi_b16 v7, v2, s[4:7], s8 offen offset:22

@buf_index
buffer_load_b32 v10, v2, s[4:7], null idxen offset:4
buffer_load_b64 v[11:12], v[2:3], s[4:7], s8 idxen offen
buffer_load_b32 v13, off, s[4:7], null offset:8
buffer_store_b32 v4, v[2:3], s[4:7], s8 idxen offen offset:8
s_waitcnt vmcnt(0)

@buf_tfe
v_mov_b32 v11, 5
v_mov_b32 v14, 5
buffer_load_b32 v[10:11], v2, s[4:7], null offen tfe
buffer_load_b64 v[12:14], v2, s[4:7], null offen tfe
s_waitcnt vmcnt(0)

@buf_atomic
v_mov_b32 v10, v3
v_mov_b32 v11, v3
v_mov_b32 v12, v4
v_mov_b32 v13, v3
v_mov_b32 v14, v4
buffer_atomic_add_u32 v10, v2, s[4:7], null offen glc
buffer_atomic_cmpswap_b32 v[11:12], v2, s[4:7], null offen offset:4 glc
buffer_atomic_xor_b64 v[13:14], v2, s[4:7], null offen offset:8 glc
buffer_atomic_add_u32 v5, v2, s[4:7], null offen
buffer_atomic_add_f32 v6, v2, s[4:7], null offen offset:16
s_waitcnt vmcnt(0)

@buf_fmt_load
buffer_load_format_xyzw v[10:13], v2, s[4:7], null offen
v_mov_b32 v14, -1
v_mov_b32 v15, -1
v_mov_b32 v16, -1
buffer_load_d16_format_xyz v[14:15], v2, s[4:7], null offen
buffer_load_d16_hi_format_x v16, v2, s[4:7], null offen
buffer_load_format_x v17, v2, s[4:7], null offen
s_waitcnt vmcnt(0)

@buf_fmt_store
buffer_store_format_xyzw v[3:6], v2, s[4:7], null offen
buffer_load_format_xyzw v[10:13], v2, s[4:7], null offen
s_waitcnt vmcnt(0)

@buf_fmt_store16
buffer_store_d16_format_xyzw v[3:4], v2, s[4:7], null offen
buffer_load_d16_format_xyzw v[10:11], v2, s[4:7], null offen
buffer_store_d16_hi_format_x v5, v2, s[4:7], null offen
buffer_load_format_x v12, v2, s[4:7], null offen
s_waitcnt vmcnt(0)

@tbuf
tbuffer_load_format_xyzw v[10:13], v2, s[4:7], null format:[BUF_FMT_8_8_8_8_UNORM] offen
tbuffer_load_format_xyzw v[14:17], v2, s[4:7], null format:[BUF_FMT_16_SINT] offen
tbuffer_store_format_xy v[3:4], v2, s[4:7], null format:[BUF_FMT_16_16_FLOAT] offen offset:4
s_waitcnt vmcnt(0)

@sbuf
s_buffer_load_b32 s12, s[4:7], s8 offset:4
s_buffer_load_b64 s[14:15], s[4:7], null offset:0x1c
s_buffer_load_b128 s[16:19], s[4:7], m0
s_waitcnt lgkmcnt(0)
v_mov_b32 v10, s12
v_mov_b32 v11, s14
v_mov_b32 v12, s15
v_mov_b32 v13, s16
v_mov_b32 v14, s19

@lds_float
v_lshlrev_b32 v9, 2, v0
ds_store_b32 v9, v2
ds_add_rtn_f32 v10, v9, v3
ds_load_b32 v11, v9
ds_store_b32 v9, v2
ds_min_rtn_f32 v12, v9, v3
ds_load_b32 v13, v9
ds_store_b32 v9, v2
ds_max_f32 v9, v3
ds_load_b32 v14, v9
ds_store_b32 v9, v2
ds_cmpstore_f32 v9, v3, v4
ds_load_b32 v15, v9
s_waitcnt lgkmcnt(0)

// ---- across lanes

@swizzle
ds_swizzle_b32 v10, v2 offset:0xe000
ds_swizzle_b32 v11, v2 offset:0xe010
ds_swizzle_b32 v12, v2 offset:0xe005
ds_swizzle_b32 v13, v2 offset:0xc020
ds_swizzle_b32 v14, v2 offset:0xc421
ds_swizzle_b32 v15, v2 offset:0x801b
ds_swizzle_b32 v16, v2 offset:0x041f
ds_swizzle_b32 v17, v2 offset:0x2a7c
s_waitcnt lgkmcnt(0)

@permutes
s_mov_b32 exec_lo, 0x0ffffff1
ds_bpermute_b32 v10, v3, v2 offset:8
ds_permute_b32 v11, v3, v2
v_permlane16_b32 v12, v2, s8, s9
v_permlane16_b32 v13, v2, s8, s9 op_sel:[1,0]
v_permlane16_b32 v14, v2, s8, s9 op_sel:[0,1]
v_permlanex16_b32 v15, v2, s8, s9
v_permlane64_b32 v16, v2
s_waitcnt lgkmcnt(0)

@dpp
v_mov_b32 v10, 7
v_mov_b32 v11, 7
v_mov_b32 v12, 7
v_mov_b32 v13, 7
v_mov_b32 v14, 7
s_mov_b32 exec_lo, 0xfffffff9
v_mov_b32_dpp v10, v2 row_shl:1 row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v11, v2 row_shr:2 row_mask:0xf bank_mask:0xf bound_ctrl:1
v_mov_b32_dpp v12, v2 row_ror:3 row_mask:0xe bank_mask:0x7 fi:1
v_mov_b32_dpp v13, v2 row_xmask:5 row_mask:0xf bank_mask:0xf fi:1
v_mov_b32_dpp v14, v2 dpp8:[7,6,5,4,3,2,1,0]
v_mov_b32_dpp v15, v2 dpp8:[1,1,1,1,2,2,2,2] fi:1
v_mov_b32_dpp v16, v2 row_share:9 row_mask:0xf bank_mask:0xf

// ---- images: the resource is in s[4:11], the sampler in s[12:15]

@img_2d
image_load v[10:13], v[2:3], s[4:11] dmask:0xf dim:SQ_RSRC_IMG_2D unorm
image_load v14, [v3, v2], s[4:11] dmask:0x4 dim:SQ_RSRC_IMG_2D unorm
image_load v[15:16], v[2:3], s[4:11] dmask:0xb dim:SQ_RSRC_IMG_2D unorm d16
v_and_b32 v2, 0xffff, v2
v_lshl_or_b32 v2, v3, 16, v2
image_load v17, v2, s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm a16
s_waitcnt vmcnt(0)

@img_msaa
image_load v[10:13], v[2:4], s[4:11] dmask:0xf dim:SQ_RSRC_IMG_2D_MSAA unorm
image_msaa_load v[14:17], v[2:4], s[4:11] dmask:0x2 dim:SQ_RSRC_IMG_2D_MSAA
s_waitcnt vmcnt(0)

@img_round_2d
image_store v6, v[2:3], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm
image_load v10, v[2:3], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm
s_waitcnt vmcnt(0)

@img_round_array
image_store_mip v6, v[2:5], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D_ARRAY unorm
image_load_mip v10, v[2:5], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D_ARRAY unorm
s_waitcnt vmcnt(0)

@img_round_3d
image_store_mip v6, v[2:5], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_3D unorm
image_load_mip v10, v[2:5], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_3D unorm
s_waitcnt vmcnt(0)

@img_store
image_store v[4:7], v[2:3], s[4:11] dmask:0xf dim:SQ_RSRC_IMG_2D unorm

@img_mip_array
image_load_mip v10, v[2:5], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D_ARRAY unorm
image_store_mip v6, v[2:5], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D_ARRAY unorm
image_get_resinfo v[11:14], v5, s[4:11] dmask:0xf dim:SQ_RSRC_IMG_2D_ARRAY unorm
s_waitcnt vmcnt(0)

@img_3d
image_load v10, v[2:4], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_3D unorm
image_load_pck_sgn v11, v[2:4], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_3D unorm
image_load_pck v12, v[2:4], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_3D unorm
image_store_pck v5, v[2:4], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_3D unorm
s_waitcnt vmcnt(0)

@img_atomic
v_mov_b32 v10, v4
v_mov_b32 v11, v4
v_mov_b32 v12, v5
image_atomic_add v10, v[2:3], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm glc
image_atomic_cmpswap v[11:12], v[2:3], s[4:11] dmask:0x3 dim:SQ_RSRC_IMG_2D unorm glc
image_atomic_umax v5, v[2:3], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm
s_waitcnt vmcnt(0)

@img_sample
image_sample_lz v[10:13], v[2:3], s[4:11], s[12:15] dmask:0xf dim:SQ_RSRC_IMG_2D
image_sample_l v14, v[2:4], s[4:11], s[12:15] dmask:0x1 dim:SQ_RSRC_IMG_2D
image_sample v15, v[2:3], s[4:11], s[12:15] dmask:0x1 dim:SQ_RSRC_IMG_2D
image_sample_d v16, v[5:10], s[4:11], s[12:15] dmask:0x1 dim:SQ_RSRC_IMG_2D
image_sample_lz v17, v[2:3], s[4:11], s[12:15] dmask:0x3 dim:SQ_RSRC_IMG_2D d16
s_waitcnt vmcnt(0)

@img_sample_more
image_sample_c_lz v10, v[5:7], s[4:11], s[12:15] dmask:0x1 dim:SQ_RSRC_IMG_2D
image_sample_lz_o v11, v[4:6], s[4:11], s[12:15] dmask:0x1 dim:SQ_RSRC_IMG_2D
image_gather4_lz v[12:15], v[2:3], s[4:11], s[12:15] dmask:0x1 dim:SQ_RSRC_IMG_2D
image_sample_b v16, v[7:9], s[4:11], s[12:15] dmask:0x1 dim:SQ_RSRC_IMG_2D
image_get_lod v[17:18], v[2:3], s[4:11], s[12:15] dmask:0x3 dim:SQ_RSRC_IMG_2D
s_waitcnt vmcnt(0)

// v2: node pointer, v3: extent, v4..v6: origin, v7..v9: direction
@bvh
v_rcp_f32 v20, v7
v_rcp_f32 v21, v8
v_rcp_f32 v22, v9
image_bvh_intersect_ray v[10:13], [v2, v3, v[4:6], v[7:9], v[20:22]], s[4:7]
v_mov_b32 v30, v2
v_mov_b32 v31, 0
v_mov_b32 v32, v3
v_mov_b32 v33, v4
v_mov_b32 v34, v5
v_mov_b32 v35, v6
v_mov_b32 v36, v7
v_mov_b32 v37, v8
v_mov_b32 v38, v9
v_mov_b32 v39, v20
v_mov_b32 v40, v21
v_mov_b32 v41, v22
image_bvh64_intersect_ray v[14:17], v[30:41], s[4:7]
s_waitcnt vmcnt(0)
