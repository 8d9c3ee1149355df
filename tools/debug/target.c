/* target.c: what does not depend on where waves come from.
 * SPDX-License-Identifier: MIT
 */
#include "target.h"

unsigned tg_find(const struct target *t, uint64_t group, unsigned wave)
{
    struct tg_wave w;
    unsigned n = t->ops->n_waves(t->ctx);
    for (unsigned i = 0; i < n; i++)
        if (t->ops->wave(t->ctx, i, &w) && w.group == group && w.wave == wave)
            return i;
    return TG_NO_WAVE;
}

bool tg_read(const struct target *t, unsigned index, unsigned space, unsigned lane,
             uint64_t address, unsigned bytes, void *out)
{
    char *to = out;
    while (bytes) { /* in pieces of at most 64 */
        unsigned n = bytes < 64 ? bytes : 64;
        if (!t->ops->read(t->ctx, index, space, lane, address, n, to))
            return false;
        address += n;
        to += n;
        bytes -= n;
    }
    return true;
}

const char *tg_doing(enum emu_wave_doing doing)
{
    static const char *const text[] = {
        [EMU_DOING_RUN] = "can run",
        [EMU_DOING_BARRIER] = "waits at a barrier",
        [EMU_DOING_SLEEP] = "sleeps (s_sleep)",
        [EMU_DOING_GWS] = "waits for other workgroups (GWS)",
        [EMU_DOING_HALTED] = "halted",
        [EMU_DOING_ENDED] = "ended",
        [EMU_DOING_FAULTED] = "faulted",
    };
    return (unsigned)doing < sizeof text / sizeof *text ? text[doing] : "?";
}
