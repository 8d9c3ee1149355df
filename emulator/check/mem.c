/* mem.c: accesses that leave their allocation, LDS or scratch, or are not permitted, by
 * the byte.
 *
 * Must not know how a fault ends a wave. Lanes are judged before the instruction runs;
 * with keep-going those that must not are kept from it. What only handlers know of
 * their addresses (buffers, images) is judged by the emulator, whose fault is
 * explained. SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "facts.h"
#include "heap.h"
#include "inspect.h"
#include "internal.h"

#define PAGE 4096u
#define NEAR (UINT64_C(1) << 20) /* so far from an allocation it may be meant */

enum verdict { FINE, OUTSIDE, READ_ONLY, LDS_OUTSIDE, SCRATCH_OUTSIDE };

/* Of the region, what the heap says the same of; false: it is nobody's there. */
static bool heap_allows(struct ck *ck, uint64_t address)
{
    uint64_t from, to, end = ck->region->va + ck->region->bytes;
    enum ck_heap_state state = ck_heap_at(ck->config.heap, address, &from, &to);
    if (from > ck->region->va)
        ck->region->va = from;
    ck->region->bytes = (to < end ? to : end) - ck->region->va;
    return state == CK_HEAP_NONE || state == CK_HEAP_LIVE;
}

/* The region at an address, or the allocation in it; the last one is remembered. */
static bool region_at(struct ck *ck, uint64_t address, struct emu_mem *out)
{
    if (address - ck->region->va >= ck->region->bytes &&
        (!emu_mem_find(ck->emu, address, ck->region) ||
         (ck->config.heap && !heap_allows(ck, address)))) {
        ck->region->bytes = 0;
        return false;
    }
    *out = *ck->region;
    return true;
}

void ck_mem_begin(struct ck *ck)
{
    for (unsigned i = 0; i < CK_REGIONS; i++)
        ck->regions[i].bytes = 0;
    ck->region = ck->regions;
}

/* An instruction usually stays in one allocation. What was remembered holds only as
 * long as nobody allocates or frees. */
static void choose_region(struct ck *ck, const struct emu_event *e)
{
    unsigned now = ck->config.heap ? ck_heap_generation(ck->config.heap) : 0;
    if (now != ck->heap)
        ck_mem_begin(ck);
    ck->heap = now;
    ck->region = &ck->regions[e->inst->pc / 4 % CK_REGIONS];
}

/* Compilers widen scalar loads over an end that is not a multiple of 16: memory is
 * never allocated in smaller pieces. */
#define SCALAR_GRAIN UINT64_C(16)

static enum verdict judge_global(struct ck *ck, uint64_t address, unsigned bytes,
                                 bool write, bool scalar)
{
    struct emu_mem r;
    unsigned perm = write ? EMU_MEM_WRITE : EMU_MEM_READ;
    for (unsigned done = 0; done < bytes;) {
        uint64_t at = address + done;
        if (!region_at(ck, at, &r))
            return OUTSIDE;
        if (!(r.perm & perm))
            return READ_ONLY;
        uint64_t inside = r.va + r.bytes - at;
        if (scalar)
            inside += (0 - (r.va + r.bytes)) % SCALAR_GRAIN;
        done += inside < bytes ? (unsigned)inside : bytes;
    }
    return FINE;
}

static enum verdict judge(struct ck *ck, const struct emu_access *a, uint64_t address)
{
    const struct emu_dispatch *d = ck->launch.dispatch;
    uint32_t limit = a->space == EMU_SPACE_LDS ? d->lds_bytes : d->scratch_bytes;
    bool inside = address <= limit && limit - address >= a->bytes;
    switch (a->space) {
    case EMU_SPACE_LDS:
        return inside ? FINE : LDS_OUTSIDE;
    case EMU_SPACE_SCRATCH:
        return inside ? FINE : SCRATCH_OUTSIDE;
    case EMU_SPACE_GLOBAL:
        return judge_global(ck, address, a->bytes, a->write, a->scalar);
    default: /* GDS: the emulator knows */
        return FINE;
    }
}

static const char *verb(const struct emu_access *a)
{
    return a->write ? a->read ? "atomic" : "write" : "read";
}

static void tell_region(const struct emu_mem *r, struct ck_finding *f)
{
    f->base = r->va;
    f->size = r->bytes;
    memcpy(f->allocation, r->name, sizeof f->allocation);
}

static void tell_block(const struct ck_block *b, struct ck_finding *f)
{
    f->base = b->base;
    f->size = b->size;
    f->made = b->made;
    if (b->freed)
        f->freed = b->freer;
    (void)snprintf(f->allocation, sizeof f->allocation, "memory of %.29s",
                   *b->made.call ? b->made.call : "the runtime");
}

bool ck_mem_holds(struct ck *ck, uint64_t address, struct ck_finding *f)
{
    struct emu_mem r;
    struct ck_block b;
    if (ck->config.heap && ck_heap_near(ck->config.heap, address, &b) &&
        address - b.base < b.size) {
        tell_block(&b, f);
        return true;
    }
    if (!emu_mem_find(ck->emu, address, &r))
        return false;
    tell_region(&r, f);
    return true;
}

/* How far outside; UINT64_MAX: there is no allocation. */
static uint64_t gap_to(const struct ck_finding *f)
{
    uint64_t end = f->base + f->size;
    return !f->size               ? UINT64_MAX
           : f->address >= end    ? f->address - end
           : f->address < f->base ? f->base - f->address
                                  : 0;
}

/* The allocation at or nearest to the address: of the heap, else a region. */
static void find_nearest(struct ck *ck, struct ck_finding *f)
{
    struct emu_mem r;
    struct ck_block b;
    if (emu_mem_find(ck->emu, f->address, &r) ||
        emu_mem_nearest(ck->emu, f->address, &r))
        tell_region(&r, f);
    uint64_t gap = gap_to(f), from, to;
    if (!ck->config.heap || !ck_heap_near(ck->config.heap, f->address, &b))
        return;
    struct ck_finding other = *f;
    tell_block(&b, &other);
    if (ck_heap_at(ck->config.heap, f->address, &from, &to) != CK_HEAP_NONE ||
        gap_to(&other) <= gap)
        *f = other;
}

/* Has the memory been freed? */
static bool was_freed(struct ck *ck, struct ck_finding *f)
{
    struct emu_mem r;
    struct ck_block b;
    if (ck->config.heap && ck_heap_near(ck->config.heap, f->address, &b) && b.freed &&
        f->address - b.base < b.extent) {
        tell_block(&b, f);
        return true;
    }
    if (emu_mem_find(ck->emu, f->address, &r))
        return false;
    if (ck->config.heap && ck_heap_gone(ck->config.heap, f->address, &b)) {
        b.freed = true;
        tell_block(&b, f);
        return true;
    }
    if (!emu_mem_gone(ck->emu, f->address, &r))
        return false;
    tell_region(&r, f);
    return true;
}

/* Where an access lies that leaves the allocation next to it. */
static void place_outside(struct ck *ck, const struct emu_access *a,
                          struct ck_finding *f)
{
    const char *what = verb(a), *name = f->allocation;
    if (f->address < PAGE) {
        (void)snprintf(f->kind, sizeof f->kind, "null-pointer");
        (void)snprintf(f->text, sizeof f->text, "%u-byte %s at 0x%" PRIx64, a->bytes,
                       what, f->address);
        return;
    }
    if (was_freed(ck, f)) {
        (void)snprintf(f->kind, sizeof f->kind, "use-after-free");
        (void)snprintf(f->text, sizeof f->text,
                       "%u-byte %s of %s, which has been freed", a->bytes, what,
                       *name ? name : "memory");
        return;
    }
    find_nearest(ck, f);
    uint64_t end = f->base + f->size, gap = gap_to(f);
    if (gap < NEAR && f->address >= f->base && f->address < end) {
        (void)snprintf(f->text, sizeof f->text,
                       "%u-byte %s that ends %" PRIu64 " bytes past the end of %s",
                       a->bytes, what, f->address + a->bytes - end, name);
    } else if (gap == 0) {
        (void)snprintf(f->text, sizeof f->text, "%u-byte %s at the end of %s", a->bytes,
                       what, name);
    } else if (gap < NEAR) {
        (void)snprintf(f->text, sizeof f->text, "%u-byte %s %" PRIu64 " bytes %s of %s",
                       a->bytes, what, gap,
                       f->address >= end ? "past the end" : "before the start", name);
    } else {
        (void)snprintf(f->kind, sizeof f->kind, "wild-address");
        (void)snprintf(f->text, sizeof f->text,
                       "%u-byte %s at 0x%" PRIx64 ", far from every allocation",
                       a->bytes, what, f->address);
        f->size = 0;
        f->made.n = f->freed.n = 0;
        *f->made.call = *f->freed.call = *f->allocation = '\0';
    }
}

static void place_read_only(struct ck *ck, const struct emu_access *a,
                            struct ck_finding *f)
{
    struct emu_mem r;
    if (!emu_mem_find(ck->emu, f->address, &r))
        return;
    if (r.perm & EMU_MEM_EXEC && a->write)
        (void)snprintf(f->kind, sizeof f->kind, "write-to-code");
    else if (!a->write)
        (void)snprintf(f->kind, sizeof f->kind, "unreadable");
    (void)snprintf(f->text, sizeof f->text, "%u-byte %s %s %s", a->bytes, verb(a),
                   a->write ? "to read-only" : "of unreadable", r.name);
    tell_region(&r, f);
}

static void place_private(struct ck *ck, const struct emu_access *a,
                          struct ck_finding *f)
{
    const struct emu_dispatch *d = ck->launch.dispatch;
    bool lds = a->space == EMU_SPACE_LDS;
    f->size = lds ? d->lds_bytes : d->scratch_bytes;
    (void)snprintf(f->allocation, sizeof f->allocation, "%s",
                   lds ? "LDS of the workgroup" : "scratch of a work-item");
    (void)snprintf(f->text, sizeof f->text,
                   "%u-byte %s at byte %" PRIu64 " of the %s, which has %" PRIu64
                   " bytes",
                   a->bytes, verb(a), f->address, f->allocation, f->size);
}

static const char *const kinds[] = {
    [OUTSIDE] = "out-of-bounds",
    [READ_ONLY] = "read-only",
    [LDS_OUTSIDE] = "lds-out-of-bounds",
    [SCRATCH_OUTSIDE] = "scratch-out-of-bounds",
};

static void tell(struct ck *ck, const struct emu_event *e, const struct emu_access *a,
                 uint64_t lanes, unsigned lane, enum verdict v)
{
    struct ck_finding f;
    ck_finding_at(ck, CK_MEM, kinds[v], e, a->scalar ? 0 : lanes, &f);
    f.at.write = a->write;
    f.at.atomic = a->read && a->write;
    f.located = true;
    f.space = a->space;
    f.bytes = a->bytes;
    f.address = a->address[lane];
    if (v == OUTSIDE)
        place_outside(ck, a, &f);
    else if (v == READ_ONLY)
        place_read_only(ck, a, &f);
    else
        place_private(ck, a, &f);
    ck_report(ck, &f);
}

/* Are all lanes inside of one place that may be accessed? The usual case. */
static bool all_fine(const struct ck *ck, const struct emu_access *a)
{
    const struct emu_dispatch *d = ck->launch.dispatch;
    unsigned perm = a->write ? EMU_MEM_WRITE : EMU_MEM_READ;
    uint64_t base = 0, bytes, outside = 0;
    switch (a->space) {
    case EMU_SPACE_GLOBAL:
        base = ck->region->va;
        bytes = (ck->region->perm & perm) == perm ? ck->region->bytes : 0;
        break;
    case EMU_SPACE_LDS:
        bytes = d->lds_bytes;
        break;
    case EMU_SPACE_SCRATCH:
        bytes = d->scratch_bytes;
        break;
    default:
        bytes = UINT32_MAX;
    }
    if (bytes < a->bytes)
        return false;
    uint64_t last = bytes - a->bytes, all = ~UINT64_C(0) >> (64 - ck->launch.lanes);
    if (a->scalar)
        return a->address[0] - base <= last;
    for (unsigned l = 0; l < ck->launch.lanes; l++) { /* bit 63: not in 0 to last */
        uint64_t at = a->address[l] - base;
        outside |= at | (last - at);
    }
    if (!(outside >> 63) || a->lanes == all)
        return !(outside >> 63);
    outside = 0;
    for (uint64_t m = a->lanes; m; m &= m - 1)
        outside |= a->address[__builtin_ctzll(m)] - base > last;
    return !outside;
}

/* Judge the lanes of an access; returns the bad ones, which are told of together. */
static uint64_t judge_access(struct ck *ck, const struct emu_event *e,
                             const struct emu_access *a)
{
    uint64_t bad = 0;
    unsigned first = 0;
    enum verdict worst = FINE;
    if (all_fine(ck, a))
        return 0;
    for (uint64_t m = a->lanes; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctzll(m);
        enum verdict v = judge(ck, a, a->address[l]);
        if (v == FINE)
            continue;
        if (!bad) {
            first = l;
            worst = v;
        }
        bad |= UINT64_C(1) << l;
    }
    if (bad)
        tell(ck, e, a, bad, first, worst);
    return bad;
}

/* The lanes that a bad access keeps from running. */
static uint64_t stops(const struct ck *ck, const struct emu_access *a)
{
    return a->space == EMU_SPACE_LDS && ck->config.lds_passes ? 0 : ~UINT64_C(0);
}

uint64_t ck_mem_admit(struct ck *ck, const struct emu_event *e)
{
    uint64_t bad = 0;
    choose_region(ck, e);
    for (unsigned i = 0; i < e->n_accesses; i++)
        bad |= judge_access(ck, e, &e->access[i]) & stops(ck, &e->access[i]);
    return ck->config.keep_going ? ~bad : ~UINT64_C(0);
}

bool ck_mem_ask(struct ck *ck, const struct emu_event *e)
{
    choose_region(ck, e);
    for (unsigned i = 0; i < e->n_accesses; i++)
        if (!all_fine(ck, &e->access[i]))
            return true;
    return false;
}

/* A fault that no access shows: of a handler that alone knows its addresses, or of the
 * alignment. */
static void tell_fault(struct ck *ck, const struct emu_event *e)
{
    const struct emu_fault *fault = e->fault;
    struct emu_access a = {.bytes = (uint16_t)fault->bytes, .write = fault->write};
    unsigned lane = fault->lane < 0 ? 0 : (unsigned)fault->lane & 63u;
    a.space = fault->kind == EMU_FAULT_LDS_RANGE       ? EMU_SPACE_LDS
              : fault->kind == EMU_FAULT_SCRATCH_RANGE ? EMU_SPACE_SCRATCH
                                                       : EMU_SPACE_GLOBAL;
    a.scalar = fault->lane < 0;
    a.address[lane] = fault->address;
    uint64_t lanes = UINT64_C(1) << lane;
    switch (fault->kind) {
    case EMU_FAULT_UNMAPPED:
        tell(ck, e, &a, lanes, lane, OUTSIDE);
        return;
    case EMU_FAULT_PERMISSION:
        tell(ck, e, &a, lanes, lane, READ_ONLY);
        return;
    case EMU_FAULT_LDS_RANGE:
        tell(ck, e, &a, lanes, lane, LDS_OUTSIDE);
        return;
    case EMU_FAULT_SCRATCH_RANGE:
        tell(ck, e, &a, lanes, lane, SCRATCH_OUTSIDE);
        return;
    default:
        return;
    }
}

/* What is wrong with a resource of four or eight words, or NULL: the chip ignores an
 * instruction whose resource is of another kind, and buffers without a format (manual
 * 9.4, 9.6). All zeros are nothing on purpose. */
static const char *resource_problem(bool image, const uint32_t *word)
{
    unsigned type = word[3] >> 30; /* 0: a buffer; 2, 3: the upper bits of an image's */
    if (image)
        return type ? NULL
                    : "image instruction with the resource of a buffer: it is ignored";
    if (type)
        return type == 1 ? "buffer instruction with a resource of no valid type: it is "
                           "ignored"
                         : "buffer instruction with the resource of an image: it is "
                           "ignored";
    bool format = word[3] >> 12 & 63u, add_tid = word[3] >> 23 & 1u;
    return format || add_tid || !word[2]
               ? NULL
               : "buffer instruction with a resource without "
                 "a format: loads bring 0, stores are dropped";
}

void ck_mem_resource(struct ck *ck, const struct emu_event *e)
{
    const struct isa_inst *inst = &e->inst->isa;
    uint32_t word[8] = {0}, any = 0;
    bool image = inst->enc == ISA_ENC_MIMG;
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        for (unsigned k = 0; o->field == ISA_FIELD_SRSRC && k < o->dwords && k < 8; k++)
            any |= word[k] = emu_wave_special(e->wave, o->sel + k);
    }
    const char *problem =
        any && e->exec && !e->fault ? resource_problem(image, word) : NULL;
    if (!problem)
        return;
    struct ck_finding f;
    ck_finding_at(ck, CK_MEM, image ? "no-image" : "no-buffer", e, e->exec, &f);
    f.at.write = isa_facts(inst->op)->access == ISA_ACCESS_STORE;
    (void)snprintf(f.text, sizeof f.text, "%s", problem);
    ck_report(ck, &f);
}

static void tell_misaligned(struct ck *ck, const struct emu_event *e)
{
    struct ck_finding f;
    const struct emu_fault *fault = e->fault;
    uint64_t lane = fault->lane < 0 ? 0 : UINT64_C(1) << (fault->lane & 63);
    ck_finding_at(ck, CK_MEM, "misaligned", e, lane, &f);
    f.at.write = fault->write;
    f.located = true;
    f.space = e->n_accesses ? e->access[0].space : EMU_SPACE_GLOBAL;
    f.bytes = fault->bytes;
    f.address = fault->address;
    (void)snprintf(f.text, sizeof f.text, "%u-byte %s at misaligned 0x%" PRIx64,
                   fault->bytes, fault->write ? "write" : "read", fault->address);
    ck_report(ck, &f);
}

void ck_mem_fault(struct ck *ck, const struct emu_event *e)
{
    uint64_t bad = 0;
    choose_region(ck, e);
    if (e->fault->kind == EMU_FAULT_MISALIGNED) {
        tell_misaligned(ck, e);
        return;
    }
    for (unsigned i = 0; i < e->n_accesses; i++)
        bad |= judge_access(ck, e, &e->access[i]);
    if (!bad)
        tell_fault(ck, e);
}
