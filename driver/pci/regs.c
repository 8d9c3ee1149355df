/* regs.c: the board's register file: sparse storage, the table, hooks, what is told.
 *
 * Must not know what a register means. Invariant: one that nobody models reads what was
 * written last, or 0; where there is no storage it reads 0. Storage is atomic: packets,
 * firmware and driver come from different threads. SPDX-License-Identifier: MIT
 */
#include "regs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "internal.h"

#define N_PAGES      (1u << (REGS_BITS - REGS_PAGE_BITS))
#define POLLED       100000u /* reads in a row that are worth a line */
#define MAX_NAMELESS 1024u   /* pages, of 14 KB */

struct row {
    const char *name;
    regs_read_fn *read;
    regs_write_fn *write;
    uint32_t reg, count, reset;
    bool modelled;
};

static const struct row rows[] = {
    {0},
#define REG(name, offset, count, reset, read, write)                                   \
    {#name, read, write, offset, count, reset, true},
#define NAME(name, offset, count) {#name, NULL, NULL, offset, count, 0, false},
#include "regs.def"
#undef REG
#undef NAME
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

rd_status regs_create(struct pci_regs *regs)
{
    *regs = (struct pci_regs){.polled = UINT32_MAX};
    regs->pages = calloc(N_PAGES, sizeof(*regs->pages));
    return regs->pages ? RD_OK : RD_E_NOMEM;
}

void regs_destroy(struct pci_regs *regs)
{
    for (struct regs_page *p = atomic_load(&regs->newest), *older; p; p = older) {
        older = p->older;
        free(p);
    }
    free(regs->pages);
}

static void reset_page(struct regs_page *p, uint32_t first)
{
    for (uint32_t i = 0; i < REGS_PAGE; i++) {
        p->row[i] = 0;
        atomic_store_explicit(&p->value[i], 0, memory_order_relaxed);
    }
    for (unsigned r = 1; r < N_ROWS; r++)
        for (uint32_t reg = rows[r].reg; reg < rows[r].reg + rows[r].count; reg++)
            if (reg - first < REGS_PAGE) {
                p->row[reg - first] = (uint16_t)r;
                atomic_store(&p->value[reg - first], rows[r].reset);
            }
}

void regs_reset(struct pci_regs *regs)
{
    for (struct regs_page *p = atomic_load(&regs->newest); p; p = p->older)
        for (uint32_t k = 0; k < REGS_PAGE; k++)
            atomic_store(&p->value[k], rows[p->row[k]].reset);
}

static bool known(uint32_t first)
{
    for (unsigned r = 1; r < N_ROWS; r++)
        if (rows[r].reg < first + REGS_PAGE && rows[r].reg + rows[r].count > first)
            return true;
    return false;
}

/* A driver reaches far more registers by index than any chip has; for so many there is
 * storage besides those that the table names. */
static bool room(struct pci_regs *regs, uint32_t first)
{
    if (known(first) || atomic_fetch_add(&regs->nameless, 1) < MAX_NAMELESS)
        return true;
    atomic_fetch_sub(&regs->nameless, 1);
    return false;
}

/* NULL: nothing is there, or out of memory. */
static struct regs_page *page_of(struct pci_board *b, uint32_t reg)
{
    uint32_t i = (reg & ((1u << REGS_BITS) - 1)) >> REGS_PAGE_BITS;
    struct regs_page *p = atomic_load(&b->regs.pages[i]), *none = NULL;
    if (p)
        return p;
    if (!room(&b->regs, i << REGS_PAGE_BITS))
        return NULL;
    p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    reset_page(p, i << REGS_PAGE_BITS);
    if (atomic_compare_exchange_strong(&b->regs.pages[i], &none, p)) {
        p->older = atomic_load(&b->regs.newest);
        while (!atomic_compare_exchange_weak(&b->regs.newest, &p->older, p))
            ;
        return p;
    }
    free(p); /* another thread was first */
    return none;
}

uint32_t regs_get(struct pci_board *b, uint32_t reg)
{
    struct regs_page *p = page_of(b, reg);
    return p ? atomic_load(&p->value[reg % REGS_PAGE]) : 0;
}

void regs_set(struct pci_board *b, uint32_t reg, uint32_t value)
{
    struct regs_page *p = page_of(b, reg);
    if (p)
        atomic_store(&p->value[reg % REGS_PAGE], value);
}

uint32_t regs_read(struct pci_board *b, uint32_t reg)
{
    struct regs_page *p = page_of(b, reg);
    if (gpu_owns(reg))
        return gpu_register(b->gpu, reg);
    if (!p)
        return 0;
    const struct row *row = &rows[p->row[reg % REGS_PAGE]];
    return row->read ? row->read(b, reg) : atomic_load(&p->value[reg % REGS_PAGE]);
}

void regs_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    struct regs_page *p = page_of(b, reg);
    if (gpu_owns(reg)) {
        gpu_set_register(b->gpu, reg, value);
        return;
    }
    if (!p)
        return;
    const struct row *row = &rows[p->row[reg % REGS_PAGE]];
    if (row->write)
        row->write(b, reg, value);
    else
        atomic_store(&p->value[reg % REGS_PAGE], value);
}

uint64_t regs_pair(struct pci_board *b, uint32_t low, uint32_t high)
{
    return regs_get(b, low) | (uint64_t)regs_get(b, high) << 32;
}

void regs_text(uint32_t reg, char *text, size_t size)
{
    for (unsigned r = 1; r < N_ROWS; r++) {
        if (reg - rows[r].reg >= rows[r].count)
            continue;
        if (rows[r].count == 1)
            snprintf(text, size, "%s (0x%x)", rows[r].name, reg);
        else
            snprintf(text, size, "%s+%u (0x%x)", rows[r].name, reg - rows[r].reg, reg);
        return;
    }
    snprintf(text, size, "0x%x", reg);
}

static void log_access(struct pci_board *b, char kind, uint32_t reg, uint32_t value)
{
    char name[80];
    if (!b->config.log)
        return;
    regs_text(reg, name, sizeof(name));
    (void)fprintf(b->config.log, "%c %s 0x%x\n", kind, name, value);
}

static void look_for_poll(struct pci_board *b, uint32_t reg, uint32_t value)
{
    struct pci_regs *r = &b->regs;
    char name[80];
    if (reg != r->polled || value != r->polled_value) {
        r->polled = reg;
        r->polled_value = value;
        r->polls = 0;
    } else if (++r->polls == POLLED) {
        regs_text(reg, name, sizeof(name));
        pci_say(b, "the driver polls register %s, which reads 0x%x", name, value);
    }
}

uint32_t regs_load(struct pci_board *b, uint32_t reg)
{
    struct regs_page *p = page_of(b, reg);
    uint32_t value = regs_read(b, reg);
    b->regs.reads++;
    if (p)
        atomic_fetch_add_explicit(&p->reads[reg % REGS_PAGE], 1, memory_order_relaxed);
    log_access(b, 'R', reg, value);
    look_for_poll(b, reg, value);
    return value;
}

void regs_store(struct pci_board *b, uint32_t reg, uint32_t value)
{
    struct regs_page *p = page_of(b, reg);
    b->regs.writes++;
    b->regs.polled = UINT32_MAX;
    if (p)
        atomic_fetch_add_explicit(&p->writes[reg % REGS_PAGE], 1, memory_order_relaxed);
    log_access(b, 'W', reg, value);
    regs_write(b, reg, value);
}

void regs_report(struct pci_board *b, FILE *out)
{
    char name[80];
    (void)fprintf(out,
                  "registers: %" PRIu64 " reads, %" PRIu64 " writes by the driver\n",
                  b->regs.reads, b->regs.writes);
    for (uint32_t i = 0; i < N_PAGES; i++) {
        struct regs_page *p = atomic_load(&b->regs.pages[i]);
        for (uint32_t k = 0; p && k < REGS_PAGE; k++) {
            uint32_t reads = p->reads[k], writes = p->writes[k];
            uint32_t reg = (i << REGS_PAGE_BITS) + k;
            if (rows[p->row[k]].modelled || !(reads | writes) || gpu_owns(reg))
                continue;
            regs_text(reg, name, sizeof(name));
            (void)fprintf(out, "  not modelled: %s: %u reads, %u writes\n", name, reads,
                          writes);
        }
    }
}
