// A work-item has 64 bytes of scratch.
// RUN: --block 32
// SCRATCH: 64
	v_mov_b32_e32	v1, 0
	scratch_store_b32	off, v1, off offset:64 // BUG: mem/scratch-out-of-bounds CUT
	// FIX: scratch_store_b32 off, v1, off offset:60
	s_endpgm
