// An export reads its registers and EXEC some time after it has been issued.
// CHECK: mem race wait sync
// RUN: --block 32 --arg buf:128
	s_load_b64	s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32	v1, 2, v0
	v_mov_b32_e32	v2, 1.0
	v_mov_b32_e32	v3, 0
	exp	pos0 v2, v3, v3, v2
	exp	pos1 v2, v2, off, off
	exp	mrt0 v3, v3, v3, v3
	s_waitcnt	expcnt(1) // FIX: s_waitcnt expcnt(0)
	v_mov_b32_e32	v2, v0 // BUG: wait/overwrite-before-wait
	s_waitcnt	expcnt(0)
	v_mov_b32_e32	v3, v0
	exp	mrt0 v2, v3, v3, v3 done
	s_waitcnt	lgkmcnt(0) // FIX: s_waitcnt lgkmcnt(0) expcnt(0)
	s_mov_b32	exec_lo, 0xff // BUG: wait/overwrite-before-wait
	global_store_b32	v1, v2, s[4:5]
	s_endpgm
