// One workgroup writes and raises a flag, the other sees it, but reads by its caches.
// RUN: --grid 2 --block 32 --arg buf:256:zero --arg buf:256:zero
s_load_b128 s[4:7], s[0:1], 0x0
v_lshlrev_b32_e32 v0, 2, v0
v_mov_b32_e32 v1, 0
v_mov_b32_e32 v2, 1
s_waitcnt lgkmcnt(0)
s_cmp_eq_u32 s2, 0
s_cbranch_scc0 reader
global_store_b32 v0, v2, s[6:7] // BUG: race/stale-read
s_waitcnt_vscnt null, 0x0
global_atomic_swap_b32 v1, v2, s[4:5]
s_endpgm
reader:
global_load_b32 v3, v1, s[4:5] glc
s_waitcnt vmcnt(0)
v_cmp_eq_u32_e32 vcc_lo, 0, v3
s_cbranch_vccnz reader
// FIX: buffer_gl1_inv
buffer_gl0_inv
global_load_b32 v3, v0, s[6:7] // BUG: race/stale-read
s_waitcnt vmcnt(0)
global_store_b32 v0, v3, s[6:7] offset:128
s_endpgm
