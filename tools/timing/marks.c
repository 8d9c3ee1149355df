/* marks.c: markers of drivers in thread traces.
 *
 * Drivers that write for the Radeon GPU Profiler (Mesa, tinygrad) tell of each dispatch
 * by a marker of three words whose lowest four bits are 0; if its highest bit is set,
 * three more say how many workgroups there are. Lengths of other markers are not looked
 * at: who asks knows how many workgroups the trace has.
 *
 * AMD's aqlprofile writes "ROC" once, then pairs of words, the first with a channel;
 * the one of channel 0 ends what was told of a code object. Source:
 * rgp_sqtt_marker_event of Mesa's ac_rgp.h; src/core/threadtrace.cpp and
 * src/pm4/sqtt_builder.h of aqlprofile. SPDX-License-Identifier: MIT
 */
#include "marks.h"

#include <stdlib.h>
#include <string.h>

#define ROCM      0x434f5200u
#define OPCODE    4u
#define HAS_GRID  0x80000000u
#define IS_UNLOAD 1u

enum { ENDS, BYTES_LO, ADDRESS_LO, ADDRESS_HI, BYTES_HI, ID_LO, ID_HI, CHANNELS };

void marks_begin(struct marks *m)
{
    m->n_words = 0;
    m->rocm = false;
    m->channel = -1;
    memset(m->has, 0, sizeof m->has);
}

void marks_free(struct marks *m)
{
    free(m->object);
    *m = (struct marks){.channel = -1};
}

/* ---- ROCm ---- */

static uint64_t of_two(const struct marks *m, unsigned lo, unsigned hi)
{
    return m->has[lo] | (uint64_t)m->has[hi] << 32;
}

static bool take_object(struct marks *m)
{
    uint32_t ends = m->has[ENDS];
    uint64_t id = of_two(m, ID_LO, ID_HI);
    struct marks_object o = {.id = id ? id : ends >> 2,
                             .address = of_two(m, ADDRESS_LO, ADDRESS_HI),
                             .gone = ends & IS_UNLOAD};
    memset(m->has, 0, sizeof m->has);
    if (m->n_objects == m->cap) {
        size_t cap = m->cap ? 2 * m->cap : 16;
        struct marks_object *more = realloc(m->object, cap * sizeof *more);
        if (!more)
            return false;
        m->object = more;
        m->cap = cap;
    }
    m->object[m->n_objects++] = o;
    return true;
}

static bool take_rocm(struct marks *m, uint32_t word)
{
    if (m->channel < 0) {
        if ((word & 255u) == OPCODE && word >> 8 < CHANNELS)
            m->channel = (int)(word >> 8);
        return true;
    }
    unsigned channel = (unsigned)m->channel;
    m->channel = -1;
    m->has[channel] = word;
    return channel != ENDS || take_object(m);
}

/* ---- grids ---- */

/* A word that is not the last, counted from behind. */
static uint32_t back(const struct marks *m, size_t n)
{
    return m->word[(m->n_words - 1 - n) % 6];
}

static void look_for_grid(struct marks *m)
{
    if (m->n_words < 6 || (back(m, 5) & (HAS_GRID | 15u)) != HAS_GRID)
        return;
    uint32_t *grid = m->grid[m->n_grids % MARKS_GRIDS];
    for (size_t d = 0; d < 3; d++)
        grid[d] = back(m, 2 - d);
    m->n_grids++;
}

bool marks_take(struct marks *m, uint32_t word)
{
    if (m->rocm)
        return take_rocm(m, word);
    m->word[m->n_words++ % 6] = word;
    m->rocm = word == ROCM;
    look_for_grid(m);
    return true;
}

const uint32_t *marks_grid(const struct marks *m, uint64_t groups)
{
    size_t n = m->n_grids < MARKS_GRIDS ? m->n_grids : MARKS_GRIDS;
    for (size_t i = 1; i <= n; i++) {
        const uint32_t *g = m->grid[(m->n_grids - i) % MARKS_GRIDS];
        uint64_t plane = (uint64_t)g[0] * g[1];
        if (plane && plane <= groups && plane * g[2] == groups)
            return g;
    }
    return NULL;
}

const struct marks_object *marks_object(const struct marks *m, uint64_t id)
{
    for (size_t i = m->n_objects; i-- > 0;)
        if (m->object[i].id == id)
            return m->object[i].gone ? NULL : &m->object[i];
    return NULL;
}
