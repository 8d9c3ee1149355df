"""Writes a matrix multiply whose inner loop is nothing but pairs (VOPD), scheduled by hand.

usage: vopd.py [--scalar] [--level] [--repeat N] > gemm7.s

C = alpha A B + beta C, square row-major fp32, 128 x 128 of C per workgroup of four waves,
each with 32 rows. Slices of A (transposed) and B, eight deep, pass through LDS; the next
slice is on its way while one is used. A lane has two patches of 4 rows and four of 4
columns: 8 values of A, 16 of B, 128 sums per step of k.

Registers: values of B lie in banks 0 and 1 (number modulo 4), of A in banks 2 and 3, two by
two as they are loaded. Two of A and two of B make four products, two pairs. The sums of
the first, a0 b0 and a1 b1, lie in banks 1 and 0, of the second, a0 b1 and a1 b0, in 3 and
2: no product reads a bank twice. Blocks follow each other so that A or B stays.

  --scalar    slices are loaded with scalar base addresses: no address arithmetic
  --level     no priority for waves that multiply
  --repeat N  every pair N times: the results are wrong, the loop is all VALU"""
import argparse

ROWS, COLS = 4, 8 # blocks of two rows, of two columns
SLICE_A = 8 * 132 * 4 # rows of 128 and four words between them, against bank conflicts
LDS = SLICE_A + 8 * 128 * 4
A0, B0, SUM0 = 186, 184, 4
INDEX, SIGN, DATA, ADDRESS = 147, 148, 149, 166 # loads of a slice
out = []


def put(*lines):
    out.extend("\t" + line for line in lines)


def a(row):
    return A0 + row // 2 * 4 + row % 2


def b(col):
    return B0 + col // 2 * 4 + col % 2


def total(row, col):
    bank = {(0, 0): 1, (1, 1): 0, (0, 1): 3, (1, 0): 2}[row % 2, col % 2]
    return SUM0 + 4 * (row // 2 + ROWS * (col // 2)) + bank


def head():
    out.append("""	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.rodata
	.p2align 6
	.amdhsa_kernel gemm
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_group_segment_fixed_size %d
		.amdhsa_next_free_vgpr 214
		.amdhsa_next_free_sgpr 24
		.amdhsa_wavefront_size32 1
		.amdhsa_workgroup_processor_mode 0
	.end_amdhsa_kernel
	.text
	.globl gemm
	.p2align 8
	.type gemm,@function
gemm:""" % LDS)
    # s[4:5] C, s[8:9] A, s[10:11] B, s12 n, s13 alpha, s14 beta, s15 k, s16 8 n, s2, s3 corner
    put("s_load_b128 s[8:11], s[0:1], 0x0", "s_load_b64 s[4:5], s[0:1], 0x10",
        "s_load_b64 s[12:13], s[0:1], 0x18", "s_load_b32 s14, s[0:1], 0x20",
        "s_lshl_b32 s2, s2, 7", "s_lshl_b32 s3, s3, 7",
        "v_and_b32 v1, 7, v0", "v_lshrrev_b32 v2, 3, v0", # of the slice of A: k and row
        "s_waitcnt lgkmcnt(0)", "s_lshl_b32 s16, s12, 3",
        "v_add_nc_u32 v132, s2, v0", "v_add_nc_u32 v3, s3, v2",
        "v_mul_lo_u32 v3, v3, s12", "v_add_nc_u32 v133, v3, v1", "s_lshl_b32 s17, s12, 4")
    put(*("v_add_nc_u32 v%d, s17, v%d" % (134 + i, 133 + i) for i in range(7)))
    put("v_lshl_add_u32 v141, v0, 2, %d" % SLICE_A, # where B goes in LDS, and A
        "v_mul_u32_u24 v142, 528, v1", "v_lshl_add_u32 v142, v2, 2, v142",
        # where a lane reads A and B; lane % 8 is its column
        "v_and_b32 v3, 0x60, v0", "v_lshlrev_b32 v3, 2, v3", "v_bfe_u32 v2, v0, 3, 2",
        "v_lshl_add_u32 v143, v2, 4, v3", "v_lshl_add_u32 v144, v1, 4, %d" % SLICE_A,
        "s_mov_b32 s15, 0")
    for i in range(0, 128, 2):
        put("v_dual_mov_b32 v%d, 0 :: v_dual_mov_b32 v%d, 0" % (SUM0 + i, SUM0 + i + 1))


def load_slice(scalar):
    """Of row k on: eight words of B below each other, eight of A 16 rows apart."""
    if scalar:
        put("v_lshlrev_b32 v%d, 2, v132" % INDEX, "s_mov_b64 s[18:19], s[10:11]")
        for i in range(8):
            put("global_load_b32 v%d, v%d, s[18:19]" % (DATA + i, INDEX))
            if i < 7:
                put("s_lshr_b32 s20, s16, 1", "s_add_u32 s18, s18, s20", "s_addc_u32 s19, s19, 0")
        put("s_lshl_b32 s20, s15, 2", "s_add_u32 s18, s8, s20", "s_addc_u32 s19, s9, 0",
            "v_lshlrev_b32 v%d, 2, v133" % SIGN)
        for i in range(8):
            put("global_load_b32 v%d, v%d, s[18:19]" % (DATA + 8 + i, SIGN))
            if i < 7:
                put("s_lshl_b32 s20, s17, 2", "s_add_u32 s18, s18, s20", "s_addc_u32 s19, s19, 0")
        put("v_add_nc_u32 v132, s16, v132")
        return
    delay = "s_delay_alu instid0(VALU_DEP_1)"
    for i in range(16):
        at = ADDRESS + i % 9 * 2
        low, high = (10, 11) if i < 8 else (8, 9)
        if i == 0:
            put("v_mov_b32 v%d, v132" % INDEX, "v_add_nc_u32 v132, s16, v132")
        elif i < 8:
            put("v_add_nc_u32 v%d, s12, v%d" % (INDEX, INDEX))
        else:
            put("v_add_nc_u32 v%d, s15, v%d" % (INDEX, 133 + i - 8))
        put(delay, "v_ashrrev_i32 v%d, 31, v%d" % (SIGN, INDEX), delay,
            "v_lshlrev_b64 v[%d:%d], 2, v[%d:%d]" % (at, at + 1, INDEX, SIGN), delay,
            "v_add_co_u32 v%d, vcc_lo, s%d, v%d" % (at, low, at),
            "v_add_co_ci_u32 v%d, vcc_lo, s%d, v%d, vcc_lo" % (at + 1, high, at + 1),
            "global_load_b32 v%d, v[%d:%d], off" % (DATA + i, at, at + 1))


def store_slice():
    for i in range(4):
        put("s_waitcnt vmcnt(%d)" % (14 - 2 * i),
            "ds_store_2addr_stride64_b32 v141, v%d, v%d offset0:%d offset1:%d" %
            (DATA + 2 * i, DATA + 2 * i + 1, 4 * i, 4 * i + 2))
    for i in range(8):
        put("s_waitcnt vmcnt(%d)" % (7 - i), "ds_store_b32 v142, v%d offset:%d" % (DATA + 8 + i, 64 * i))
    put("s_waitcnt lgkmcnt(0)", "s_barrier")


def step(level, repeat):
    put("s_clause 0xb")
    for i in range(ROWS):
        put("ds_load_b64 v[%d:%d], v145 offset:%d" % (a(2 * i), a(2 * i + 1), i // 2 * 64 + i % 2 * 8))
    for i in range(COLS):
        put("ds_load_b64 v[%d:%d], v146 offset:%d" % (b(2 * i), b(2 * i + 1), i // 2 * 128 + i % 2 * 8))
    put("v_add_nc_u32 v145, 0x210, v145", "v_add_nc_u32 v146, 0x200, v146", "s_waitcnt lgkmcnt(0)")
    swap = [0, 0] # which of a block's two the first multiply takes, of A and of B
    for n, (row, col) in enumerate((r if j % 2 == 0 else ROWS - 1 - r, j) for j in range(COLS) for r in range(ROWS)):
        for k in (0, 1):
            p, q = 2 * row + swap[0], 2 * col + swap[1]
            other_p, other_q = p ^ 1, q ^ 1
            pair = "v_dual_fmac_f32 v%d, v%d, v%d :: v_dual_fmac_f32 v%d, v%d, v%d" % (
                total(p, q), a(p), b(q), total(other_p, other_q), a(other_p), b(other_q))
            put(*[pair] * repeat)
            if n == k == 0 and not level:
                put("s_setprio 1")
            if k == 0: # the other products: A stays where it was, or B
                swap[n % 2] ^= 1
    if not level:
        put("s_setprio 0")


def tail():
    # C: rows 16 apart in patches, four columns at a time
    put("v_lshrrev_b32 v1, 2, v143", "v_add_nc_u32 v1, s3, v1", "v_mul_lo_u32 v1, v1, s12",
        "v_and_b32 v2, 7, v0", "v_lshl_add_u32 v2, v2, 2, s2", "v_add_lshl_u32 v1, v1, v2, 2",
        "s_lshl_b32 s16, s12, 2", "s_mul_i32 s17, s12, 52")
    for row in range(2 * ROWS):
        for j in range(4):
            put("global_load_b128 v[%d:%d], v1, s[4:5] offset:%d" % (184 + 4 * j, 187 + 4 * j, 128 * j))
        put("s_waitcnt vmcnt(0)")
        for col in range(2 * COLS):
            put("v_mul_f32 v%d, s14, v%d" % (184 + col, 184 + col))
        for col in range(2 * COLS):
            put("v_fmac_f32 v%d, s13, v%d" % (184 + col, total(row, col)))
        for j in range(4):
            put("global_store_b128 v1, v[%d:%d], s[4:5] offset:%d" % (184 + 4 * j, 187 + 4 * j, 128 * j))
        if row < 2 * ROWS - 1:
            put("v_add_nc_u32 v1, s%d, v1" % (17 if row % 4 == 3 else 16))
    put("s_endpgm")
    out.append(""".Lend:
	.size gemm, .Lend-gemm
	.amdgpu_metadata
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx1100
amdhsa.kernels:
  - .name: gemm
    .symbol: gemm.kd
    .kernarg_segment_size: 36
    .kernarg_segment_align: 8
    .group_segment_fixed_size: %d
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 24
    .vgpr_count: 214
    .max_flat_workgroup_size: 128
    .reqd_workgroup_size: [ 128, 1, 1 ]
    .args:
      - {.address_space: global, .offset: 0, .size: 8, .value_kind: global_buffer}
      - {.address_space: global, .offset: 8, .size: 8, .value_kind: global_buffer}
      - {.address_space: global, .offset: 16, .size: 8, .value_kind: global_buffer}
      - {.offset: 24, .size: 4, .value_kind: by_value}
      - {.offset: 28, .size: 4, .value_kind: by_value}
      - {.offset: 32, .size: 4, .value_kind: by_value}
	.end_amdgpu_metadata""" % LDS)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--scalar", action="store_true")
    p.add_argument("--level", action="store_true")
    p.add_argument("--repeat", type=int, default=1)
    o = p.parse_args()
    head()
    load_slice(o.scalar)
    store_slice()
    out.append("slice:")
    put("s_add_i32 s15, s15, 8", "v_mov_b32 v145, v143", "v_mov_b32 v146, v144",
        "s_cmp_ge_i32 s15, s12", "s_cbranch_scc1 last")
    load_slice(o.scalar)
    out.append("last:")
    for _ in range(8):
        step(o.level, o.repeat)
    put("s_barrier", "s_cmp_ge_i32 s15, s12", "s_cbranch_scc1 done")
    store_slice()
    put("s_branch slice")
    out.append("done:")
    tail()
    print("\n".join(out))


if __name__ == "__main__":
    main()
