// Lane n of out: the clock before and after a wait, and where the wave is.
	s_getreg_b32	s5, hwreg(HW_REG_SHADER_CYCLES)
	s_sleep	1
	s_getreg_b32	s6, hwreg(HW_REG_SHADER_CYCLES)
	s_getreg_b32	s7, hwreg(HW_REG_HW_ID1)
	v_lshlrev_b32	v1, 2, v0
	v_mov_b32	v2, s5
	v_mov_b32	v3, s6
	v_mov_b32	v4, s7
	global_store_b32	v1, v2, s[2:3]
	global_store_b32	v1, v3, s[2:3] offset:128
	global_store_b32	v1, v4, s[2:3] offset:256
	s_endpgm
