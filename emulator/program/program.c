/* program.c: predecoded code: one micro-op slot per dword of an executable region.
 *
 * Decoding follows control flow from each entry point, so data between functions is
 * never read as code. Runs that were decoded keep a copy of their bytes: a later
 * dispatch that finds them changed starts a new program, while running waves keep
 * theirs. Slots are written before anybody can reach them and never change. All memory
 * may be a region of code: what is decoded at once has a bound, and so has what is
 * kept. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "predecode.h"
#include "region.h"
#include "relative.h"

/* Instructions that are decoded from one entry point, 64 MiB of micro-ops: more than
 * any compiler's output has behind one; and that are kept for later dispatches. */
#define MOST_AT_ONCE (1u << 20)
#define MOST_KEPT    (8u << 20)

struct run {
    uint32_t first, dwords;
    uint32_t *copy;
};

struct program_data {
    struct program p; /* must be first */
    struct run *runs;
    size_t n_runs, cap_runs;
    uint32_t *work; /* offsets still to decode */
    size_t n_work, cap_work;
    uint32_t *starts; /* instructions of the run that is being decoded */
    size_t n_starts, cap_starts;
    struct inst_info *infos;  /* of the side table */
    uint32_t n_decoded, left; /* instructions; that may still be, of this entry point */
    unsigned users;
    bool stale;
};

struct code_cache {
    struct program_env env;
    pthread_mutex_t lock;
    struct program *first;
    uint32_t n_programs; /* that ever were */
    uint64_t n_decoded;  /* instructions of all programs */
};

static struct program_data *data_of(struct program *p)
{
    return (struct program_data *)(void *)p;
}

rd_status code_cache_create(const struct program_env *env, struct code_cache **out)
{
    struct code_cache *c = calloc(1, sizeof *c);
    if (!c)
        return RD_E_NOMEM;
    c->env = *env;
    pthread_mutex_init(&c->lock, NULL);
    *out = c;
    return RD_OK;
}

static void *reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static size_t uop_bytes(const struct program *p)
{
    return (size_t)(p->bytes / 4 + 4) * sizeof(struct uop);
}

static size_t inst_bytes(const struct program *p)
{
    return (size_t)(p->bytes / 4 + 4) * sizeof *p->insts;
}

/* Blocks begin where decoded instructions do. */
static void free_blocks(struct program_data *d)
{
    for (size_t i = 0; i < d->n_runs; i++)
        for (uint32_t at = 0; at < d->runs[i].dwords; at++)
            free(atomic_load(&d->p.blocks[d->runs[i].first + at]));
    munmap((void *)d->p.blocks, inst_bytes(&d->p));
}

static void program_free(struct program *p)
{
    struct program_data *d = data_of(p);
    if (p->cache)
        p->cache->n_decoded -= d->n_decoded;
    for (unsigned i = 0; i < PROGRAM_MODES; i++)
        if (atomic_load(&p->native[i]))
            p->cache->env.forget(atomic_load(&p->native[i]));
    if (p->blocks)
        free_blocks(d);
    if (p->insts)
        munmap((void *)p->insts, inst_bytes(p));
    for (struct inst_info *i = d->infos, *next; i; i = next) {
        next = i->next;
        free(i);
    }
    if (p->uops)
        munmap(p->uops, uop_bytes(p));
    constants_destroy(p->constants);
    for (size_t i = 0; i < d->n_runs; i++)
        free(d->runs[i].copy);
    free(d->runs);
    free(d->work);
    free(d->starts);
    free(d);
}

void code_cache_destroy(struct code_cache *c)
{
    if (!c)
        return;
    for (struct program *p = c->first, *next; p; p = next) {
        next = p->next;
        program_free(p);
    }
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static struct program *program_new(const struct mem_region *r, struct program_kind kind)
{
    struct program_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    struct program *p = &d->p;
    p->base = r->base;
    p->bytes = r->end - r->base;
    p->host = region_host(r, r->base);
    p->wave64 = kind.wave64;
    p->privileged = kind.privileged;
    p->exceptions = kind.exceptions;
    p->n_vgprs = kind.n_vgprs;
    p->uops = reserve(uop_bytes(p));
    p->insts = reserve(inst_bytes(p));
    p->blocks = reserve(inst_bytes(p));
    p->constants = constants_create();
    if (!p->uops || !p->insts || !p->blocks || !p->constants) {
        program_free(p);
        return NULL;
    }
    p->const_rows = constants_rows(p->constants);
    return p;
}

/* Room for one more item: v or a bigger copy, and *cap; NULL if out of memory. */
static void *grow(void *v, size_t *cap, size_t n, size_t item)
{
    if (n < *cap)
        return v;
    size_t next = *cap ? 2 * *cap : 64;
    void *bigger = realloc(v, next * item);
    if (bigger)
        *cap = next;
    return bigger;
}

/* ---- decoding what is reachable ---------------------------------------------------
 */

static bool note_start(struct program_data *d, uint32_t at)
{
    uint32_t *starts = grow(d->starts, &d->cap_starts, d->n_starts, sizeof *starts);
    if (!starts)
        return false;
    d->starts = starts;
    d->starts[d->n_starts++] = at;
    return true;
}

static bool push_work(struct program_data *d, int64_t at)
{
    if (at < 0 || (uint64_t)at * 4 >= d->p.bytes)
        return false;
    if (d->p.uops[at].fn)
        return true;
    uint32_t *work = grow(d->work, &d->cap_work, d->n_work, sizeof *work);
    if (!work)
        return false;
    d->work = work;
    d->work[d->n_work++] = (uint32_t)at;
    return true;
}

/* Does control never reach the next instruction? */
static bool ends_run(unsigned op)
{
    switch (op) {
    case ISA_S_ENDPGM:
    case ISA_S_ENDPGM_SAVED:
    case ISA_S_ENDPGM_ORDERED_PS_DONE:
    case ISA_S_BRANCH:
    case ISA_S_SETPC_B64:
    case ISA_S_RFE_B64:
    case ISA_S_CODE_END:
        return true;
    default:
        return false;
    }
}

/* A branch with its distance in the instruction? */
static bool is_direct_branch(const struct isa_inst *inst)
{
    if (inst->op == ISA_S_CALL_B64 || inst->op == ISA_S_SUBVECTOR_LOOP_BEGIN ||
        inst->op == ISA_S_SUBVECTOR_LOOP_END)
        return true;
    return inst->enc == ISA_ENC_SOPP &&
           (isa_row(inst->row)->flags & (ISA_RF_BRANCH | ISA_RF_COND_BRANCH)) &&
           inst->n_opnds && inst->opnd[0].kind == ISA_OPND_IMM &&
           inst->op != ISA_S_BARRIER;
}

/* Blocks are no longer than this, so that waves still take turns in straight code. */
#define MAX_RUN 256u

static unsigned turn_of(const struct uop *u)
{
    const struct isa_facts *f = isa_facts(u->isa_op);
    return f->pipe == ISA_PIPE_VMEM ? TURN_ACCESS : 1;
}

/* How far the block goes on from each instruction of the run, and what it costs. What
 * stands behind the run may be decoded code, or nothing. */
static void set_runs(struct program_data *d)
{
    struct uop *uops = d->p.uops;
    size_t n = d->n_starts;
    while (n) {
        struct uop *u = &uops[d->starts[--n]];
        const struct uop *next = uop_next(u);
        bool last = u->flags & UF_ENDS || !next->fn || next->flags & UF_ALONE ||
                    next->run >= MAX_RUN;
        unsigned turn = turn_of(u) + (last ? 0 : next->turn);
        u->run = last ? 1 : (uint16_t)(next->run + 1);
        u->turn = (uint16_t)(turn < UINT16_MAX ? turn : UINT16_MAX);
    }
    d->n_starts = 0;
}

/* Decode from dword at until control leaves or meets decoded code. */
static void decode_run(struct program_data *d, uint32_t at)
{
    struct program *p = &d->p;
    const struct program_env *env = &p->cache->env;
    uint32_t first = at, end = (uint32_t)(p->bytes / 4);
    const uint32_t *code = (const uint32_t *)(const void *)p->host;
    for (;;) {
        struct uop *u = &p->uops[at];
        struct isa_inst inst;
        if (u->fn)
            break;
        if (at >= end) {
            *u = (struct uop){
                .fn = env->handlers->fetch, .dwords = 1, .run = 1, .turn = 1};
            break;
        }
        if (!d->left) {
            *u = (struct uop){
                .fn = env->handlers->endless, .dwords = 1, .run = 1, .turn = 1};
            break;
        }
        d->left--;
        d->n_decoded++;
        p->cache->n_decoded++;
        if (isa_decode_hw(code + at, (size_t)(end - at) * 4, p->wave64 ? 64 : 32,
                          &inst) != RD_OK) {
            *u = (struct uop){
                .fn = env->handlers->illegal, .dwords = 1, .run = 1, .turn = 1};
            at++;
            break;
        }
        if (!note_start(d, at))
            break;
        predecode(env, p, &inst, u);
        uint32_t next = at + u->dwords;
        if (is_direct_branch(&inst)) {
            int32_t imm = 0;
            for (unsigned i = 0; i < inst.n_opnds; i++)
                if (inst.opnd[i].kind == ISA_OPND_IMM)
                    imm = (int16_t)inst.opnd[i].imm;
            if (!push_work(d, (int64_t)next + imm))
                u->flags |= UF_MAY_FAULT; /* if it is taken, and nothing is there */
        }
        at = next;
        if (ends_run(inst.op))
            break;
    }
    set_runs(d);
    if (at > end)
        at = end;
    if (at == first)
        return;
    struct run *runs = grow(d->runs, &d->cap_runs, d->n_runs, sizeof *runs);
    if (!runs)
        return;
    d->runs = runs;
    struct run *r = &d->runs[d->n_runs];
    *r = (struct run){first, at - first, malloc((size_t)(at - first) * 4)};
    if (!r->copy)
        return;
    memcpy(r->copy, code + first, (size_t)r->dwords * 4);
    d->n_runs++;
}

static const struct uop *decode_from(struct program_data *d, uint64_t pc)
{
    uint64_t offset = pc - d->p.base;
    if (pc < d->p.base || offset >= d->p.bytes || offset % 4)
        return NULL;
    if (!push_work(d, (int64_t)(offset / 4)))
        return NULL;
    d->left = MOST_AT_ONCE;
    while (d->n_work)
        decode_run(d, d->work[--d->n_work]);
    return &d->p.uops[offset / 4];
}

/* Of a program whose memory has changed, what follows on goes on; a jump may find that
 * its target has gone. */
static bool is_there(const struct program_data *d, uint64_t pc)
{
    const struct program *p = &d->p;
    struct mem_region r;
    if (!d->stale)
        return true;
    return region_find(p->cache->env.map, pc, &r, NULL) && r.perm & EMU_MEM_EXEC &&
           region_host(&r, pc) == p->host + (pc - p->base);
}

const struct uop *program_at(struct program *p, uint64_t pc)
{
    const struct program_data *d = data_of(p);
    pthread_mutex_lock(&p->cache->lock);
    bool outside = pc < p->base || pc - p->base >= p->bytes;
    const struct uop *u =
        outside || !is_there(d, pc) ? NULL : decode_from(data_of(p), pc);
    pthread_mutex_unlock(&p->cache->lock);
    return u;
}

/* Fill the side table's entry at u. Lock held. */
static struct inst_info *describe_at(struct program_data *d, const struct uop *u)
{
    struct program *p = &d->p;
    struct inst_info *info = calloc(1, sizeof *info);
    if (!info)
        return NULL;
    uint64_t pc = program_pc(p, u), end = p->base + p->bytes;
    emu_inst_describe(p->host + (pc - p->base), pc < end ? (size_t)(end - pc) : 0, pc,
                      p->wave64 ? 64 : 32, &info->inst);
    info->inst.host = p->host + (pc - p->base);
    info->relative = inst_is_relative(&info->inst.isa);
    info->inst.code = p->number;
    info->inst.id = p->n_insts++;
    info->next = d->infos;
    d->infos = info;
    return info;
}

const struct inst_info *program_decode(struct program *p, const struct uop *u)
{
    static const struct inst_info nothing = {
        .inst = {.kind = EMU_KIND_ILLEGAL, .bytes = 4}}; /* out of memory */
    struct inst_info *_Atomic *entry = &p->insts[u - p->uops];
    pthread_mutex_lock(&p->cache->lock);
    struct inst_info *info = atomic_load(entry);
    if (!info) {
        info = describe_at(data_of(p), u);
        atomic_store_explicit(entry, info, memory_order_release);
    }
    pthread_mutex_unlock(&p->cache->lock);
    return info ? info : &nothing;
}

static bool unchanged(const struct program_data *d)
{
    for (size_t i = 0; i < d->n_runs; i++) {
        const void *now = d->p.host + 4ull * d->runs[i].first;
        if (memcmp(now, d->runs[i].copy, (size_t)d->runs[i].dwords * 4) != 0)
            return false;
    }
    return true;
}

/* Unlink and free stale programs that nobody runs. Lock held. */
static void sweep(struct code_cache *c)
{
    struct program **link = &c->first;
    while (*link) {
        struct program *p = *link;
        if (data_of(p)->stale && !data_of(p)->users) {
            *link = p->next;
            program_free(p);
        } else {
            link = &p->next;
        }
    }
}

/* Programs that nobody runs make way for new ones. Lock held. */
static void make_room(struct code_cache *c)
{
    if (c->n_decoded <= MOST_KEPT)
        return;
    for (struct program *p = c->first; p; p = p->next)
        if (!data_of(p)->users)
            data_of(p)->stale = true;
    sweep(c);
}

rd_status program_get(struct code_cache *c, uint64_t entry, struct program_kind kind,
                      struct program **out)
{
    struct mem_region r;
    pthread_mutex_lock(&c->lock); /* what goes away meanwhile waits for it */
    if (!region_find(c->env.map, entry, &r, NULL) || !(r.perm & EMU_MEM_EXEC)) {
        pthread_mutex_unlock(&c->lock);
        return RD_E_NOT_FOUND;
    }
    struct program *p = c->first;
    for (; p; p = p->next) {
        struct program_data *d = data_of(p);
        if (d->stale || p->base != r.base || p->bytes != r.end - r.base ||
            p->host != region_host(&r, r.base) || p->wave64 != kind.wave64 ||
            p->privileged != kind.privileged || p->exceptions != kind.exceptions ||
            p->n_vgprs != kind.n_vgprs)
            continue;
        if (d->n_decoded <= MOST_KEPT && unchanged(d))
            break;
        d->stale = true;
    }
    if (!p) {
        make_room(c);
        p = program_new(&r, kind);
        if (p) {
            p->number = c->n_programs++;
            p->cache = c;
            p->next = c->first;
            c->first = p;
        }
    }
    rd_status st = RD_E_NOMEM;
    if (p) {
        data_of(p)->users++;
        st = decode_from(data_of(p), entry) ? RD_OK : RD_E_INVALID;
        if (st != RD_OK)
            data_of(p)->users--;
        else
            *out = p;
    }
    bool other = st == RD_OK && p->looks && !p->exceptions && !p->privileged;
    if (other) /* decode once more, to raise what the code looks for */
        data_of(p)->users--;
    sweep(c);
    pthread_mutex_unlock(&c->lock);
    kind.exceptions = true;
    return other ? program_get(c, entry, kind, out) : st;
}

void program_put(struct program *p)
{
    struct code_cache *c = p->cache;
    pthread_mutex_lock(&c->lock);
    data_of(p)->users--;
    sweep(c);
    pthread_mutex_unlock(&c->lock);
}

void code_cache_changed(struct code_cache *c, uint64_t va, uint64_t bytes)
{
    pthread_mutex_lock(&c->lock);
    for (struct program *p = c->first; p; p = p->next)
        if (p->base < va + bytes && va < p->base + p->bytes)
            data_of(p)->stale = true;
    sweep(c);
    pthread_mutex_unlock(&c->lock);
}
