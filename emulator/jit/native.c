/* native.c: tables of native code, compiling what is hot, paths, statistics.
 *
 * Invariant: an entry points to code that stays until no dispatch runs. Compiling takes
 * the lock; running takes none. SPDX-License-Identifier: MIT
 */
#include "native.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "code.h"
#include "compile.h"
#include "emit.h"
#include "machine.h"
#include "perf.h"

#define CODE_LIMIT  (64u << 20) /* bytes; above it all code is dropped */
#define TRACE_BYTES (512u << 10)
/* Tables up to so many bytes get no pages of their own. Where leaks are checked, this
 * holds for whatever may point to the heap, and tables do not. */
#ifdef RD_CHECKS
#define TABLE_SMALL (64u << 20)
#else
#define TABLE_SMALL (16u << 10)
#endif

/* More than there are recipes. */
#define RECIPE_PLACES 512u

/* Pieces of a program that are counted, and places where each may be. */
#define MOST_PIECES  65536u
#define PIECE_PROBES 8u

/* What one execution of a path adds to the counts. */
struct path {
    uint32_t n;
    struct path_step {
        uint16_t op;
        bool handled;
    } step[];
};

struct native {
    struct emu *emu;
    native_turn_fn *turn;
    pthread_mutex_t lock;
    struct code_memory *code;
    struct perf_map *perf; /* NULL: not wanted */
    struct native_table *tables;
    unsigned running; /* dispatches */
    unsigned n_early; /* instructions that hot blocks ran before there was code */
    bool refused;     /* the host lets no code be made */
    bool full;
    const struct watch *watch;  /* NULL: nobody watches */
    struct watch_arena *places; /* what code for watched waves has met */
    bool has_recipes;
    const uint8_t *stubs;
    struct stub_offsets at;
    uint8_t *buffer; /* TRACE_BYTES */
    struct path **path;
    unsigned n_paths, cap_paths;
    struct emu_native_stats stats;
    /* What a compilation writes lies close together: a page touched first costs more
     * than an instruction compiled. */
    uint8_t recipe_at[RECIPE_PLACES]; /* by semantics function: index + 1, or 0 */
    uint8_t recipe_of[ISA_OP_COUNT];  /* likewise by opcode: of those of the trace */
    struct compile_room room;
    uint64_t handled[ISA_OP_COUNT]; /* executions by handlers, of those counted */
};

bool native_plain;

static bool is_mapped(size_t bytes)
{
    return bytes > TABLE_SMALL;
}

#ifdef RD_CHECKS
_Static_assert(sizeof(struct native) <= TABLE_SMALL, "it points to the heap");
#endif

/* Cleared memory for a table or for struct native, most of which is never touched, or
 * NULL. */
static void *table_memory(size_t bytes)
{
    if (!is_mapped(bytes))
        return calloc(1, bytes);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void table_free(void *memory, size_t bytes)
{
    if (!is_mapped(bytes))
        free(memory);
    else
        munmap(memory, bytes);
}

struct native *native_create(struct emu *emu, native_turn_fn *turn)
{
    if (emu->config.simd == EMU_SIMD_GENERIC)
        return NULL;
    struct native *n = table_memory(sizeof *n);
    if (!n)
        return NULL;
    pthread_mutex_init(&n->lock, NULL);
    n->emu = emu;
    n->turn = turn;
    n->perf = perf_create(&emu->config);
    n->n_paths = 1; /* 0 is none */
    return n;
}

void native_destroy(struct native *n)
{
    if (!n)
        return;
    perf_destroy(n->perf);
    watch_forget(&n->places);
    code_destroy(n->code);
    for (unsigned i = 1; i < n->n_paths; i++)
        free(n->path[i]);
    free(n->path);
    free(n->buffer);
    pthread_mutex_destroy(&n->lock);
    table_free(n, sizeof *n);
}

/* ---- recipes by opcode -------------------------------------------------------------
 */

/* Where a semantics function would be in native.recipe_at. */
static unsigned place_of(const struct sem_entry *s)
{
    return (unsigned)((uintptr_t)s / sizeof *s % RECIPE_PLACES);
}

/* Where s is in native.recipe_at, or would be put. */
static unsigned find_place(const struct native *n, const struct sem_entry *s)
{
    unsigned at = place_of(s);
    while (n->recipe_at[at] && n->emu->sem[recipes[n->recipe_at[at] - 1].op] != s)
        at = (at + 1) % RECIPE_PLACES;
    return at;
}

static void join_recipes(struct native *n)
{
    bool evex = n->emu->config.simd == EMU_SIMD_AVX512;
    bool fp16 = evex && !native_plain && __builtin_cpu_supports("avx512fp16");
    for (unsigned i = 0; i < n_recipes; i++) {
        const struct recipe *r = &recipes[i];
        const struct sem_entry *s = n->emu->sem[r->op];
        if (!s || r->flags & (evex ? RECIPE_VEX : RECIPE_EVEX) ||
            (r->flags & RECIPE_FP16 && !fp16))
            continue;
        unsigned at = find_place(n, s);
        if (!n->recipe_at[at]) /* the first one counts */
            n->recipe_at[at] = (uint8_t)(i + 1);
    }
    n->has_recipes = true;
}

/* Opcodes with the same semantics function have the same recipe. There are many, and
 * a program has few of them: looked up for each trace. */
static void look_up(struct native *n, const struct trace *t)
{
    for (unsigned i = 0; i < t->n; i++) {
        const struct uop *u = t->step[i].u;
        for (unsigned h = 0; h <= (u->flags & UF_PAIR ? 1u : 0u); h++) {
            const struct sem_entry *s = n->emu->sem[u[h].isa_op];
            n->recipe_of[u[h].isa_op] = s ? n->recipe_at[find_place(n, s)] : 0;
        }
    }
}

/* ---- paths -------------------------------------------------------------------------
 */

static bool grow_paths(struct native *n)
{
    if (n->n_paths < n->cap_paths)
        return true;
    unsigned cap = n->cap_paths ? 2 * n->cap_paths : 16;
    struct path **bigger =
        cap <= COUNT_PATHS ? realloc(n->path, cap * sizeof *bigger) : NULL;
    if (!bigger)
        return false;
    n->path = bigger;
    n->cap_paths = cap;
    return true;
}

static unsigned add_path(void *ctx, const struct trace *t, unsigned count,
                         const bool *handled)
{
    struct native *n = ctx;
    struct path *p = grow_paths(n) ? malloc(sizeof *p + count * sizeof *p->step) : NULL;
    if (!p) {
        n->full = true;
        return 0;
    }
    p->n = count;
    for (unsigned i = 0; i < count; i++)
        p->step[i] = (struct path_step){t->step[i].u->isa_op, handled[i]};
    n->path[n->n_paths] = p;
    return n->n_paths++;
}

void native_count(struct native *n, struct op_counts *counts)
{
    pthread_mutex_lock(&n->lock);
    for (unsigned i = 1; i < n->n_paths; i++) {
        uint64_t times = counts->path[i];
        for (uint32_t k = 0; times && k < n->path[i]->n; k++) {
            const struct path_step *s = &n->path[i]->step[k];
            counts->op[s->op] += times;
            n->handled[s->op] += s->handled ? times : 0;
        }
        counts->path[i] = 0;
    }
    for (unsigned op = 0; op < ISA_OP_COUNT; op++) {
        n->handled[op] += counts->slow[op];
        counts->slow[op] = 0;
    }
    pthread_mutex_unlock(&n->lock);
}

void native_each_handled(struct native *n,
                         void (*f)(void *ctx, unsigned op, uint64_t count), void *ctx)
{
    for (unsigned op = 1; n && op < ISA_OP_COUNT; op++)
        if (n->handled[op])
            f(ctx, op, n->handled[op]);
}

/* ---- tables ------------------------------------------------------------------------
 */

static void set_head(struct native_table *t)
{
    const struct native *n = t->native;
    atomic_store(&t->entry[-TABLE_UOPS], (const void *)t->program->uops);
    atomic_store(&t->entry[-TABLE_LEAVE], (const void *)(n->stubs + n->at.leave));
    atomic_store(&t->entry[-TABLE_RETURN], (const void *)(n->stubs + n->at.give_back));
    atomic_store(&t->entry[-TABLE_TURN], (const void *)(n->stubs + n->at.turn));
    atomic_store(&t->entry[-TABLE_BARRIER], (const void *)(n->stubs + n->at.barrier));
    atomic_store(&t->entry[-TABLE_CHECK], (const void *)(n->stubs + n->at.check));
    atomic_store(&t->entry[-TABLE_WINDOW], (const void *)(n->stubs + n->at.window));
}

static unsigned hot_of(const struct native *n, unsigned kind)
{
    unsigned hot = n->emu->config.native_hot;
    return hot ? hot : kind & NATIVE_WATCHED ? NATIVE_WATCHED_HOT : NATIVE_HOT;
}

/* Visits are sampled until there is code, if it takes many. */
static unsigned first_weight(const struct native *n, unsigned kind)
{
    return kind & NATIVE_WATCHED || n->emu->config.native_hot ? 1 : NATIVE_SAMPLED;
}

static void table_clear(struct native_table *t)
{
    free(atomic_exchange(&t->pieces, NULL));
    atomic_store(&t->weight, first_weight(t->native, t->kind));
    t->has_entries = true;
    if (!is_mapped(t->memory_bytes))
        memset(t->memory, 0, t->memory_bytes);
    else
        madvise(t->memory, t->memory_bytes, MADV_DONTNEED);
}

static struct native_table *table_new(struct native *n, struct program *p,
                                      unsigned mode, unsigned kind)
{
    size_t slots = (size_t)(p->bytes / 4 + 4), head = 64;
    size_t before = (2 * slots * sizeof(uint16_t) + 63) / 64 * 64 + head;
    size_t bytes = before + 2 * slots * sizeof(void *);
    struct native_table *t = calloc(1, sizeof *t);
    void *memory = is_mapped(bytes) ? table_memory(bytes) : malloc(bytes);
    if (!t || !memory) {
        free(t);
        if (memory)
            table_free(memory, bytes);
        return NULL;
    }
    if (!is_mapped(bytes))
        memset(memory, 0, before);
    *t = (struct native_table){.native = n,
                               .program = p,
                               .uops = p->uops,
                               .mode = mode,
                               .hot = hot_of(n, kind),
                               .weight = first_weight(n, kind),
                               .kind = kind,
                               .entry = (void *)((uint8_t *)memory + before),
                               .heat = memory,
                               .entry_bytes = bytes - before,
                               .has_entries = is_mapped(bytes),
                               .memory = memory,
                               .memory_bytes = bytes};
    return t;
}

static void list_table(struct native *n, struct native_table *t)
{
    t->next = n->tables;
    n->tables = t;
}

static struct native_table *make_table(struct native *n, struct program *p,
                                       unsigned mode)
{
    pthread_mutex_lock(&n->lock);
    struct native_table *t = atomic_load(&p->native[mode]);
    if (!t && (t = table_new(n, p, mode, 0))) {
        list_table(n, t);
        atomic_store_explicit(&p->native[mode], t, memory_order_release);
    }
    pthread_mutex_unlock(&n->lock);
    return t;
}

/* The table beside t, for waves of another kind. */
static struct native_table *table_beside(struct native_table *t, unsigned kind)
{
    struct native *n = t->native;
    struct native_table **at = &t->beside[kind];
    pthread_mutex_lock(&n->lock);
    if (!*at && (*at = table_new(n, t->program, t->mode, kind)))
        list_table(n, *at);
    pthread_mutex_unlock(&n->lock);
    return *at;
}

struct native_table *native_pieces(struct native *n, const struct wave *w)
{
    struct program *p = w->program;
    if (!n || p->exceptions)
        return NULL;
    unsigned mode = native_mode(w);
    struct native_table *t =
        atomic_load_explicit(&p->native[mode], memory_order_acquire);
    return t ? t : make_table(n, p, mode);
}

struct native_table *native_table(struct native *n, const struct wave *w)
{
    struct native_table *t = native_pieces(n, w);
    unsigned kind =
        (w->observation ? NATIVE_WATCHED : 0) | (w->counts ? NATIVE_COUNTED : 0);
    return t && kind ? table_beside(t, kind) : t;
}

void native_forget(void *table)
{
    struct native_table *t = table;
    for (unsigned kind = 1; kind < NATIVE_KINDS; kind++)
        if (t->beside[kind])
            native_forget(t->beside[kind]);
    pthread_mutex_lock(&t->native->lock);
    struct native_table **link = &t->native->tables;
    while (*link != t)
        link = &(*link)->next;
    *link = t->next;
    pthread_mutex_unlock(&t->native->lock);
    free(atomic_load(&t->pieces));
    table_free(t->memory, t->memory_bytes);
    free(t);
}

/* All have been counted: dispatches do that before they end. */
static void clear_paths(struct native *n)
{
    for (unsigned i = 1; i < n->n_paths; i++)
        free(n->path[i]);
    n->n_paths = 1;
}

const struct watch *native_watcher(const struct native *n)
{
    return n ? n->watch : NULL;
}

/* Drop code for watched waves. The memory of what it had met is used again when all
 * code is dropped. */
void native_watch(struct native *n, const struct watch *watch)
{
    if (!n)
        return;
    pthread_mutex_lock(&n->lock);
    for (struct native_table *t = n->tables; t; t = t->next)
        if (t->kind & NATIVE_WATCHED)
            table_clear(t);
    n->watch = watch;
    pthread_mutex_unlock(&n->lock);
}

void native_begin(struct native *n)
{
    if (!n)
        return;
    pthread_mutex_lock(&n->lock);
    if (n->full && !n->running) { /* nobody runs it: start again */
        for (struct native_table *t = n->tables; t; t = t->next)
            table_clear(t);
        code_clear(n->code);
        watch_forget(&n->places);
        clear_paths(n);
        n->stubs = NULL;
        n->full = false;
        n->stats.evictions++;
    }
    n->running++;
    pthread_mutex_unlock(&n->lock);
}

void native_end(struct native *n)
{
    if (!n)
        return;
    pthread_mutex_lock(&n->lock);
    n->running--;
    pthread_mutex_unlock(&n->lock);
    perf_write(n->perf);
}

/* ---- compiling ---------------------------------------------------------------------
 */

/* Before the first trace. Lock held. */
static bool prepare(struct native *n)
{
    if (n->stubs)
        return true;
    if (n->refused)
        return false;
    if (!n->has_recipes)
        join_recipes(n);
    if (!n->buffer)
        n->buffer = malloc(TRACE_BYTES);
    if (!n->code)
        n->code = code_create(n->perf != NULL);
    if (n->buffer && n->code) {
        struct x86 x = {n->buffer, n->buffer, n->buffer + TRACE_BYTES, false, false};
        compile_stubs(&x, n->emu, n->turn, &n->at);
        n->stubs = code_put(n->code, n->buffer, x86_here(&x));
        if (n->stubs)
            perf_add(n->perf,
                     &(struct perf_trace){.code = n->stubs, .bytes = x86_here(&x)});
    }
    n->refused = !n->stubs;
    return n->stubs != NULL;
}

bool native_ready(struct native *n)
{
    if (!n)
        return false;
    pthread_mutex_lock(&n->lock);
    bool ready = prepare(n);
    pthread_mutex_unlock(&n->lock);
    return ready;
}

/* Does the block at u have code, or is it not worth any? */
static bool ends_trace(const void *ctx, const struct uop *u)
{
    const struct native_table *t = ctx;
    size_t slot = (size_t)(u - t->program->uops);
    unsigned heat = atomic_load_explicit(&t->heat[2 * slot], memory_order_relaxed);
    heat += atomic_load_explicit(&t->heat[2 * slot + 1], memory_order_relaxed);
    return heat < t->hot / NATIVE_WARM || atomic_load(&t->entry[2 * slot]) ||
           atomic_load(&t->entry[2 * slot + 1]);
}

static double now_us(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec * 1e-3;
}

/* Write the trace at a slot; if its code is too long, its first block alone. */
static bool write_trace(struct native_table *t, struct x86 *x,
                        const struct compile_job *job, size_t slot)
{
    struct native *n = t->native;
    const struct uop *head = t->program->uops + slot;
    const struct x86 empty = *x;
    trace_find(&n->room.trace, head, TRACE_PATHS, ends_trace, t);
    if (!n->room.trace.n)
        return false;
    look_up(n, &n->room.trace);
    if (compile_trace(x, job))
        return true;
    if (!x->full || n->room.trace.n_blocks == 1)
        return false;
    *x = empty;
    trace_find(&n->room.trace, head, 1, ends_trace, t);
    return compile_trace(x, job);
}

/* n instructions from a slot on. */
static bool write_piece(struct native_table *t, struct x86 *x,
                        const struct compile_job *job, size_t slot, unsigned n)
{
    trace_piece(&t->native->room.trace, t->program->uops + slot, n);
    look_up(t->native, &t->native->room.trace);
    return compile_trace(x, job);
}

/* piece: its instructions; 0: a trace. Lock held. */
static const void *compile(struct native_table *t, const struct wave *w, size_t slot,
                           bool partial, unsigned piece)
{
    struct native *n = t->native;
    struct x86 x = {n->buffer, n->buffer, n->buffer + TRACE_BYTES,
                    n->emu->config.simd == EMU_SIMD_AVX512, false};
    const struct path_sink sink = {n, add_path};
    struct compile_job job = {.t = &n->room.trace,
                              .p = t->program,
                              .emu = n->emu,
                              .recipe_of = n->recipe_of,
                              .mode = t->mode,
                              .watch = t->kind & NATIVE_WATCHED ? n->watch : NULL,
                              .places = &n->places,
                              .room = &n->room,
                              .masked = partial,
                              .piece = piece != 0,
                              .wave = w,
                              .paths = t->kind & NATIVE_COUNTED ? &sink : NULL};
    if (!(piece ? write_piece(t, &x, &job, slot, piece)
                : write_trace(t, &x, &job, slot)))
        return NULL;
    const void *code = code_put(n->code, n->buffer, x86_here(&x));
    if (code)
        perf_add(n->perf,
                 &(struct perf_trace){.code = code,
                                      .bytes = x86_here(&x),
                                      .pc = program_pc(t->program, n->room.trace.head),
                                      .op = n->room.trace.head->isa_op,
                                      .partial = partial});
    n->stats.blocks += code ? n->room.trace.n_blocks : 0;
    n->stats.traces += code != NULL;
    n->stats.instructions += code ? n->room.trace.n : 0;
    n->stats.bytes += code ? x86_here(&x) : 0;
    n->full |= code_bytes(n->code) > CODE_LIMIT;
    return code;
}

/* Is it too early for the first code? So many instructions have run since that was
 * asked for what is hot now, least have to. Lock held. */
static bool is_early(struct native *n, unsigned insts, unsigned least)
{
    if (n->stubs || n->emu->config.native_hot)
        return false;
    n->n_early += insts;
    return n->n_early < least;
}

/* The block is hot: from here on its entry may be looked at. Lock held. */
static void set_hot(struct native_table *t, size_t i)
{
    if (!t->has_entries)
        memset((void *)t->entry, 0, t->entry_bytes);
    t->has_entries = true;
    atomic_store_explicit(&t->heat[i], (uint16_t)t->hot, memory_order_release);
}

const void *native_compile(struct native_table *t, const struct wave *w, size_t slot,
                           bool partial)
{
    struct native *n = t->native;
    const void *code = NULL;
    pthread_mutex_lock(&n->lock);
    unsigned insts = t->hot / 2 * t->program->uops[slot].run;
    if (!(t->kind & NATIVE_WATCHED) && is_early(n, insts, NATIVE_FIRST)) {
        atomic_store_explicit(&t->heat[2 * slot + partial], (uint16_t)(t->hot / 2),
                              memory_order_relaxed);
        pthread_mutex_unlock(&n->lock);
        return NULL;
    }
    set_hot(t, 2 * slot + partial);
    /* another thread may have counted less, and be here again */
    code = atomic_load_explicit(&t->entry[2 * slot + partial], memory_order_relaxed);
    if (!code && !n->full && prepare(n)) {
        double begin = now_us();
        set_head(t);
        atomic_store_explicit(&t->weight, 1, memory_order_relaxed);
        code = compile(t, w, slot, partial, 0);
        atomic_store_explicit(&t->entry[2 * slot + partial], code,
                              memory_order_release);
        n->stats.compile_us += now_us() - begin;
    }
    pthread_mutex_unlock(&n->lock);
    return code;
}

/* ---- pieces ------------------------------------------------------------------------
 */

/* Places for as many as a program is likely to have. Lock held. */
static struct native_piece *make_pieces(struct native_table *t)
{
    size_t n = 512;
    while (n < t->program->bytes / 4 && n < MOST_PIECES)
        n *= 2;
    struct native_piece *p = calloc(n, sizeof *p);
    t->n_pieces = n;
    atomic_store_explicit(&t->pieces, p, memory_order_release);
    return p;
}

/* The piece's place, or a free one, which is its own from now on; NULL: there is none.
 * Lock held. */
static struct native_piece *give_piece(struct native_table *t, uint64_t key)
{
    struct native_piece *p = atomic_load(&t->pieces);
    if (!p && !(p = make_pieces(t)))
        return NULL;
    for (unsigned i = 0; i < PIECE_PROBES; i++) {
        struct native_piece *at =
            &p[(native_piece_place(t, key) + i) & (t->n_pieces - 1)];
        if (!atomic_load(&at->key))
            atomic_store_explicit(&at->key, key, memory_order_release);
        if (atomic_load(&at->key) == key)
            return at;
    }
    return NULL;
}

/* The piece's place, or NULL. full: there is none for it, nor will be. */
static struct native_piece *find_piece(const struct native_table *t, uint64_t key,
                                       bool *full)
{
    struct native_piece *p = atomic_load_explicit(&t->pieces, memory_order_acquire);
    *full = p != NULL;
    for (unsigned i = 0; p && i < PIECE_PROBES; i++) {
        struct native_piece *at =
            &p[(native_piece_place(t, key) + i) & (t->n_pieces - 1)];
        uint64_t there = atomic_load_explicit(&at->key, memory_order_acquire);
        if (there == key)
            return at;
        *full &= there != 0;
    }
    return NULL;
}

/* Its code, or NULL: it is tried once. Lock held. */
static const void *compile_piece(struct native_table *t, const struct wave *w,
                                 struct native_piece *p, size_t slot, unsigned count)
{
    struct native *n = t->native;
    const void *code = atomic_load(&p->code);
    unsigned half = NATIVE_PIECE_HOT / 2;
    if (!code && is_early(n, half * count, NATIVE_PIECE_FIRST)) {
        atomic_store_explicit(&p->heat, half, memory_order_relaxed);
        return NULL;
    }
    if (code || n->full || !prepare(n))
        return code;
    double begin = now_us();
    set_head(t);
    code = compile(t, w, slot, atomic_load(&p->key) & 1u, count);
    atomic_store_explicit(&p->code, code, memory_order_release);
    n->stats.compile_us += now_us() - begin;
    return code;
}

const void *native_piece_met(struct native_table *t, const struct wave *w,
                             const struct uop *u, unsigned count)
{
    struct native *n = t->native;
    unsigned hot =
        n->emu->config.native_hot ? n->emu->config.native_hot : NATIVE_PIECE_HOT;
    uint64_t key = native_piece_key(t, w, u, count);
    bool full;
    struct native_piece *p = find_piece(t, key, &full);
    if (!p && full)
        return NULL;
    if (!p) {
        pthread_mutex_lock(&n->lock);
        p = give_piece(t, key);
        pthread_mutex_unlock(&n->lock);
        if (!p)
            return NULL;
    }
    const void *code = atomic_load_explicit(&p->code, memory_order_acquire);
    uint32_t heat = atomic_load_explicit(&p->heat, memory_order_relaxed);
    if (code || heat > hot) /* NULL: it was tried */
        return code;
    atomic_store_explicit(&p->heat, ++heat, memory_order_relaxed);
    if (heat <= hot)
        return NULL;
    pthread_mutex_lock(&n->lock);
    code = compile_piece(t, w, p, (size_t)(u - t->uops), count);
    pthread_mutex_unlock(&n->lock);
    return code;
}

void native_stats(struct native *n, struct emu_native_stats *out)
{
    *out = (struct emu_native_stats){0};
    if (!n)
        return;
    pthread_mutex_lock(&n->lock);
    *out = n->stats;
    pthread_mutex_unlock(&n->lock);
}

/* clang's check of function types looks at what lies before a function: of a stub,
 * nothing may. */
#ifdef __clang__
__attribute__((no_sanitize("function")))
#endif
static const struct uop *
enter_at(const struct native_table *t, struct wave *w, const void *code,
         const struct uop *u)
{
    typedef const struct uop *enter_fn(struct wave *, const void *, size_t, void *);
    const struct native *n = t->native;
    union {
        const void *code;
        enter_fn *call;
    } enter = {.code = n->stubs + n->at.enter};
    return enter.call(w, code, (size_t)(u - t->uops), (void *)t->entry);
}

const struct uop *native_enter(const struct native_table *t, struct wave *w,
                               const void *code, const struct uop *u)
{
    u = enter_at(t, w, code, u);
    w = w->group->running;
    return u || w->stop != STOP_NONE ? u : w->next;
}

const struct uop *native_piece_run(const struct native_table *t, struct wave *w,
                                   const void *code, const struct uop *u)
{
    return enter_at(t, w, code, u);
}
