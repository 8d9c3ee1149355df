/* space.c: the address spaces of a board, as kernels see them.
 *
 * Each has an emulator of its own, made when first used, whose map is the board's
 * business: what page tables say changes by itself. Packets do not come here, they walk
 * (vm_translate).
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "internal.h"

struct vm *vm_of(struct gpu *gpu, unsigned space)
{
    if (!gpu->host.board)
        return &gpu->vm;
    rd_assert(space < GPU_SPACES, "address space %u", space);
    pthread_mutex_lock(&gpu->space_lock);
    struct vm *vm = gpu->spaces[space];
    if (!vm && (vm = calloc(1, sizeof(*vm)))) {
        vm_init(vm);
        vm->count = gpu->vm.count;
        vm->engine = gpu->vm.engine;
        vm->seed = gpu->vm.seed;
        vm->board = gpu;
        vm->space = space;
        gpu->spaces[space] = vm;
    }
    pthread_mutex_unlock(&gpu->space_lock);
    return vm;
}

static rd_status emu_of(struct gpu *gpu, unsigned space, struct emu **emu)
{
    struct vm *vm = vm_of(gpu, space);
    return vm ? vm_emu(vm, emu) : RD_E_NOMEM;
}

/* Addresses have 48 bits, of which the uppermost is the sign. */
static uint64_t canonical(uint64_t va)
{
    return (uint64_t)((int64_t)(va << 16) >> 16);
}

rd_status gpu_space_place(struct gpu *gpu, unsigned space, uint64_t va, void *host,
                          uint64_t bytes, unsigned perm, const char *name)
{
    struct emu *emu;
    rd_status st = emu_of(gpu, space, &emu);
    return st == RD_OK
               ? emu_mem_place(emu, canonical(va), host, bytes, vm_emu_perm(perm), name)
               : st;
}

rd_status gpu_space_cut(struct gpu *gpu, unsigned space, uint64_t va, uint64_t bytes,
                        uint64_t from, uint64_t to, unsigned perm)
{
    struct emu_mem_piece pieces[2];
    struct emu *emu;
    unsigned n = 0;
    rd_status st = emu_of(gpu, space, &emu);
    if (st != RD_OK)
        return st;
    perm = vm_emu_perm(perm);
    if (from > va)
        pieces[n++] = (struct emu_mem_piece){canonical(va), from - va, perm};
    if (to < va + bytes)
        pieces[n++] = (struct emu_mem_piece){canonical(to), va + bytes - to, perm};
    return emu_mem_change(emu, canonical(va), pieces, n);
}

void gpu_space_close(struct gpu *gpu, unsigned space)
{
    pthread_mutex_lock(&gpu->space_lock);
    struct vm *vm = gpu->spaces[space];
    gpu->spaces[space] = NULL;
    pthread_mutex_unlock(&gpu->space_lock);
    if (vm && vm->emu)
        emu_destroy(vm->emu);
    free(vm);
}

void gpu_flush(struct gpu *gpu)
{
    atomic_fetch_add(&gpu->vm.generation, 1);
}
