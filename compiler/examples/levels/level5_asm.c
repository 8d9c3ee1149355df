/* level5_asm.c: the sum in assembly language.
 *
 * 32 workgroups of 64 lanes, one for each compute unit. A lane loads 64 numbers at a
 * time, 16 bytes each load, and adds them as a tree of dual-issued additions to four
 * sums. The lanes of a row are added by DPP, the two rows by v_permlanex16, the waves
 * by an atomic addition to memory. C writes out the repeated parts; the rest is text.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "asm.h"
#include "level.h"

#define UNITS  32
#define LANES  64
#define BASE   8  /* first register of what is loaded */
#define LOADED 64 /* registers: a power of two, at most 256 bytes of each lane */
#define UNROLL 2

struct source {
    char text[65536];
    size_t len;
};

__attribute__((format(printf, 2, 3))) static void emit(struct source *s,
                                                       const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(s->text + s->len, sizeof s->text - s->len, fmt, ap);
    va_end(ap);
    s->len += (size_t)n < sizeof s->text - s->len ? (size_t)n : 0;
}

/* v[BASE ...] = the next LOADED numbers of each lane; s[6:7] moves on. */
static void loads(struct source *s)
{
    emit(s, "    s_clause 0x%x\n", LOADED / 4 - 1);
    for (int i = 0; i < LOADED / 4; i++) {
        int at = i * LANES * 16;
        emit(s, "    global_load_b128 v[%d:%d], v%d, s[6:7] offset:%d\n", BASE + 4 * i,
             BASE + 4 * i + 3, at / 4096, at % 4096);
    }
    emit(s, "    s_add_u32 s6, s6, 0x%x\n", LOADED * LANES * 4);
    emit(s, "    s_addc_u32 s7, s7, 0\n");
}

/* v[a ... a+3] += v[b ... b+3]. The sources of a pair come from different banks. */
static void add4(struct source *s, int a, int b)
{
    emit(s, "    v_dual_add_f32 v%d, v%d, v%d :: v_dual_add_f32 v%d, v%d, v%d\n", a, a,
         b + 2, a + 1, a + 1, b + 3);
    emit(s, "    v_dual_add_f32 v%d, v%d, v%d :: v_dual_add_f32 v%d, v%d, v%d\n", a + 2,
         a + 2, b, a + 3, a + 3, b + 1);
}

/* v[4:7] += what is loaded */
static void add_loaded(struct source *s)
{
    for (int quads = LOADED / 4; quads > 1; quads /= 2)
        for (int j = 0; j < quads / 2; j++)
            add4(s, BASE + 4 * j, BASE + 4 * (j + quads / 2));
    add4(s, 4, BASE);
}

static void write_kernel(struct source *s, int64_t n)
{
    emit(s, "    .text\n    .globl asm_sum\n    .p2align 8\n"
            "    .type asm_sum,@function\nasm_sum:\n"
            "    v_lshlrev_b32 v0, 4, v0             ; lane * 16 bytes\n"
            "    v_add_nc_u32 v1, 4096, v0\n"
            "    v_add_nc_u32 v2, 4096, v1\n"
            "    v_add_nc_u32 v3, 4096, v2\n"
            "    s_load_b128 s[4:7], s[0:1], 0x0     ; out, in\n"
            "    s_waitcnt lgkmcnt(0)\n");
    emit(s, "    s_mul_i32 s3, s2, 0x%llx            ; this workgroup's part\n",
         (long long)(n * 4 / UNITS));
    emit(s, "    s_add_u32 s6, s6, s3\n    s_addc_u32 s7, s7, 0\n"
            "    v_dual_mov_b32 v4, 0 :: v_dual_mov_b32 v5, 0\n"
            "    v_dual_mov_b32 v6, 0 :: v_dual_mov_b32 v7, 0\n");
    emit(s, "    s_mov_b32 s3, 0x%llx\nloop:\n",
         (long long)(n / (UNITS * LANES * LOADED * UNROLL) - 1));
    for (int i = 0; i < UNROLL; i++) {
        loads(s);
        emit(s, "    s_waitcnt vmcnt(0)\n");
        add_loaded(s);
    }
    emit(s, "    s_sub_u32 s3, s3, 1\n"
            "    s_cbranch_scc0 loop\n"
            "    v_add_f32 v4, v4, v5\n    v_add_f32 v6, v6, v7\n"
            "    v_add_f32 v4, v4, v6\n");
    for (int shift = 1; shift < 16; shift *= 2)
        emit(s,
             "    v_add_f32 v4, v4, v4 row_shl:%d row_mask:0xf bank_mask:0xf "
             "bound_ctrl:1\n",
             shift);
    emit(s, "    v_permlanex16_b32 v5, v4, 0, 0      ; lane 16 to lane 0\n"
            "    v_add_f32 v4, v4, v5\n"
            "    s_mov_b32 exec_lo, 1\n"
            "    v_mov_b32 v0, 0\n"
            "    global_atomic_add_f32 v0, v4, s[4:5]\n"
            "    s_nop 0\n"
            "    s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)\n"
            "    s_endpgm\n");
}

static void write_descriptor(struct source *s)
{
    emit(s, "    .rodata\n    .p2align 6\n    .amdhsa_kernel asm_sum\n");
    emit(s, "    .amdhsa_next_free_vgpr %d\n", BASE + LOADED);
    emit(s, "    .amdhsa_next_free_sgpr 8\n"
            "    .amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
            "    .amdhsa_kernarg_size 16\n"
            "    .amdhsa_wavefront_size32 1\n"
            "    .end_amdhsa_kernel\n");
}

struct complaints {
    struct level *l;
};

static void complain(void *ctx, const struct asm_message *m)
{
    struct complaints *c = ctx;
    if (m->severity == ASM_ERROR && !c->l->error[0])
        level_fail(c->l, RD_E_FORMAT, "assembly line %u: %s", m->line, m->text);
}

static rd_status asm_sum(struct level *l, struct cc_tensor **sum)
{
    static const int64_t one = 1;
    struct complaints c = {l};
    struct asm_options options = {.name = "asm_sum", .message = complain, .ctx = &c};
    struct asm_result elf;
    struct cc_machine code = {.kernel = "asm_sum", .groups = {UNITS}, .block = {LANES}};
    cc_ref program;
    struct source *s = calloc(1, sizeof *s);
    if (!s)
        return level_fail(l, RD_E_NOMEM, "out of memory");
    write_kernel(s, l->n);
    write_descriptor(s);
    rd_status st = asm_assemble(s->text, s->len, &options, &elf);
    free(s);
    if (st != RD_OK)
        return st;
    code.elf = elf.data;
    code.bytes = elf.bytes;
    st = cc_machine_code(l->c, &code, &program);
    free(elf.data);
    if (st == RD_OK) /* zero: the kernel adds to it */
        st = cc_tensor_from(l->c, CC_DT_F32, 1, &one, NULL, sum);
    return st == RD_OK ? cc_tensor_custom(l->c, program, 2,
                                          (struct cc_tensor *[]){*sum, l->data})
                       : st;
}

int main(int argc, char **argv)
{
    return level_main(argc, argv, "level 5, assembly", asm_sum);
}
