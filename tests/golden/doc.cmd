# One page per instruction.
rdna3 doc v_add_f32 | sed 's/c:[0-9]*$/c:LINE/'
rdna3 doc V_ADD_F32_e64 | head -n 1
rdna3 doc v_rcp_f32 | tail -n 1
rdna3 doc s_endpgm v_wmma_f32_16x16x16_f16 ds_ordered_count | sed 's/c:[0-9]*$/c:LINE/'
# The fact sheet: memory, atomics, state, flow, VOPD.
rdna3 doc ds_load_2addr_stride64_b64 global_atomic_sub_u32 | sed -n '/^facts/,/^$/p'
rdna3 doc buffer_store_d16_hi_format_x image_sample_c_d_cl_o_g16 | sed -n '/^facts/,/^$/p'
rdna3 doc s_cbranch_execz v_cmpx_lt_f32 v_div_fmas_f64 s_setreg_b32 | sed -n '/^facts/,/^$/p'
rdna3 doc v_dual_subrev_f32 s_barrier v_readfirstlane_b32 | sed -n '/^facts/,/^$/p'
# Names, kinds and fields of operands; immediates that have parts.
for i in s_waitcnt s_delay_alu s_waitcnt_depctr global_load_b32 v_dual_fmac_f32 v_add_co_ci_u32 s_load_b64; do rdna3 doc $i | sed '/^facts/,$d'; done
# Words that are no mnemonic.
rdna3 doc GLOBAL_LOAD
rdna3 doc fma_f32
rdna3 doc v_ad_f32
rdna3 doc frobnicate
