/* test_kd.c: descriptors that LLVM assembled, decoded back to their directives.
 *
 * kd_gfx1100.tsv holds `.amdhsa_` directives and the 64 bytes they gave. What the
 * directives say, with LLVM's defaults for the rest, must be what co_kd_parse reads.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "../data/data.h"
#include "codeobj_kd.h"

#define MAX_ROWS 4096

static char *rows[MAX_ROWS];
static int n_rows;

/* Directives as numbers; what a row does not mention keeps LLVM's default. */
enum directive {
    D_NEXT_FREE_VGPR,
    D_GROUP,
    D_PRIVATE,
    D_KERNARG,
    D_USER_COUNT,
    D_USER_DISPATCH_PTR,
    D_USER_QUEUE_PTR,
    D_USER_KERNARG_PTR,
    D_USER_DISPATCH_ID,
    D_USER_PRIVATE_SIZE,
    D_WAVE32,
    D_DYNAMIC_STACK,
    D_ENABLE_PRIVATE,
    D_ID_X,
    D_ID_Y,
    D_ID_Z,
    D_INFO,
    D_WORKITEM,
    D_ROUND_32,
    D_ROUND_16_64,
    D_DENORM_32,
    D_DENORM_16_64,
    D_DX10,
    D_IEEE,
    D_FP16_OVERFLOW,
    D_WGP,
    D_ORDERED,
    D_PROGRESS,
    D_SHARED_VGPR,
    D_EXC_INVALID,
    D_EXC_DENORM,
    D_EXC_DIV,
    D_EXC_OVERFLOW,
    D_EXC_UNDERFLOW,
    D_EXC_INEXACT,
    D_EXC_INT,
    D_NEXT_FREE_SGPR, /* without effect on gfx10 and later */
    D_RESERVE_VCC,
    D_RESERVE_XNACK,
    D_COUNT
};

static const struct {
    const char *name;
    long long initial; /* -1: follows from the others */
} directives[D_COUNT] = {
    [D_NEXT_FREE_VGPR] = {"next_free_vgpr", 0},
    [D_GROUP] = {"group_segment_fixed_size", 0},
    [D_PRIVATE] = {"private_segment_fixed_size", 0},
    [D_KERNARG] = {"kernarg_size", 0},
    [D_USER_COUNT] = {"user_sgpr_count", -1},
    [D_USER_DISPATCH_PTR] = {"user_sgpr_dispatch_ptr", 0},
    [D_USER_QUEUE_PTR] = {"user_sgpr_queue_ptr", 0},
    [D_USER_KERNARG_PTR] = {"user_sgpr_kernarg_segment_ptr", 0},
    [D_USER_DISPATCH_ID] = {"user_sgpr_dispatch_id", 0},
    [D_USER_PRIVATE_SIZE] = {"user_sgpr_private_segment_size", 0},
    [D_WAVE32] = {"wavefront_size32", -1},
    [D_DYNAMIC_STACK] = {"uses_dynamic_stack", 0},
    [D_ENABLE_PRIVATE] = {"enable_private_segment", 0},
    [D_ID_X] = {"system_sgpr_workgroup_id_x", 1},
    [D_ID_Y] = {"system_sgpr_workgroup_id_y", 0},
    [D_ID_Z] = {"system_sgpr_workgroup_id_z", 0},
    [D_INFO] = {"system_sgpr_workgroup_info", 0},
    [D_WORKITEM] = {"system_vgpr_workitem_id", 0},
    [D_ROUND_32] = {"float_round_mode_32", 0},
    [D_ROUND_16_64] = {"float_round_mode_16_64", 0},
    [D_DENORM_32] = {"float_denorm_mode_32", 0},
    [D_DENORM_16_64] = {"float_denorm_mode_16_64", 3},
    [D_DX10] = {"dx10_clamp", 1},
    [D_IEEE] = {"ieee_mode", 1},
    [D_FP16_OVERFLOW] = {"fp16_overflow", 0},
    [D_WGP] = {"workgroup_processor_mode", 1},
    [D_ORDERED] = {"memory_ordered", 1},
    [D_PROGRESS] = {"forward_progress", 0},
    [D_SHARED_VGPR] = {"shared_vgpr_count", 0},
    [D_EXC_INVALID] = {"exception_fp_ieee_invalid_op", 0},
    [D_EXC_DENORM] = {"exception_fp_denorm_src", 0},
    [D_EXC_DIV] = {"exception_fp_ieee_div_zero", 0},
    [D_EXC_OVERFLOW] = {"exception_fp_ieee_overflow", 0},
    [D_EXC_UNDERFLOW] = {"exception_fp_ieee_underflow", 0},
    [D_EXC_INEXACT] = {"exception_fp_ieee_inexact", 0},
    [D_EXC_INT] = {"exception_int_div_zero", 0},
    [D_NEXT_FREE_SGPR] = {"next_free_sgpr", 0},
    [D_RESERVE_VCC] = {"reserve_vcc", 1},
    [D_RESERVE_XNACK] = {"reserve_xnack_mask", 0},
};

struct row {
    long long value[D_COUNT];
    uint8_t kd[CO_KD_BYTES];
};

static void set_directive(struct row *row, const char *text)
{
    char name[80];
    long long value;
    char expr[80];
    ck_assert_msg(sscanf(text, " .amdhsa_%79s %79s", name, expr) == 2, "%s", text);
    /* N, N+M, or the symbol that counts the registers of code which has none */
    char *end;
    value = strtoll(expr, &end, 0);
    if (*end == '+')
        value += strtoll(end + 1, &end, 0);
    ck_assert_msg(*end == 0 || strncmp(expr, ".amdgcn.next_free_", 18) == 0, "%s",
                  text);
    for (int i = 0; i < D_COUNT; i++) {
        if (strcmp(directives[i].name, name) == 0) {
            row->value[i] = value;
            return;
        }
    }
    ck_abort_msg("no such directive: %s", name);
}

static void parse_row(const char *line, struct row *row)
{
    char *copy = strdup(line), *tab = NULL, *semi = NULL;
    char *list = strtok_r(copy, "\t", &tab);
    const char *hex = strtok_r(NULL, "\t", &tab), *wave = strtok_r(NULL, "\t", &tab);
    ck_assert_ptr_nonnull(wave);
    for (int i = 0; i < D_COUNT; i++)
        row->value[i] = directives[i].initial;
    row->value[D_WAVE32] = atoi(wave) == 32;
    for (char *d = strtok_r(list, ";", &semi); d; d = strtok_r(NULL, ";", &semi))
        set_directive(row, d);
    ck_assert_uint_eq(strlen(hex), 2 * CO_KD_BYTES);
    for (int i = 0; i < CO_KD_BYTES; i++) {
        unsigned byte;
        ck_assert_int_eq(sscanf(hex + 2 * i, "%2x", &byte), 1);
        row->kd[i] = (uint8_t)byte;
    }
    free(copy);
}

static void check_sgprs(const long long *v, const struct co_kernel_desc *d)
{
    static const struct {
        int directive;
        enum co_user_sgpr kind;
        unsigned size;
    } order[] = {
        {D_USER_DISPATCH_PTR, CO_USER_DISPATCH_PTR, 2},
        {D_USER_QUEUE_PTR, CO_USER_QUEUE_PTR, 2},
        {D_USER_KERNARG_PTR, CO_USER_KERNARG_PTR, 2},
        {D_USER_DISPATCH_ID, CO_USER_DISPATCH_ID, 2},
        {D_USER_PRIVATE_SIZE, CO_USER_PRIVATE_SEGMENT_SIZE, 1},
    };
    unsigned next = 0;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        bool on = v[order[i].directive] != 0;
        ck_assert_uint_eq(d->user_sgpr[order[i].kind], on ? next : CO_NO_SGPR);
        ck_assert_uint_eq(co_user_sgpr_size(order[i].kind), order[i].size);
        next += on ? order[i].size : 0;
    }
    ck_assert_uint_eq(d->user_sgpr[CO_USER_PRIVATE_SEGMENT_BUFFER], CO_NO_SGPR);
    ck_assert_uint_eq(d->user_sgpr[CO_USER_FLAT_SCRATCH_INIT], CO_NO_SGPR);
    if (v[D_USER_COUNT] >= 0)
        next = (unsigned)v[D_USER_COUNT];
    ck_assert_uint_eq(d->user_sgpr_count, next);
    for (int i = 0; i < CO_SYSTEM_SGPR_KINDS; i++) {
        bool on = v[D_ID_X + i] != 0;
        ck_assert_uint_eq(d->system_sgpr[i], on ? next : CO_NO_SGPR);
        next += on;
    }
    ck_assert_uint_eq(d->sgprs_initialised, next);
}

static void check_modes(const long long *v, const struct co_kernel_desc *d)
{
    ck_assert_int_eq(d->round_32, v[D_ROUND_32]);
    ck_assert_int_eq(d->round_16_64, v[D_ROUND_16_64]);
    ck_assert_int_eq(d->denorm_32, v[D_DENORM_32]);
    ck_assert_int_eq(d->denorm_16_64, v[D_DENORM_16_64]);
    ck_assert_int_eq(d->float_mode, v[D_ROUND_32] | v[D_ROUND_16_64] << 2 |
                                        v[D_DENORM_32] << 4 | v[D_DENORM_16_64] << 6);
    ck_assert_int_eq(d->dx10_clamp, v[D_DX10]);
    ck_assert_int_eq(d->ieee, v[D_IEEE]);
    ck_assert_int_eq(d->fp16_overflow, v[D_FP16_OVERFLOW]);
    ck_assert_int_eq(d->wgp_mode, v[D_WGP]);
    ck_assert_int_eq(d->mem_ordered, v[D_ORDERED]);
    ck_assert_int_eq(d->fwd_progress, v[D_PROGRESS]);
    long long mask = 0;
    for (int i = 0; i < 7; i++)
        mask |= v[D_EXC_INVALID + i] << i;
    ck_assert_int_eq(d->exceptions, mask);
}

START_TEST(vector)
{
    struct row row;
    struct co_kernel_desc d;
    parse_row(rows[_i], &row);
    co_kd_parse(row.kd, &d);
    const long long *v = row.value;

    ck_assert_int_eq(d.group_segment_bytes, v[D_GROUP]);
    ck_assert_int_eq(d.private_segment_bytes, v[D_PRIVATE]);
    ck_assert_int_eq(d.kernarg_bytes, v[D_KERNARG]);
    ck_assert_int_eq(d.entry_offset, 0);
    ck_assert_int_eq(d.wave, v[D_WAVE32] ? 32 : 64);
    ck_assert_int_eq(d.uses_dynamic_stack, v[D_DYNAMIC_STACK]);
    ck_assert_int_eq(d.private_segment, v[D_ENABLE_PRIVATE]);
    ck_assert_int_eq(d.workitem_id_dims, v[D_WORKITEM] < 2 ? v[D_WORKITEM] + 1 : 3);
    ck_assert_int_eq(d.shared_vgprs, v[D_SHARED_VGPR] * 8);

    long long granule = v[D_WAVE32] ? 8 : 4;
    long long want = v[D_NEXT_FREE_VGPR] > 0 ? v[D_NEXT_FREE_VGPR] : 1;
    ck_assert_int_eq(d.vgprs, (want + granule - 1) / granule * granule);
    ck_assert_int_eq(d.sgprs, 128);
    check_sgprs(v, &d);
    check_modes(v, &d);

    long long shared = v[D_WAVE32] ? 0 : d.shared_vgprs;
    bool fits =
        d.vgprs + shared <= 256 && v[D_GROUP] <= 65536 && d.user_sgpr_count <= 16;
    struct co_error err = {""};
    rd_status st = co_kd_check(&d, &err);
    ck_assert_msg((st == RD_OK) == fits, "%s: %s", rows[_i], err.text);
}
END_TEST

static void read_rows(void)
{
    char path[DATA_PATH];
    FILE *in = fopen(data_path(path, "vectors/kd_gfx1100.tsv"), "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    if (!in)
        return;
    while (n_rows < MAX_ROWS && (n = getline(&line, &room, in)) > 0) {
        if (line[0] == '#' || line[0] == '\n')
            continue;
        line[n - 1] = 0;
        rows[n_rows++] = strdup(line);
    }
    free(line);
    fclose(in);
}

int main(void)
{
    read_rows();
    if (n_rows < 200) {
        printf("%d rows of kd_gfx1100.tsv\n", n_rows);
        return 1;
    }
    Suite *suite = suite_create("kernel descriptor vectors");
    TCase *tc = tcase_create("rows");
    tcase_add_loop_test(tc, vector, 0, n_rows);
    suite_add_tcase(suite, tc);
    return suite_run_here(suite);
}
