/* vm.c: the GPU's address space, counted per page range, mirrored into the emulator.
 *
 * Segments are sorted and disjoint; each counts the calls that cover it. The emulator
 * holds regions, which are cut only when a part of one goes away: kernels that use the
 * rest may run meanwhile. A board's spaces are found by its page tables instead.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "timing.h"

void vm_init(struct vm *vm)
{
    pthread_rwlock_init(&vm->lock, NULL);
    atomic_store(&vm->generation, 1);
}

/* Index of the first segment that ends after va. */
static size_t seg_at(const struct vm *vm, uint64_t va)
{
    size_t lo = 0, hi = vm->n_segs;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (vm->segs[mid].end <= va)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool seg_insert(struct vm *vm, size_t at, const struct vm_seg *seg)
{
    if (vm->n_segs == vm->cap_segs) {
        size_t cap = vm->cap_segs ? vm->cap_segs * 2 : 64;
        struct vm_seg *segs = realloc(vm->segs, cap * sizeof(*segs));
        if (!segs)
            return false;
        vm->segs = segs;
        vm->cap_segs = cap;
    }
    memmove(vm->segs + at + 1, vm->segs + at, (vm->n_segs - at) * sizeof(*vm->segs));
    vm->segs[at] = *seg;
    vm->n_segs++;
    return true;
}

/* Make va a segment boundary if it lies inside one. */
static bool seg_split(struct vm *vm, uint64_t va)
{
    size_t i = seg_at(vm, va);
    if (i == vm->n_segs || vm->segs[i].start >= va)
        return true;
    struct vm_seg right = vm->segs[i];
    right.start = va;
    if (!seg_insert(vm, i + 1, &right))
        return false;
    vm->segs[i].end = va;
    return true;
}

unsigned vm_emu_perm(unsigned perm)
{
    return (perm & GPU_READ ? EMU_MEM_READ : 0) |
           (perm & GPU_WRITE ? EMU_MEM_WRITE : 0) |
           (perm & GPU_EXEC ? EMU_MEM_EXEC : 0);
}

static bool sees(struct emu *emu, const struct vm_region *r)
{
    return emu_mem_add(emu, r->start, r->end - r->start, vm_emu_perm(r->perm),
                       r->name) == RD_OK;
}

static bool emu_add(struct vm *vm, const struct vm_region *r)
{
    bool ok = !vm->emu || sees(vm->emu, r);
    for (struct vm_beside *b = vm->beside; ok && b; b = b->next)
        ok = sees(b->emu, r);
    return ok;
}

static void region_place(struct vm *vm, size_t at, const struct vm_region *r)
{
    memmove(vm->regions + at + 1, vm->regions + at,
            (vm->n_regions - at) * sizeof(*vm->regions));
    vm->regions[at] = *r;
    vm->regions[at].number = vm->next_region++;
    vm->n_regions++;
}

static bool region_room(struct vm *vm, size_t n)
{
    if (vm->n_regions + n <= vm->cap_regions)
        return true;
    size_t cap = vm->cap_regions * 2 + 64;
    struct vm_region *regions = realloc(vm->regions, cap * sizeof(*regions));
    if (!regions)
        return false;
    vm->regions = regions;
    vm->cap_regions = cap;
    return true;
}

static bool region_insert(struct vm *vm, const struct vm_region *r)
{
    size_t at = 0;
    if (!region_room(vm, 1))
        return false;
    while (at < vm->n_regions && vm->regions[at].start < r->start)
        at++;
    region_place(vm, at, r);
    return emu_add(vm, r);
}

/* What stays of a region when [start, end) of it goes, or (perm not 0) gets other
 * permissions: the part before, the middle, the part behind. */
static unsigned region_pieces(const struct vm_region *r, uint64_t start, uint64_t end,
                              unsigned perm, struct vm_region pieces[EMU_MEM_PIECES])
{
    unsigned n = 0;
    if (r->start < start) {
        pieces[n] = *r;
        pieces[n++].end = start;
    }
    if (perm) {
        pieces[n] = *r;
        pieces[n].start = r->start > start ? r->start : start;
        pieces[n].end = r->end < end ? r->end : end;
        pieces[n++].perm = perm;
    }
    if (r->end > end) {
        pieces[n] = *r;
        pieces[n++].start = end;
    }
    return n;
}

/* For the emulator in one step: its waves use what stays. */
static bool emu_change(struct vm *vm, uint64_t va, const struct vm_region *pieces,
                       unsigned n)
{
    struct emu_mem_piece now[EMU_MEM_PIECES];
    for (unsigned i = 0; i < n; i++)
        now[i] = (struct emu_mem_piece){.va = pieces[i].start,
                                        .bytes = pieces[i].end - pieces[i].start,
                                        .perm = vm_emu_perm(pieces[i].perm)};
    bool ok = !vm->emu || emu_mem_change(vm->emu, va, now, n) == RD_OK;
    for (struct vm_beside *b = vm->beside; ok && b; b = b->next)
        ok = emu_mem_change(b->emu, va, now, n) == RD_OK;
    return ok;
}

/* Cut [start, end) out of the regions, or give it other permissions. */
static bool region_change(struct vm *vm, uint64_t start, uint64_t end, unsigned perm)
{
    struct vm_region pieces[EMU_MEM_PIECES];
    for (size_t i = 0; i < vm->n_regions;) {
        const struct vm_region *r = &vm->regions[i];
        if (r->end <= start || r->start >= end) {
            i++;
            continue;
        }
        unsigned n = region_pieces(r, start, end, perm, pieces);
        uint64_t va = r->start;
        if (!region_room(vm, n) || !emu_change(vm, va, pieces, n))
            return false;
        vm->n_regions--;
        memmove(vm->regions + i, vm->regions + i + 1,
                (vm->n_regions - i) * sizeof(*vm->regions));
        for (unsigned k = 0; k < n; k++)
            region_place(vm, i++, &pieces[k]);
    }
    return true;
}

static bool add_gap(struct vm *vm, size_t at, uint64_t start, uint64_t end,
                    unsigned perm, const char *name)
{
    struct vm_seg seg = {.start = start, .end = end, .perm = perm, .refs = 1};
    struct vm_region region = {.start = start, .end = end, .perm = perm};
    snprintf(seg.name, sizeof(seg.name), "%s", name);
    snprintf(region.name, sizeof(region.name), "%s", name);
    return seg_insert(vm, at, &seg) && region_insert(vm, &region);
}

/* Count an existing segment once more; its permissions become the union. */
static bool add_ref(struct vm *vm, struct vm_seg *seg, unsigned perm)
{
    seg->refs++;
    if ((seg->perm | perm) == seg->perm)
        return true;
    seg->perm |= perm;
    return region_change(vm, seg->start, seg->end, seg->perm);
}

static bool add_locked(struct vm *vm, uint64_t start, uint64_t end, unsigned perm,
                       const char *name)
{
    if (!seg_split(vm, start) || !seg_split(vm, end))
        return false;
    uint64_t at = start;
    for (size_t i = seg_at(vm, start); at < end; i++) {
        uint64_t next =
            i < vm->n_segs && vm->segs[i].start < end ? vm->segs[i].start : end;
        if (next > at) {
            if (!add_gap(vm, i, at, next, perm, name))
                return false;
            at = next;
        } else {
            if (!add_ref(vm, &vm->segs[i], perm))
                return false;
            at = vm->segs[i].end;
        }
    }
    return true;
}

rd_status gpu_vm_add(struct gpu *gpu, uint64_t va, uint64_t bytes, unsigned perm,
                     const char *name)
{
    if (!bytes || va + bytes < va)
        return RD_E_INVALID;
    pthread_rwlock_wrlock(&gpu->vm.lock);
    bool ok = add_locked(&gpu->vm, va, va + bytes, perm, name);
    atomic_fetch_add(&gpu->vm.generation, 1);
    pthread_rwlock_unlock(&gpu->vm.lock);
    return ok ? RD_OK : RD_E_NOMEM;
}

void gpu_vm_remove(struct gpu *gpu, uint64_t va, uint64_t bytes)
{
    struct vm *vm = &gpu->vm;
    uint64_t end = va + bytes;
    pthread_rwlock_wrlock(&vm->lock);
    if (seg_split(vm, va) && seg_split(vm, end)) {
        size_t i = seg_at(vm, va);
        while (i < vm->n_segs && vm->segs[i].start < end) {
            if (--vm->segs[i].refs) {
                i++;
                continue;
            }
            (void)region_change(vm, vm->segs[i].start, vm->segs[i].end, 0);
            vm->n_segs--;
            memmove(vm->segs + i, vm->segs + i + 1,
                    (vm->n_segs - i) * sizeof(*vm->segs));
        }
    }
    atomic_fetch_add(&vm->generation, 1);
    pthread_rwlock_unlock(&vm->lock);
}

/* How far from va, below end, everything is visible with these permissions.
 * all  out, the permissions that all of it has. Lock held. */
static uint64_t visible_until(const struct vm *vm, uint64_t va, uint64_t end,
                              unsigned perm, unsigned *all)
{
    *all = ~0u;
    for (size_t i = seg_at(vm, va); va < end && i < vm->n_segs; i++) {
        const struct vm_seg *seg = &vm->segs[i];
        if (seg->start > va || (seg->perm & perm) != perm)
            break;
        *all &= seg->perm;
        va = seg->end;
    }
    return va;
}

bool gpu_vm_check(struct gpu *gpu, uint64_t va, uint64_t bytes, unsigned perm)
{
    uint64_t end = va + bytes;
    unsigned all;
    if (end < va)
        return false;
    pthread_rwlock_rdlock(&gpu->vm.lock);
    uint64_t until = visible_until(&gpu->vm, va, end, perm, &all);
    pthread_rwlock_unlock(&gpu->vm.lock);
    return until >= end;
}

static void give(uint64_t va, uint64_t bytes, uint64_t until, uint64_t delta,
                 struct vm_span *span)
{
    uint64_t left = until - va;
    span->host =
        (uint8_t *)(uintptr_t)(va + delta); // NOLINT: an address, now a pointer
    span->bytes = bytes < left ? bytes : left;
}

static bool in_tlb(const struct vm *vm, struct vm_tlb *tlb, uint64_t va, uint64_t bytes,
                   unsigned access, struct vm_span *span)
{
    uint64_t now = atomic_load_explicit(&vm->generation, memory_order_acquire);
    if (tlb->generation != now) {
        *tlb = (struct vm_tlb){.generation = now};
        return false;
    }
    for (unsigned i = 0; i < VM_TLB_ENTRIES; i++) {
        if (va - tlb->entry[i].start >= tlb->entry[i].end - tlb->entry[i].start ||
            (tlb->entry[i].perm & access) != access)
            continue;
        give(va, bytes, tlb->entry[i].end, tlb->entry[i].delta, span);
        return span->bytes == bytes;
    }
    return false;
}

static void remember(struct vm_tlb *tlb, uint64_t generation,
                     const struct gpu_page *page)
{
    unsigned i = tlb->next++ % VM_TLB_ENTRIES;
    if (generation != tlb->generation)
        return;
    tlb->entry[i].start = page->start;
    tlb->entry[i].end = page->end;
    tlb->entry[i].delta = (uintptr_t)page->host - page->start;
    tlb->entry[i].perm = page->perm;
}

/* By the board's page tables. */
static rd_status walk(struct gpu *gpu, unsigned space, uint64_t va, uint64_t bytes,
                      unsigned access, struct vm_tlb *tlb, struct vm_span *span,
                      struct gpu_page_fault *fault)
{
    uint64_t generation = atomic_load(&gpu->vm.generation);
    struct gpu_page page;
    if (!gpu->host.board->page(gpu->host.ctx, space, va, access, &page, fault))
        return RD_E_FAULT;
    if (tlb)
        remember(tlb, generation, &page);
    give(va, bytes, page.end, (uintptr_t)page.host - page.start, span);
    return RD_OK;
}

rd_status vm_translate(struct gpu *gpu, unsigned vmid, uint64_t va, uint64_t bytes,
                       unsigned access, struct vm_tlb *tlb, struct vm_span *span,
                       struct gpu_page_fault *fault)
{
    struct vm *vm = &gpu->vm;
    if (tlb && in_tlb(vm, tlb, va, bytes, access, span))
        return RD_OK;
    if (gpu->host.board)
        return walk(gpu, vmid, va, bytes, access, tlb, span, fault);
    rd_assert(vmid == VM_PROCESS, "address space %u of one", vmid);
    uint64_t end = va + bytes < va ? UINT64_MAX : va + bytes;
    unsigned all, any;
    pthread_rwlock_rdlock(&vm->lock);
    uint64_t until = visible_until(vm, va, end, access, &all);
    bool present = until > va || visible_until(vm, va, va + 1, 0, &any) > va;
    uint64_t generation = atomic_load(&vm->generation);
    uint64_t start = until > va ? vm->segs[seg_at(vm, va)].start : va;
    pthread_rwlock_unlock(&vm->lock);
    if (until <= va) {
        *fault = (struct gpu_page_fault){.va = va,
                                         .present = present,
                                         .write = access & GPU_WRITE,
                                         .exec = access & GPU_EXEC};
        return RD_E_FAULT;
    }
    struct gpu_page seen = {.start = start, .end = until, .perm = all};
    seen.host = (uint8_t *)(uintptr_t)start; // NOLINT: here an address is a pointer
    if (tlb)
        remember(tlb, generation, &seen);
    give(va, bytes, until, 0, span);
    return RD_OK;
}

void vm_store(void *to, const void *from, uint64_t bytes)
{
    if (bytes == 8 && (uintptr_t)to % 8 == 0) {
        uint64_t v;
        memcpy(&v, from, 8);
        __atomic_store_n((uint64_t *)to, v, __ATOMIC_RELEASE);
    } else if (bytes == 4 && (uintptr_t)to % 4 == 0) {
        uint32_t v;
        memcpy(&v, from, 4);
        __atomic_store_n((uint32_t *)to, v, __ATOMIC_RELEASE);
    } else {
        memcpy(to, from, bytes);
    }
}

bool gpu_read(struct gpu *gpu, uint64_t va, void *to, uint64_t bytes)
{
    return vm_read(gpu, VM_PROCESS, va, to, bytes);
}

bool gpu_write(struct gpu *gpu, uint64_t va, const void *from, uint64_t bytes)
{
    return vm_write(gpu, VM_PROCESS, va, from, bytes);
}

bool vm_read(struct gpu *gpu, unsigned space, uint64_t va, void *to, uint64_t bytes)
{
    struct gpu_page_fault fault;
    struct vm_span span;
    for (uint8_t *p = to; bytes;
         p += span.bytes, va += span.bytes, bytes -= span.bytes) {
        if (vm_translate(gpu, space, va, bytes, GPU_READ, NULL, &span, &fault) != RD_OK)
            return false;
        memcpy(p, span.host, span.bytes);
    }
    return true;
}

bool vm_write(struct gpu *gpu, unsigned space, uint64_t va, const void *from,
              uint64_t bytes)
{
    struct gpu_page_fault fault;
    struct vm_span span;
    for (const uint8_t *p = from; bytes;
         p += span.bytes, va += span.bytes, bytes -= span.bytes) {
        if (vm_translate(gpu, space, va, bytes, GPU_WRITE, NULL, &span, &fault) !=
            RD_OK)
            return false;
        vm_store(span.host, p, span.bytes);
    }
    return true;
}

struct by_number {
    uint64_t number;
    struct tm_range range;
};

static int compare_numbers(const void *a, const void *b)
{
    const struct by_number *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* In order of mapping, which does not depend on where the host put them. */
struct tm_range *vm_ranges(struct vm *vm, size_t *count)
{
    pthread_rwlock_rdlock(&vm->lock);
    size_t n = vm->n_regions;
    struct by_number *list = calloc(n + 1, sizeof(*list));
    struct tm_range *ranges = calloc(n + 1, sizeof(*ranges));
    for (size_t i = 0; list && i < n; i++) {
        const struct vm_region *r = &vm->regions[i];
        list[i] =
            (struct by_number){.number = r->number,
                               .range = {.base = r->start, .bytes = r->end - r->start}};
    }
    pthread_rwlock_unlock(&vm->lock);
    if (list && ranges) {
        qsort(list, n, sizeof(*list), compare_numbers);
        for (size_t i = 0; i < n; i++)
            ranges[i] = list[i].range;
    }
    if (!list) {
        free(ranges);
        ranges = NULL;
    }
    free(list);
    *count = n;
    return ranges;
}

void vm_nearest(struct vm *vm, uint64_t va, char *text, size_t size)
{
    pthread_rwlock_rdlock(&vm->lock);
    size_t i = seg_at(vm, va);
    if (i == vm->n_segs && i)
        i--;
    else if (i && vm->segs[i].start > va &&
             va - vm->segs[i - 1].end < vm->segs[i].start - va)
        i--;
    if (i < vm->n_segs)
        snprintf(text, size, "nearest: %s [0x%" PRIx64 ", 0x%" PRIx64 ")",
                 vm->segs[i].name, vm->segs[i].start, vm->segs[i].end);
    else
        snprintf(text, size, "nothing is mapped");
    pthread_rwlock_unlock(&vm->lock);
}

static bool find_file(void *ctx, uint64_t host, struct emu_sparse *out)
{
    const struct vm *vm = ctx;
    struct gpu_file file;
    if (!vm->host->file(vm->host->ctx, host, &file))
        return false;
    *out = (struct emu_sparse){
        .host = host, .bytes = file.bytes, .fd = file.fd, .offset = file.offset};
    return true;
}

/* What has been mapped since the kernel began. */
static void look_again(void *ctx, uint64_t va)
{
    const struct vm *vm = ctx;
    vm->board->host.board->mirror_page(vm->board->host.ctx, vm->space, va);
}

static rd_status make_emu(struct vm *vm, struct emu **out)
{
    struct emu_config config = {.threads = vm->host_threads,
                                .simd = vm->simd,
                                .seed = vm->seed,
                                .lds_unreported = true,
                                .count = vm->count,
                                .engine = vm->engine,
                                .perf_map = vm->perf_map,
                                .symbol = vm->symbol,
                                .symbol_ctx = vm->symbol_ctx,
                                .sparse = vm->host ? find_file : NULL,
                                .sparse_ctx = vm,
                                /* Nobody shows it to those beside. */
                                .missing =
                                    vm->board && out == &vm->emu ? look_again : NULL,
                                .missing_ctx = vm};
    return emu_create(&config, out);
}

rd_status vm_emu_beside(struct vm *vm, struct vm_beside *b)
{
    pthread_rwlock_wrlock(&vm->lock);
    rd_status st = make_emu(vm, &b->emu);
    for (size_t i = 0; st == RD_OK && i < vm->n_regions; i++)
        if (!sees(b->emu, &vm->regions[i])) {
            emu_destroy(b->emu);
            st = RD_E_NOMEM;
        }
    if (st == RD_OK) {
        b->next = vm->beside;
        vm->beside = b;
    }
    pthread_rwlock_unlock(&vm->lock);
    return st;
}

void vm_emu_leave(struct vm *vm, struct vm_beside *b)
{
    pthread_rwlock_wrlock(&vm->lock);
    struct vm_beside **at = &vm->beside;
    while (*at != b)
        at = &(*at)->next;
    *at = b->next;
    pthread_rwlock_unlock(&vm->lock);
    emu_destroy(b->emu);
}

rd_status vm_emu(struct vm *vm, struct emu **out)
{
    rd_status st = RD_OK;
    pthread_rwlock_wrlock(&vm->lock);
    if (!vm->emu) {
        st = make_emu(vm, &vm->emu);
        for (size_t i = 0; st == RD_OK && i < vm->n_regions; i++)
            if (!emu_add(vm, &vm->regions[i]))
                st = RD_E_NOMEM;
    }
    pthread_rwlock_unlock(&vm->lock);
    *out = vm->emu;
    return st;
}
