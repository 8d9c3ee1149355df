/* check.c: checkers for users of the library. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "checkers.h"
#include "internal.h"

#define SAME(name) _Static_assert(RDNA3_CHECK_##name == CK_BIT(CK_##name), #name)
SAME(MEM);
SAME(INIT);
SAME(RACE);
SAME(WAIT);
SAME(SYNC);
_Static_assert(RDNA3_CHECK_NAN == CK_BIT(CK_VALUE), "NAN");

struct rdna3_check {
    struct ck *ck;
    struct ck_table *table;
};

int rdna3_check_begin(struct rdna3_device *device,
                      const struct rdna3_check_config *config, struct rdna3_check **out,
                      struct rdna3_error *err)
{
    struct rdna3_check_config c = {0};
    if (config && !HAS(config, watchdog))
        return rdna3_fail(err, RDNA3_E_INVALID, "config: struct_bytes is not set");
    if (config)
        c = *config;
    if (!c.classes)
        c.classes = RDNA3_CHECK_ALL;
    if (c.classes & ~ck_classes_built())
        return rdna3_fail(err, RDNA3_E_INVALID, "classes 0x%x: not all exist",
                          c.classes);
    struct ck_config own = {.classes = c.classes,
                            .keep_going = c.keep_going,
                            .lanes = c.race_lanes,
                            .watchdog = c.watchdog};
    struct rdna3_check *check = calloc(1, sizeof *check);
    struct ck_table *table = calloc(1, sizeof *table);
    rd_status st = RD_E_NOMEM;
    if (check && table) {
        check->table = table;
        st = ck_create(la_emu(device->la), &own, table, &check->ck);
    }
    if (st != RD_OK) {
        free(table);
        free(check);
        return rdna3_fail(err, st, "%s", rd_status_text(st));
    }
    *out = check;
    return RDNA3_OK;
}

void rdna3_check_end(struct rdna3_check *check)
{
    if (!check)
        return;
    ck_destroy(check->ck);
    free(check->table);
    free(check);
}

int rdna3_check_fresh(struct rdna3_check *check, const void *memory, uint64_t bytes)
{
    return ck_memory_fresh(check->ck, (uintptr_t)memory, bytes);
}

unsigned rdna3_check_count(const struct rdna3_check *check)
{
    unsigned n = atomic_load(&check->table->n);
    return n < CK_MAX_FINDINGS ? n : CK_MAX_FINDINGS;
}

int rdna3_check_finding(const struct rdna3_check *check, unsigned index,
                        struct rdna3_finding *out)
{
    if (index >= rdna3_check_count(check))
        return RDNA3_E_NOT_FOUND;
    const struct ck_finding *f = &check->table->v[index];
    *out = (struct rdna3_finding){.cls = ck_class_name(f->cls),
                                  .kind = f->kind,
                                  .text = f->text,
                                  .kernel = f->kernel,
                                  .instruction = f->at.inst,
                                  .allocation = f->located ? f->allocation : "",
                                  .pc = f->at.pc,
                                  .lanes = f->at.lanes,
                                  .count = atomic_load(&f->count),
                                  .wave = f->at.wave,
                                  .benign = f->benign};
    memcpy(out->workgroup, f->at.workgroup, sizeof out->workgroup);
    if (f->located) {
        out->address = f->address;
        out->base = f->base;
        out->size = f->size;
    }
    return RDNA3_OK;
}
