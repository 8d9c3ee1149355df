/* arena.c: see arena.h. Only the public interfaces of emulator and assembler are used.
 *
 * Invariant: addresses do not change between engines, so that registers that hold
 * addresses can be compared too.
 * SPDX-License-Identifier: MIT
 */
#include "arena.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "isa_asm.h"

#define SHARED_BYTES 4096u
#define CODE_BYTES   (128u << 10)
#define FRAME_BYTES  (32u << 10)

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "arena: %s\n", what);
    abort();
}

static void *map(size_t bytes)
{
    void *p =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(p != MAP_FAILED, "no memory");
    return p;
}

unsigned arena_assemble(const char *text, unsigned lanes, uint8_t *code)
{
    struct isa_asm_options options = {.wave = lanes};
    struct isa_asm_error err;
    struct isa_fixup fixup;
    unsigned bytes;
    rd_status st =
        isa_assemble(text, strlen(text), &options, code, &bytes, &fixup, &err);
    if (st != RD_OK)
        fprintf(stderr, "%s\n%u: %s\n", text, err.column, err.text);
    must(st == RD_OK, "a statement does not assemble");
    return bytes;
}

/* A frame under construction. */
struct frame {
    uint8_t *code;
    size_t n;
    unsigned lanes;
};

__attribute__((format(printf, 2, 3))) static void line(struct frame *f, const char *fmt,
                                                       ...)
{
    char text[128];
    uint8_t code[20];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    unsigned n = arena_assemble(text, f->lanes, code);
    must(f->n + n <= FRAME_BYTES, "the frame is too long");
    memcpy(f->code + f->n, code, n);
    f->n += n;
}

#define AT(member) ((unsigned)offsetof(struct block, member))

/* v80: 4 * lane */
static void lane_offset(struct frame *f)
{
    line(f, "s_mov_b32 exec_lo, -1");
    line(f, "s_mov_b32 exec_hi, -1");
    line(f, "v_mbcnt_lo_u32_b32 v80, -1, 0");
    line(f, "v_mbcnt_hi_u32_b32 v80, -1, v80");
    line(f, "v_lshlrev_b32 v80, 2, v80");
}

static void vector_rows(struct frame *f, bool load)
{
    for (unsigned i = 0; i < FREE_VGPRS; i++) {
        if (i && i % 16 == 0)
            line(f, "v_add_nc_u32 v80, 0x1000, v80");
        if (load)
            line(f, "global_load_b32 v%u, v80, s[80:81] offset:%u", i, i % 16 * 256);
        else
            line(f, "global_store_b32 v80, v%u, s[84:85] offset:%u", i, i % 16 * 256);
    }
}

/* s[0:1]: blocks, s2: log2 of the lanes, s3: waves of a group, s4: group */
static void write_prologue(struct frame *f)
{
    line(f, "v_readfirstlane_b32 s5, v0");
    line(f, "s_lshr_b32 s5, s5, s2");
    line(f, "s_mul_i32 s6, s4, s3");
    line(f, "s_add_u32 s6, s6, s5");
    line(f, "s_mul_i32 s6, s6, 0x%zx", sizeof(struct block));
    line(f, "s_add_u32 s80, s0, s6");
    line(f, "s_addc_u32 s81, s1, 0");
    line(f, "s_add_u32 s82, s80, 0x%x", AT(data) + DATA_BYTES / 4);
    line(f, "s_addc_u32 s83, s81, 0");
    lane_offset(f);
    vector_rows(f, true);
    for (unsigned i = 0; i < SCRATCH_BYTES; i += 16) /* its contents are undefined */
        line(f, "scratch_store_b128 off, v[%u:%u], off offset:%u", i / 16, i / 16 + 3,
             i);
    for (unsigned i = 0; i < FREE_SGPRS; i += 16)
        line(f, "s_load_b512 s[%u:%u], s[80:81], 0x%x", i, i + 15, AT(in.s) + 4 * i);
    line(f, "s_load_b256 s[64:71], s[80:81], 0x%x", AT(in.vcc));
    line(f, "s_load_b256 s[88:95], s[80:81], 0x%x", AT(resource));
    line(f, "s_load_b256 s[72:79], s[80:81], 0x%x", AT(resource) + 32);
    line(f, "s_load_b64 s[98:99], s[80:81], 0x%x", AT(resource) + 80);
    line(f, "s_waitcnt 0");
    line(f, "s_mov_b32 vcc_lo, s64");
    line(f, "s_mov_b32 vcc_hi, s65");
    line(f, "s_mov_b32 m0, s66");
    line(f, "s_mov_b32 s96, s67");
    line(f, "s_mov_b32 exec_lo, s68");
    line(f, "s_mov_b32 exec_hi, s69");
    line(f, "s_setreg_b32 hwreg(HW_REG_MODE), s70");
    line(f, "s_load_b128 s[68:71], s[80:81], 0x%x", AT(resource) + 64);
    line(f, "s_waitcnt 0");
    line(f, "s_cmp_lg_u32 s96, 0");
}

static void store_scalar(struct frame *f, const char *name, unsigned at)
{
    line(f, "v_mov_b32 v82, %s", name);
    line(f, "global_store_b32 v81, v82, s[84:85] offset:%u", at - AT(out.s));
}

static void store_scalars(struct frame *f)
{
    static const struct {
        const char *name;
        unsigned at;
    } others[] = {{"vcc_lo", AT(out.vcc)}, {"vcc_hi", AT(out.vcc) + 4},
                  {"m0", AT(out.m0)},      {"s64", AT(out.scc)},
                  {"s65", AT(out.exec)},   {"s66", AT(out.exec) + 4},
                  {"s67", AT(out.mode)}};
    char name[8];
    line(f, "s_mov_b32 exec_lo, 1");
    line(f, "s_mov_b32 exec_hi, 0");
    line(f, "v_mov_b32 v81, 0x%x", AT(out.s) - AT(out));
    for (unsigned i = 0; i < FREE_SGPRS; i++) {
        snprintf(name, sizeof name, "s%u", i);
        store_scalar(f, name, AT(out.s) + 4 * i);
    }
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        store_scalar(f, others[i].name, others[i].at);
}

static void write_epilogue(struct frame *f)
{
    line(f, "s_cselect_b32 s64, 1, 0");
    line(f, "s_mov_b32 s65, exec_lo");
    line(f, "s_mov_b32 s66, exec_hi");
    line(f, "s_getreg_b32 s67, hwreg(HW_REG_MODE)");
    line(f, "s_add_u32 s84, s80, 0x%x", AT(out));
    line(f, "s_addc_u32 s85, s81, 0");
    lane_offset(f);
    vector_rows(f, false);
    line(f, "s_barrier"); /* nobody changes LDS any more */
    lane_offset(f);
    line(f, "v_add_nc_u32 v81, 0x%x, v80", AT(lds) - AT(out));
    for (unsigned i = 0; i < LDS_BYTES; i += 4 * f->lanes) {
        line(f, "ds_load_b32 v82, v80 offset:%u", i);
        line(f, "s_waitcnt 0");
        line(f, "global_store_b32 v81, v82, s[84:85] offset:%u", i);
    }
    store_scalars(f);
    line(f, "s_barrier"); /* the last one to end may not change what others dump */
    line(f, "s_endpgm");
}

/* ---- memory -------------------------------------------------------------------------
 */

struct arena *arena_create(void)
{
    struct arena *a = calloc(1, sizeof *a);
    must(a != NULL, "no memory");
    a->blocks = map(MAX_WAVES * sizeof *a->blocks);
    a->initial = map(MAX_WAVES * sizeof *a->blocks);
    a->first = map(MAX_WAVES * sizeof *a->blocks);
    a->shared = map(SHARED_BYTES);
    a->shared_initial = map(SHARED_BYTES);
    a->shared_first = map(SHARED_BYTES);
    a->code = map(CODE_BYTES);
    for (unsigned i = 0; i < 2; i++) {
        struct frame f = {map(FRAME_BYTES), 0, i ? 64 : 32};
        write_prologue(&f);
        a->text[i] = f.code;
        a->prologue[i] = f.n;
        f = (struct frame){map(FRAME_BYTES), 0, i ? 64 : 32};
        write_epilogue(&f);
        a->tail[i] = f.code;
        a->epilogue_bytes[i] = f.n;
    }
    return a;
}

void arena_destroy(struct arena *a)
{
    munmap(a->blocks, MAX_WAVES * sizeof *a->blocks);
    munmap(a->initial, MAX_WAVES * sizeof *a->blocks);
    munmap(a->first, MAX_WAVES * sizeof *a->blocks);
    munmap(a->shared, SHARED_BYTES);
    munmap(a->shared_initial, SHARED_BYTES);
    munmap(a->shared_first, SHARED_BYTES);
    munmap(a->code, CODE_BYTES);
    for (unsigned i = 0; i < 2; i++) {
        munmap(a->text[i], FRAME_BYTES);
        munmap(a->tail[i], FRAME_BYTES);
    }
    free(a);
}

static void set_field(uint32_t *words, unsigned at, unsigned n, uint64_t v)
{
    for (unsigned i = 0; i < n; i++)
        words[(at + i) / 32] |= (uint32_t)(v >> i & 1) << (at + i) % 32;
}

/* Fields at the bits that the manual gives (8.2, 9.4, 10.5, 10.6). */
void arena_resources(struct arena *a, unsigned wave)
{
    struct block *b = &a->blocks[wave];
    uint64_t data = (uint64_t)(uintptr_t)b->data;
    uint64_t shared = (uint64_t)(uintptr_t)a->shared;
    uint32_t *r = b->resource;
    memset(r, 0, sizeof b->resource);
    const uint32_t rgba = 4 | 5 << 3 | 6 << 6 | 7 << 9;
    r[0] = (uint32_t)data; /* raw: bytes, out of range beyond the buffer */
    r[1] = (uint32_t)(data >> 32);
    r[2] = DATA_BYTES;
    r[3] = rgba | 22u << 12 | 3u << 28;
    r[4] = (uint32_t)data; /* records of 16 bytes */
    r[5] = (uint32_t)(data >> 32) | 16u << 16;
    r[6] = DATA_BYTES / 16 - 64; /* room for SGPR offsets */
    r[7] = rgba | 22u << 12;
    uint32_t *t = r + 8; /* 32 x 32 texels of 8_8_8_8 unorm, two slices */
    set_field(t, 0, 40, data >> 8);
    set_field(t, 52, 8, 42);
    set_field(t, 62, 14, 31);
    set_field(t, 78, 14, 31);
    set_field(t, 96, 12, rgba);
    set_field(t, 124, 4, 9);
    r[16] = 2u | 1u << 3 | 6u << 6; /* sampler: clamp, mirror, border; linear */
    set_field(r + 16, 44, 12, 0xfff);
    set_field(r + 16, 84, 2, 1);
    set_field(r + 16, 86, 2, 1);
    r[20] = (uint32_t)shared;
    r[21] = (uint32_t)(shared >> 32);
}

size_t arena_place(struct arena *a, unsigned lanes, const uint8_t *body, size_t bytes)
{
    unsigned i = lanes == 64;
    must(a->prologue[i] + bytes + a->epilogue_bytes[i] <= CODE_BYTES,
         "the body is too long");
    a->body_bytes = bytes;
    memcpy(a->code, a->text[i], a->prologue[i]);
    memcpy(a->code + a->prologue[i], body, bytes);
    memcpy(a->code + a->prologue[i] + bytes, a->tail[i], a->epilogue_bytes[i]);
    return a->prologue[i];
}

static size_t block_bytes(const struct shape *shape)
{
    return (size_t)shape->groups * shape->waves * sizeof(struct block);
}

void arena_keep_initial(struct arena *a, const struct shape *shape)
{
    memcpy(a->initial, a->blocks, block_bytes(shape));
    memcpy(a->shared_initial, a->shared, SHARED_BYTES);
}

void arena_restore(struct arena *a, const struct shape *shape)
{
    memcpy(a->blocks, a->initial, block_bytes(shape));
    memcpy(a->shared, a->shared_initial, SHARED_BYTES);
}

void arena_keep_first(struct arena *a, const struct shape *shape)
{
    memcpy(a->first, a->blocks, block_bytes(shape));
    memcpy(a->shared_first, a->shared, SHARED_BYTES);
}

static void name_of_byte(size_t at, unsigned lanes, char *text, size_t size)
{
    if (at >= AT(data))
        snprintf(text, size, "data[%zu]", at - AT(data));
    else if (at >= AT(lds))
        snprintf(text, size, "lds[%zu]", at - AT(lds));
    else if (at >= AT(out.vcc))
        snprintf(text, size, "scalar %zu of vcc, m0, scc, exec, mode",
                 (at - AT(out.vcc)) / 4);
    else if (at >= AT(out.s))
        snprintf(text, size, "s%zu", (at - AT(out.s)) / 4);
    else if (at >= AT(out))
        snprintf(text, size, "v%zu lane %zu of %u", (at - AT(out)) / 256,
                 (at - AT(out)) % 256 / 4, lanes);
    else
        snprintf(text, size, "input byte %zu", at);
}

bool arena_differs(const struct arena *a, const struct shape *shape, char *text,
                   size_t size)
{
    const uint8_t *x = (const uint8_t *)a->first, *y = (const uint8_t *)a->blocks;
    size_t n = block_bytes(shape);
    if (memcmp(a->shared, a->shared_first, SHARED_BYTES) != 0) {
        snprintf(text, size, "shared memory");
        return true;
    }
    if (memcmp(x, y, n) == 0)
        return false;
    size_t i = 0;
    while (x[i] == y[i])
        i++;
    i -= i % 4;
    char name[64];
    uint32_t was, is;
    memcpy(&was, x + i, 4);
    memcpy(&is, y + i, 4);
    name_of_byte(i % sizeof(struct block), shape->lanes, name, sizeof name);
    snprintf(text, size, "wave %zu, %s: %08x, first engine %08x",
             i / sizeof(struct block), name, is, was);
    return true;
}

/* ---- engines ------------------------------------------------------------------------
 */

static void add(struct emu *emu, void *p, size_t bytes, unsigned perm, const char *name)
{
    must(emu_mem_add(emu, (uint64_t)(uintptr_t)p, bytes, perm, name) == RD_OK, name);
}

#define INTERP .threads = 1, .engine = EMU_ENGINE_INTERP
/* every block at its first execution */
#define NATIVE .threads = 1, .engine = EMU_ENGINE_JIT, .native_hot = 1
static void create(struct engine *engines, struct arena *a,
                   const struct emu_observer *observer, bool exact_dots)
{
    static const struct {
        const char *name;
        struct emu_config config;
    } ways[ENGINE_COUNT] = {
        [ENGINE_GENERIC] = {"generic", {INTERP, .simd = EMU_SIMD_GENERIC}},
        [ENGINE_AVX2] = {"avx2", {INTERP, .simd = EMU_SIMD_AVX2}},
        [ENGINE_AVX512] = {"avx512", {INTERP, .simd = EMU_SIMD_AVX512}},
        [ENGINE_THREADS] = {"two threads", {.threads = 2}},
        [ENGINE_STEPPED] = {"stepped", {.threads = 1}},
        [ENGINE_OBSERVED] = {"observed", {.threads = 1}},
        [ENGINE_NATIVE_AVX2] = {"native avx2", {NATIVE, .simd = EMU_SIMD_AVX2}},
        [ENGINE_NATIVE_AVX512] = {"native avx512", {NATIVE, .simd = EMU_SIMD_AVX512}},
        [ENGINE_NATIVE_COUNTED] = {"native counted", {NATIVE, .count = true}},
    };
    for (unsigned i = 0; i < ENGINE_COUNT; i++) {
        struct engine *e = &engines[i];
        *e = (struct engine){.name = ways[i].name, .stepped = i == ENGINE_STEPPED};
        struct emu_config config = ways[i].config;
        config.exact_dots = exact_dots;
        rd_status st = emu_create(&config, &e->emu);
        if (st == RD_E_UNSUPPORTED) {
            e->emu = NULL;
            continue;
        }
        must(st == RD_OK, "emu_create");
        add(e->emu, a->code, CODE_BYTES, EMU_MEM_READ | EMU_MEM_EXEC, "code");
        add(e->emu, a->blocks, MAX_WAVES * sizeof *a->blocks,
            EMU_MEM_READ | EMU_MEM_WRITE, "blocks");
        add(e->emu, a->shared, SHARED_BYTES, EMU_MEM_READ | EMU_MEM_WRITE, "shared");
    }
    if (observer)
        must(emu_add_observer(engines[ENGINE_OBSERVED].emu, observer) == RD_OK,
             "emu_add_observer");
}

void engines_create(struct engine *engines, struct arena *a,
                    const struct emu_observer *observer)
{
    create(engines, a, observer, false);
}

void engines_create_exact(struct engine *engines, struct arena *a)
{
    create(engines, a, NULL, true);
}

void engines_destroy(struct engine *engines)
{
    for (unsigned i = 0; i < ENGINE_COUNT; i++)
        if (engines[i].emu)
            emu_destroy(engines[i].emu);
}

static rd_status run_stepped(struct emu *emu, const struct emu_dispatch *d,
                             struct emu_fault *fault)
{
    struct emu_stepper *s;
    struct emu_group *group;
    const struct emu_event *event;
    rd_status st = emu_stepper_create(emu, d, &s, fault);
    if (st != RD_OK)
        return st;
    for (uint64_t g = 0; g < d->groups[0] && st == RD_OK; g++) {
        must(emu_group_start(s, g, NULL, &group) == RD_OK, "emu_group_start");
        struct emu_wave *w = emu_group_wave(group, 0);
        for (uint64_t clock = 0; st == RD_OK && emu_wave_next(w); clock++)
            st = emu_wave_step(s, w, clock, &event);
        if (st == RD_E_FAULT)
            *fault = *emu_stepper_fault(s);
        emu_group_end(s, group);
    }
    emu_stepper_destroy(s, NULL);
    return st;
}

struct outcome engine_run(const struct engine *e, struct arena *a,
                          const struct shape *shape)
{
    struct outcome o = {.status = RD_OK};
    uint64_t blocks = (uint64_t)(uintptr_t)a->blocks;
    struct emu_dispatch d = {
        .entry = (uint64_t)(uintptr_t)a->code,
        .groups = {shape->groups, 1, 1},
        .block = {shape->lanes * shape->waves, 1, 1},
        .rsrc1 = 63u | 0xf0u << 12,
        .rsrc2 = 1u << 7, /* workgroup id x */
        .wave64 = shape->lanes == 64,
        .lds_bytes = LDS_BYTES,
        .scratch_bytes = SCRATCH_BYTES,
        .n_user_sgprs = 4,
        .user_sgpr = {(uint32_t)blocks, (uint32_t)(blocks >> 32),
                      shape->lanes == 64 ? 6 : 5, shape->waves},
    };
    emu_code_changed(e->emu, (uint64_t)(uintptr_t)a->code, CODE_BYTES);
    o.status = e->stepped ? run_stepped(e->emu, &d, &o.fault)
                          : emu_run(e->emu, &d, &o.fault, NULL);
    return o;
}
