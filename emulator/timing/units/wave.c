/* wave.c: the state of a wave as it begins.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "wave.h"

/* Rooms that the counters begin with, in wave.counted. */
static const uint8_t rooms[TM_COUNTERS] = {
    [TM_VM] = 4, [TM_VS] = 2, [TM_LGKM] = 8, [TM_EXP] = 1};

void tm_wave_clear(struct tm_wave *w, unsigned vgprs)
{
    struct tm_fifo counter[TM_COUNTERS];
    uint32_t index = w->index;
    memcpy(counter, w->counter, sizeof counter);
    memset(w, 0, sizeof *w + vgprs * sizeof *w->regs.v);
    w->index = index;
    memcpy(w->counter, counter, sizeof counter);
    void *behind = w + 1;
    w->regs.v = behind;
    struct tm_counted *op = w->counted;
    for (unsigned c = 0; c < TM_COUNTERS; c++) {
        fifo_begin(&w->counter[c], op, rooms[c]);
        op += rooms[c];
    }
}
