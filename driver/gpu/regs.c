/* regs.c: the register file: storage, the table of registers that somebody models,
 * hooks.
 *
 * Must not know packets. Storage is sparse over the whole address range. Invariant: the
 * value of a register that nobody models is what was written last, or 0; nothing is
 * made up.
 * SPDX-License-Identifier: MIT
 */
#include "regs.h"

#include <stdlib.h>

#include "internal.h"
#include "pm4.h"

#define N_PAGES (1u << (REG_BITS - REG_PAGE_BITS))

struct reg_row {
    uint32_t reg, count, reset;
    uint32_t (*read)(struct gpu *gpu, uint32_t reg);
    void (*write)(struct gpu *gpu, uint32_t reg, uint32_t value);
};

/* Memory is coherent here, so a flush is done at once; the bits are those asked for. */
static void flush_hdp(struct gpu *gpu, uint32_t reg, uint32_t value)
{
    enum { DONE_BEHIND_REQUEST = 1 };
    uint32_t done = reg + DONE_BEHIND_REQUEST;
    reg_write(gpu, NULL, done, reg_look(gpu, NULL, done) | value);
}

static const struct reg_row rows[] = {
    {0},
#define REG(name, offset, count, reset, read, write)                                   \
    {offset, count, reset, read, write},
#define NAME(name, offset, count)
#include "regs.def"
#undef REG
#undef NAME
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))
_Static_assert(N_ROWS <= 256, "a row has a number of 8 bits");

static struct reg_page *new_page(uint32_t first)
{
    struct reg_page *p = calloc(1, sizeof(*p));
    for (unsigned r = 1; p && r < N_ROWS; r++)
        for (uint32_t reg = rows[r].reg; reg < rows[r].reg + rows[r].count; reg++)
            if (reg - first < REG_PAGE) {
                p->row[reg - first] = (uint8_t)r;
                atomic_init(&p->value[reg - first], rows[r].reset);
            }
    return p;
}

rd_status regs_init(struct gpu_regs *regs)
{
    regs->pages =
        calloc(N_PAGES, sizeof(*regs->pages)); /* untouched, it costs nothing */
    return regs->pages ? RD_OK : RD_E_NOMEM;
}

void gpu_regs_destroy(struct gpu_regs *regs)
{
    for (uint32_t i = 0; regs->pages && i < N_PAGES; i++)
        free(atomic_load(&regs->pages[i]));
    free(regs->pages);
}

struct reg_page *regs_queue_state(void)
{
    return new_page(PM4_SH_BASE);
}

bool gpu_compute_kept(uint32_t index)
{
    static const uint8_t kept[][2] = {
        /* first, number: start and size of workgroups, program, scratch and resources,
           scratch's ring, more resources, user data */
        {0x04, 6}, {0x0c, 2}, {0x10, 4}, {0x18, 1}, {0x28, 1}, {0x40, 16},
    };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (index - kept[i][0] < kept[i][1])
            return true;
    return false;
}

/* The page of a register; NULL if out of memory. */
static struct reg_page *page_of(struct gpu *gpu, struct reg_page *queue, uint32_t reg)
{
    _Static_assert(PM4_SH_BASE % REG_PAGE == 0, "compute state is a page");
    if (queue && reg - PM4_SH_BASE < REG_PAGE)
        return queue;
    uint32_t i = (reg & ((1u << REG_BITS) - 1)) >> REG_PAGE_BITS;
    struct reg_page *p = atomic_load(&gpu->regs.pages[i]), *none = NULL;
    if (p)
        return p;
    p = new_page(i << REG_PAGE_BITS);
    if (p && !atomic_compare_exchange_strong(&gpu->regs.pages[i], &none, p)) {
        free(p); /* another thread was first */
        p = none;
    }
    return p;
}

static const struct reg_row *row_of(const struct reg_page *p, uint32_t reg)
{
    return &rows[p->row[reg % REG_PAGE]];
}

bool gpu_owns(uint32_t reg)
{
    bool has = false;
    for (size_t r = 1; r < N_ROWS && reg >= PM4_UCONFIG_BASE; r++)
        has |= rows[r].read && reg - rows[r].reg < rows[r].count;
    return has;
}

static void note(struct gpu *gpu, const struct reg_row *row, uint32_t reg,
                 enum gpu_reg_use use)
{
    if (row == rows && gpu_count_register(gpu->counters, reg, use) &&
        gpu->host.unmodelled)
        gpu->host.unmodelled(gpu->host.ctx, reg, use);
}

uint32_t reg_look(struct gpu *gpu, struct reg_page *queue, uint32_t reg)
{
    struct reg_page *p = page_of(gpu, queue, reg);
    if (!p)
        return 0;
    const struct reg_row *row = row_of(p, reg);
    if (gpu->host.board && p != queue && !row->read)
        return gpu->host.board->reg_read(gpu->host.ctx, reg);
    return row->read ? row->read(gpu, reg) : atomic_load(&p->value[reg % REG_PAGE]);
}

uint32_t reg_read(struct gpu *gpu, struct reg_page *queue, uint32_t reg)
{
    const struct reg_page *p = page_of(gpu, queue, reg);
    if (p && !gpu->host.board)
        note(gpu, row_of(p, reg), reg, GPU_REG_READ);
    return reg_look(gpu, queue, reg);
}

void reg_write(struct gpu *gpu, struct reg_page *queue, uint32_t reg, uint32_t value)
{
    struct reg_page *p = page_of(gpu, queue, reg);
    if (!p)
        return;
    const struct reg_row *row = row_of(p, reg);
    if (gpu->host.board && p != queue && !row->read) {
        gpu->host.board->reg_write(gpu->host.ctx, reg, value);
        return;
    }
    if (!gpu->host.board)
        note(gpu, row, reg, GPU_REG_WRITTEN);
    atomic_store(&p->value[reg % REG_PAGE], value);
    if (row->write)
        row->write(gpu, reg, value);
}

void reg_wait_begin(struct gpu *gpu, struct reg_page *queue, uint32_t reg)
{
    const struct reg_page *p = page_of(gpu, queue, reg);
    if (p && !gpu->host.board)
        note(gpu, row_of(p, reg), reg, GPU_REG_WAITED);
}

uint32_t gpu_register(struct gpu *gpu, uint32_t reg)
{
    return reg_read(gpu, NULL, reg);
}

void gpu_set_register(struct gpu *gpu, uint32_t reg, uint32_t value)
{
    reg_write(gpu, NULL, reg, value);
}

void gpu_registers_reset(struct gpu *gpu)
{
    gpu_trace_reset(&gpu->trace);
    gpu_pmc_reset(&gpu->pmc);
}
