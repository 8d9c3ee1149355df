# One page per instruction.
rdna3 doc v_add_f32 | sed 's/c:[0-9]*$/c:LINE/'
rdna3 doc V_ADD_F32_e64 | head -n 1
rdna3 doc v_rcp_f32 | tail -n 1
rdna3 doc s_endpgm v_wmma_f32_16x16x16_f16 ds_ordered_count | sed 's/c:[0-9]*$/c:LINE/'
