/* region.h: the allocation map, for the emulator's own files.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_REGION_H
#define RD_REGION_H

#include "wave.h"

struct mem_region {
    uint64_t base, end;
    unsigned perm;
    char name[40];
};

RD_CHECKED rd_status regions_create(struct region_table **out);
void regions_destroy(struct region_table *t);

/* Find the region that holds address; false if none. generation (may be NULL): of the
 * table that was searched. Thread: any. */
bool region_find(struct emu *emu, uint64_t address, struct mem_region *out,
                 unsigned *generation);

/* "nearest allocation" text for faults. */
void region_describe(struct emu *emu, uint64_t address, char *text, size_t size);

#endif
