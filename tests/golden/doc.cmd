# One page per instruction.
rdna3 doc v_add_f32
rdna3 doc V_ADD_F32_e64
rdna3 doc s_endpgm v_wmma_f32_16x16x16_f16
