/* target.h: waves that can be looked at: of a running session, or of a core file.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DEBUG_TARGET_H
#define RD_DEBUG_TARGET_H

#include "inspect.h"

/* One wave, who it is and what it does. */
struct tg_wave {
    uint64_t group;
    uint32_t workgroup[3];
    uint32_t wave; /* in its workgroup */
    uint32_t lanes;
    struct emu_wave_view view;
};

struct tg_ops {
    unsigned (*n_waves)(void *ctx);
    bool (*wave)(void *ctx, unsigned index, struct tg_wave *out);
    /* A register (enum isa_sel) of a wave; lane counts for VGPRs. */
    bool (*reg)(void *ctx, unsigned index, unsigned sel, unsigned lane, uint32_t *out);
    /* Memory as a lane of the wave sees it (enum emu_space). */
    bool (*read)(void *ctx, unsigned index, unsigned space, unsigned lane,
                 uint64_t address, unsigned bytes, void *out);
    /* The region that begins at an address or behind it. */
    bool (*region)(void *ctx, uint64_t address, struct emu_mem *out);
};

struct target {
    const struct tg_ops *ops;
    void *ctx;
};

#define TG_NO_WAVE UINT32_MAX

/* The index of a wave, TG_NO_WAVE if there is none (it has ended, or not begun). */
unsigned tg_find(const struct target *t, uint64_t group, unsigned wave);

/* Global memory, through any wave or none. */
bool tg_read(const struct target *t, unsigned index, unsigned space, unsigned lane,
             uint64_t address, unsigned bytes, void *out);

/* "ready", "at a barrier" ... */
const char *tg_doing(enum emu_wave_doing doing);

#endif
