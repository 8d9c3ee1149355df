/* valu.c: everything around a vector instruction's lane function: source rows, DPP,
 * modifiers, EXEC, float mode, clamp and omod, write-back. Compiled per SIMD level.
 *
 * It must not know any mnemonic: the predecoder (predecode.c) has put all that differs
 * into the micro-op. Invariants:
 *  - a source row is copied to wave.temp before it is changed; registers are written
 *    only at the end, under EXEC;
 *  - SGPR results (masks) of both halves of a wave64 are written after both passes.
 * SPDX-License-Identifier: MIT
 */
#include <immintrin.h>

#include "fp.h"
#include "row.h"
#include "sem_wrap.h"
#include "wave.h"

static uint32_t *dst_row(struct wave *w, unsigned row)
{
    return w->vgpr[w->half] + (size_t)row * ROW_DWORDS;
}

/* ---- source modifiers -------------------------------------------------------- */

/* VINTERP's source 2 comes from the first lane of each quad (manual 12.3). */
static const uint8_t quad_first[16] = {0, 0, 0, 0, 4,  4,  4,  4,
                                       8, 8, 8, 8, 12, 12, 12, 12};

static uint32_t dpp_write_mask(const struct udpp *dpp, unsigned half)
{
    unsigned bank = dpp->bank_mask, row = dpp->row_mask >> 2 * half;
    uint32_t lanes = (bank & 1 ? 0xfu : 0) | (bank & 2 ? 0xf0u : 0) |
                     (bank & 4 ? 0xf00u : 0) | (bank & 8 ? 0xf000u : 0);
    return (row & 1 ? lanes : 0) | (row & 2 ? lanes << 16 : 0);
}

/* Permute one row; lanes whose result must not be written are cleared in *write. */
static void dpp_row(const struct wave *w, const struct uop *u, unsigned i, uint32_t *d,
                    const uint32_t *s, uint32_t *write)
{
    const struct udpp *dpp = &u[1].dpp;
    const uint8_t *from = i == 2 ? quad_first : dpp->from;
    uint32_t exec = wave_exec(w), valid = dpp->valid | (uint32_t)dpp->valid << 16;
    if (!dpp->fi && exec != ~0u)
        valid = row_permute_mask(exec, from, valid);
    row_permute(d, s, from, valid);
    if (!dpp->bound_ctrl)
        *write &= valid;
    *write &= dpp_write_mask(dpp, w->half);
}

static void mod_float(uint32_t *d, const uint32_t *s, unsigned mods, uint32_t sign)
{
    uint32_t keep = mods & SM_ABS ? ~sign : ~0u, flip = mods & SM_NEG ? sign : 0;
    for (unsigned l = 0; l < 32; l++)
        d[l] = (s[l] & keep) ^ flip;
}

static void mod_packed(const struct uop *u, unsigned i, uint32_t *d, const uint32_t *s)
{
    unsigned lo = u->op_sel >> i & 1u ? 16 : 0, hi = u->pk.op_sel_hi >> i & 1u ? 16 : 0;
    uint32_t flip = u->s[i].mods & SM_NEG
                        ? (u->pk.neg >> i & 1u ? 0x8000u : 0) |
                              (u->pk.neg_hi >> i & 1u ? 0x80000000u : 0)
                        : 0;
    for (unsigned l = 0; l < 32; l++)
        d[l] = ((s[l] >> lo & 0xffffu) | (s[l] >> hi) << 16) ^ flip;
}

/* v_fma_mix*: op_sel_hi selects an f16 half (which: op_sel), else f32; neg_hi is abs.
 */
static void mod_mix(const struct uop *u, unsigned i, uint32_t *d, const uint32_t *s)
{
    unsigned shift = u->op_sel >> i & 1u ? 16 : 0;
    bool half = u->pk.op_sel_hi >> i & 1u;
    uint32_t keep = u->pk.neg_hi >> i & 1u ? 0x7fffffffu : ~0u;
    uint32_t flip = u->pk.neg >> i & 1u ? 0x80000000u : 0;
    for (unsigned l = 0; l < 32; l++) {
        uint32_t v = half ? bits_of_f32(f16_to_f32((F16)(s[l] >> shift))) : s[l];
        d[l] = (v & keep) ^ flip;
    }
}

static const uint32_t *modify(struct wave *w, const struct uop *u, unsigned i,
                              const uint32_t *s, uint32_t *write)
{
    const struct usrc *src = &u->s[i];
    uint32_t *d = temp_row(w, TEMP_SRC0 + 2 * i);
    unsigned mods = src->mods;
    if (mods & SM_SWIZ) {
        dpp_row(w, u, i, d, s, write);
        if (src->dwords == 2)
            dpp_row(w, u, i, d + ROW_DWORDS, s + ROW_DWORDS, write);
        s = d;
    }
    if (mods & SM_PK) {
        mod_packed(u, i, d, s);
        return d;
    }
    if (mods & SM_MIX) {
        mod_mix(u, i, d, s);
        return d;
    }
    if (mods & SM_HI16) {
        for (unsigned l = 0; l < 32; l++)
            d[l] = s[l] >> 16;
        s = d;
    }
    if (!(mods & (SM_ABS | SM_NEG)))
        return s;
    if ((mods & SM_PAIR) == SM_PAIR) {
        mod_float(d, s, mods, 0x80008000u);
    } else if (mods & SM_F64) {
        mod_float(d + ROW_DWORDS, s + ROW_DWORDS, mods, 0x80000000u);
        if (s != d)
            row_copy(d, s, 1);
    } else {
        mod_float(d, s, mods, mods & SM_LO16 ? 0x8000u : 0x80000000u);
    }
    return d;
}

/* Fill the temp rows of a source that is no row: an SGPR, a mask, a special value. */
static inline void prepare_source(struct wave *w, const struct usrc *s)
{
    uint32_t *t = temp_row(w, s->row);
    if (s->prep == PREP_MASK) {
        row_from_mask(t, w->sgpr[s->sel + w->half]);
    } else {
        uint64_t value = s->prep == PREP_SGPR && s->dwords == 1 ? w->sgpr[s->sel]
                                                                : scalar_value(w, s);
        row_fill(t, (uint32_t)value);
        if (s->dwords == 2)
            row_fill(t + ROW_DWORDS, (uint32_t)(value >> 32));
    }
}

/* Bring source i into a row (two rows for 64-bit sources). */
static inline const uint32_t *source(struct wave *w, const struct uop *u, unsigned i,
                                     uint32_t *write)
{
    const struct usrc *s = &u->s[i];
    if (s->prep != PREP_NONE)
        prepare_source(w, s);
    const uint32_t *row = src_row(w, s);
    return s->mods ? modify(w, u, i, row, write) : row;
}

/* ---- results ----------------------------------------------------------------- */

static float omod_factor(unsigned omod)
{
    return omod == 1 ? 2.0f : omod == 2 ? 4.0f : omod == 3 ? 0.5f : 1.0f;
}

/* Clamp on bits: denormal results stay, also where MODE flushes denormal inputs. */
static uint32_t clamp_f32(uint32_t u, bool dx10_clamp)
{
    if ((u & 0x7fffffffu) > 0x7f800000u)
        return dx10_clamp ? 0 : u;
    return u & 0x80000000u ? 0 : u > 0x3f800000u ? 0x3f800000u : u;
}

static uint64_t clamp_f64(uint64_t u, bool dx10_clamp)
{
    const uint64_t sign = UINT64_C(1) << 63, inf = UINT64_C(0x7ff) << 52,
                   one = UINT64_C(0x3ff) << 52;
    if ((u & ~sign) > inf)
        return dx10_clamp ? 0 : u;
    return u & sign ? 0 : u > one ? one : u;
}

/* omod, then clamp to [0,1]; NaN becomes 0 if DX10_CLAMP (manual 7.2.3). omod is
 * ignored in IEEE mode and when output denormals are kept. */
static void finish_f32(const struct wave *w, const struct uop *u, uint32_t *d)
{
    bool omod = u->omod && !w->mode.ieee && !(w->mode.denorm32 & 2);
    float factor = omod ? omod_factor(u->omod) : 1.0f;
    for (unsigned l = 0; l < 32; l++) {
        float f = f32_of_bits(d[l]);
        if (omod) {
            f = f * factor;
            f = f == 0.0f ? 0.0f : f; /* -0 becomes +0, however MODE rounds */
        }
        d[l] = bits_of_f32(f);
        if (u->flags & UF_CLAMPF)
            d[l] = clamp_f32(d[l], w->mode.dx10_clamp);
    }
}

static void finish_f64(const struct wave *w, const struct uop *u, uint32_t *d)
{
    bool omod = u->omod && !w->mode.ieee && !(w->mode.denorm64 & 2);
    double factor = omod ? (double)omod_factor(u->omod) : 1.0;
    for (unsigned l = 0; l < 32; l++) {
        double f = f64_of_bits(row64(d, l));
        if (omod) {
            f = f * factor;
            f = f == 0.0 ? 0.0 : f;
        }
        uint64_t bits = bits_of_f64(f);
        if (u->flags & UF_CLAMPF)
            bits = clamp_f64(bits, w->mode.dx10_clamp);
        put64(d, l, bits);
    }
}

static F16 clamp_f16(F16 h, bool dx10_clamp)
{
    bool nan = (h & 0x7fffu) > 0x7c00u;
    if (nan)
        return dx10_clamp ? 0 : h;
    return h & 0x8000u ? 0 : h > 0x3c00u ? 0x3c00u : h;
}

static void finish_f16(const struct wave *w, const struct uop *u, uint32_t *d)
{
    bool omod = u->omod && !w->mode.ieee && !(w->mode.denorm64 & 2);
    float factor = omod ? omod_factor(u->omod) : 1.0f;
    for (unsigned l = 0; l < 32; l++) {
        F16 h = (F16)d[l];
        if (omod) {
            h = f32_to_f16(f16_to_f32(h) * factor, &w->mode);
            h = h == 0x8000u ? 0 : h;
        }
        if (u->flags & UF_CLAMPF)
            h = clamp_f16(h, w->mode.dx10_clamp);
        d[l] = h;
    }
}

static void finish_packed(const struct wave *w, uint32_t *d)
{
    for (unsigned l = 0; l < 32; l++)
        d[l] = clamp_f16((F16)d[l], w->mode.dx10_clamp) |
               (uint32_t)clamp_f16((F16)(d[l] >> 16), w->mode.dx10_clamp) << 16;
}

static void finish(const struct wave *w, const struct uop *u, uint32_t *d)
{
    if (u->flags & UF_PKRES)
        finish_packed(w, d);
    else if (u->flags & UF_F16RES)
        finish_f16(w, u, d);
    else if (u->flags & UF_F64RES) {
        _mm_setcsr(w->mxcsr64);
        __asm__ volatile("" ::: "memory");
        finish_f64(w, u, d);
        __asm__ volatile("" ::: "memory");
        _mm_setcsr(w->mxcsr32);
    } else
        finish_f32(w, u, d);
}

static void merge16(uint32_t *d, const uint32_t *s, uint32_t mask, bool hi)
{
    uint32_t keep = hi ? 0x0000ffffu : 0xffff0000u, t[ROW_DWORDS];
    unsigned shift = hi ? 16 : 0;
    for (unsigned l = 0; l < 32; l++)
        t[l] = (d[l] & keep) | (s[l] & 0xffffu) << shift;
    row_merge(d, t, mask);
}

#define MXCSR_RTZ (3u << 13)

/* Run the row function under the float mode its types ask for. */
static inline void call_row(const struct wave *w, const struct uop *u, uint32_t *d,
                            uint32_t *dm, const uint32_t *const s[3])
{
    struct lane_mode mode;
    const struct lane_mode *m = &w->mode;
    if (u->flags & UF_MODS) {
        mode = w->mode;
        mode.neg = u->pk.neg;
        mode.neg_hi = u->pk.neg_hi;
        mode.clamp = u->pk.clamp;
        mode.op_sel = u->op_sel;
        m = &mode;
    }
    unsigned mxcsr = u->flags & UF_DP ? w->mxcsr64 : w->mxcsr32;
    mxcsr |= u->flags & UF_RTZ ? MXCSR_RTZ : 0;
    if (mxcsr != w->mxcsr32) {
        _mm_setcsr(mxcsr);
        __asm__ volatile("" ::: "memory");
        u->op.row(d, dm, s[0], s[1], s[2], m);
        __asm__ volatile("" ::: "memory");
        _mm_setcsr(w->mxcsr32);
    } else {
        u->op.row(d, dm, s[0], s[1], s[2], m);
    }
}

/* For a mnemonic's own handler: false if the host's float mode is not the
 * instruction's. */
static bool prepare(struct wave *w, const struct uop *u)
{
    if ((u->flags & UF_DP) && w->mxcsr64 != w->mxcsr32)
        return false;
    for (unsigned i = 0; i < u->n_src; i++)
        if (u->s[i].prep)
            prepare_source(w, &u->s[i]);
    return true;
}

/* ---- handlers ---------------------------------------------------------------- */

static inline void fast_pass(struct wave *w, const struct uop *u)
{
    uint32_t exec = wave_exec(w);
    if (!exec)
        return;
    const uint32_t *const s[3] = {src_row(w, &u->s[0]), src_row(w, &u->s[1]),
                                  src_row(w, &u->s[2])};
    uint32_t *d = dst_row(w, u->d);
    if (exec == ~0u) {
        call_row(w, u, d, NULL, s);
        return;
    }
    uint32_t *t = temp_row(w, TEMP_RESULT);
    call_row(w, u, t, NULL, s);
    row_merge(d, t, exec);
    if (u->flags & UF_DST64)
        row_merge(d + ROW_DWORDS, t + ROW_DWORDS, exec);
}

/* Plain rows in, one value out: no modifiers, no scalar sources. */
static const struct uop *valu_fast(struct wave *w, const struct uop *u)
{
    fast_pass(w, u);
    if (w->wave64) {
        select_half(w, 1);
        fast_pass(w, u);
        select_half(w, 0);
    }
    return uop_next(u);
}

static inline void plain_pass(struct wave *w, const struct uop *u)
{
    uint32_t exec = wave_exec(w), write = exec;
    const uint32_t *s[3] = {0};
    if (!exec)
        return;
    for (unsigned i = 0; i < u->n_src; i++)
        s[i] = source(w, u, i, &write);
    uint32_t *d = dst_row(w, u->d), *t = temp_row(w, TEMP_RESULT);
    if (exec == ~0u) {
        call_row(w, u, d, NULL, s);
        return;
    }
    call_row(w, u, t, NULL, s);
    row_merge(d, t, exec);
    if (u->flags & UF_DST64)
        row_merge(d + ROW_DWORDS, t + ROW_DWORDS, exec);
}

/* Scalar or modified sources, a plain result. */
static const struct uop *valu_plain(struct wave *w, const struct uop *u)
{
    plain_pass(w, u);
    if (w->wave64) {
        select_half(w, 1);
        plain_pass(w, u);
        select_half(w, 0);
    }
    return uop_next(u);
}

static uint32_t any_pass(struct wave *w, const struct uop *u, uint32_t *exec_out)
{
    uint32_t write = wave_exec(w);
    const uint32_t *s[3] = {0};
    *exec_out = write;
    if (!write)
        return 0;
    for (unsigned i = 0; i < u->n_src; i++)
        s[i] = source(w, u, i, &write);
    uint32_t *t = temp_row(w, TEMP_RESULT), *dm = temp_row(w, TEMP_MASK);
    if (u->flags & UF_VCC_IN)
        row_from_mask(dm, w->sgpr[ISA_SEL_VCC_LO + w->half]);
    call_row(w, u, t, dm, s);
    *exec_out = write;
    if (!(u->flags & UF_NO_VALUE)) {
        if (u->omod || (u->flags & UF_CLAMPF))
            finish(w, u, t);
        uint32_t *d = dst_row(w, u->d);
        if (u->flags & UF_DST16)
            merge16(d, t, write, u->flags & UF_DSTHI);
        else
            row_merge(d, t, write);
        if (u->flags & UF_DST64)
            row_merge(d + ROW_DWORDS, t + ROW_DWORDS, write);
    }
    return u->flags & UF_MASK_OUT ? row_to_mask(dm) & write : 0;
}

/* The general case: scalar sources, DPP, modifiers, masks, 16-bit results. */
static const struct uop *valu_any(struct wave *w, const struct uop *u)
{
    uint32_t mask[2] = {0}, exec;
    mask[0] = any_pass(w, u, &exec);
    if (w->wave64) {
        select_half(w, 1);
        mask[1] = any_pass(w, u, &exec);
        select_half(w, 0);
    }
    if (u->flags & UF_MASK_OUT) {
        w->sgpr[u->d2] = mask[0];
        if (w->wave64)
            w->sgpr[u->d2 + 1] = mask[1];
    }
    return uop_next(u);
}

/* All lanes, plain rows, and Y does not read what X writes. */
static inline void vopd_rows(struct wave *w, const struct uop *u, const struct uop *y)
{
    const uint32_t *const sx[3] = {src_row(w, &u->s[0]), src_row(w, &u->s[1]),
                                   src_row(w, &u->s[2])};
    const uint32_t *const sy[3] = {src_row(w, &y->s[0]), src_row(w, &y->s[1]),
                                   src_row(w, &y->s[2])};
    call_row(w, u, dst_row(w, u->d), NULL, sx);
    call_row(w, y, dst_row(w, y->d), NULL, sy);
}

/* Both halves of a VOPD read their sources before either writes (manual 7.6). */
static const struct uop *valu_vopd(struct wave *w, const struct uop *u)
{
    const struct uop *y = u + 1;
    uint32_t exec = wave_exec(w), write = exec;
    const uint32_t *s[3] = {0};
    if (exec == ~0u && (u->flags & UF_ROWS)) {
        vopd_rows(w, u, y);
        return uop_next(u);
    }
    if (!exec)
        return uop_next(u);
    for (unsigned i = 0; i < u->n_src; i++)
        s[i] = source(w, u, i, &write);
    bool direct = exec == ~0u && (u->flags & UF_DIRECT);
    uint32_t *dx = dst_row(w, u->d), *dy = dst_row(w, y->d);
    uint32_t *tx = direct ? dx : temp_row(w, TEMP_RESULT);
    uint32_t *ty = exec == ~0u ? dy : temp_row(w, TEMP_RESULT_Y);
    call_row(w, u, tx, NULL, s);
    for (unsigned i = 0; i < y->n_src; i++)
        s[i] = source(w, y, i, &write);
    call_row(w, y, ty, NULL, s);
    if (exec != ~0u) {
        row_merge(dx, tx, exec);
        row_merge(dy, ty, exec);
    } else if (!direct) {
        row_copy(dx, tx, 1);
    }
    return uop_next(u);
}

static uint32_t valu_operands(struct wave *w, const struct uop *u,
                              const uint32_t *rows[3])
{
    uint32_t write = wave_exec(w);
    for (unsigned i = 0; i < u->n_src; i++)
        rows[i] = source(w, u, i, &write);
    return write;
}

static bool rows_overlap(const uint32_t *a, unsigned na, const uint32_t *b, unsigned nb)
{
    return a < b + (size_t)nb * ROW_DWORDS && b < a + (size_t)na * ROW_DWORDS;
}

_Static_assert(TEMP_FACTORS_ROWS *ROW_DWORDS == MATRIX_FACTORS_DWORDS,
               "factors have their place");

/* WMMA: EXEC is ignored; sources that overlap D in part are copied first. */
static const struct uop *valu_matrix(struct wave *w, const struct uop *u)
{
    struct lane_mode mode = w->mode;
    mode.neg = u->pk.neg;
    mode.neg_hi = u->pk.neg_hi;
    mode.clamp = u->pk.clamp;
    mode.op_sel = u->op_sel;
    struct matrix_io io = {.halves = w->halves, .mode = &mode};
    for (unsigned i = 0; i < 2; i++)
        io.factors[i] = (void *)temp_row(w, TEMP_FACTORS + i * TEMP_FACTORS_ROWS);
    const uint32_t **operand[3] = {io.a, io.b, io.c};
    /* wave64 has half the registers for C and D: two passes share the copies */
    uint32_t copy[3][2][8 * ROW_DWORDS];
    for (unsigned h = 0; h < w->halves; h++) {
        select_half(w, h);
        io.d[h] = dst_row(w, u->d);
        for (unsigned i = 0; i < 3; i++) {
            const uint32_t *s = src_row(w, &u->s[i]);
            unsigned n = u->s[i].dwords;
            operand[i][h] = s;
            if (s != io.d[h] && rows_overlap(s, n, io.d[h], 8)) {
                row_copy(copy[i][h], s, n);
                operand[i][h] = copy[i][h];
            }
        }
    }
    select_half(w, 0);
    u->op.matrix(&io);
    return uop_next(u);
}

/* The handlers leave the upper halves of vector registers dirty (CMakeLists.txt). */
static void leave(void)
{
#ifdef __AVX__
    _mm256_zeroupper();
#endif
}

#if defined(__AVX512F__)
typedef __m512i fill_part;
#elif defined(__AVX2__)
typedef __m256i fill_part;
#else
typedef __m128i fill_part;
#endif
#define PARTS (4 * ROW_DWORDS / sizeof(fill_part))

/* As wide as what will read the rows, which would else wait until they are in the
 * cache. Not by memset, a string instruction: the first loads would wait until that has
 * ended.
 */
static void fill(uint32_t *rows, const uint32_t *first, unsigned n)
{
    volatile fill_part *to = (volatile fill_part *)rows;
    fill_part part[PARTS];
    memcpy(part, first, sizeof part);
    for (unsigned i = 0; i < PARTS; i++)
        to[i] = part[i];
    for (size_t i = PARTS; i < n * PARTS; i++)
        to[i] = (fill_part){0};
    leave();
}

#define X(file) extern const struct sem_entry SEM_LEVEL(entries_##file)[];
#include "sem_files.def"
#undef X

static const struct sem_entry *const all_entries[] = {
#define X(file) SEM_LEVEL(entries_##file),
#include "sem_files.def"
#undef X
    NULL,
};

extern sem_wave_fn SEM_LEVEL(vmem_load), SEM_LEVEL(vmem_store), SEM_LEVEL(vmem_atomic),
    SEM_LEVEL(ds_load), SEM_LEVEL(ds_store), SEM_LEVEL(ds_atomic);
extern accesses_fn SEM_LEVEL(accesses);

#define LEVEL_NAME2(s) #s
#define LEVEL_NAME(s)  LEVEL_NAME2(s)

const struct level_ops SEM_PASTE(level, SEM_SUFFIX) = {
    .name = LEVEL_NAME(SEM_SUFFIX),
    .entries = all_entries,
    .prepare = prepare,
    .leave = leave,
    .fill = fill,
    .valu_fast = valu_fast,
    .valu_plain = valu_plain,
    .valu_any = valu_any,
    .valu_vopd = valu_vopd,
    .valu_matrix = valu_matrix,
    .vmem_load = SEM_LEVEL(vmem_load),
    .vmem_store = SEM_LEVEL(vmem_store),
    .vmem_atomic = SEM_LEVEL(vmem_atomic),
    .ds_load = SEM_LEVEL(ds_load),
    .ds_store = SEM_LEVEL(ds_store),
    .ds_atomic = SEM_LEVEL(ds_atomic),
    .valu_operands = valu_operands,
    .accesses = SEM_LEVEL(accesses),
};
