/* marks.h: what drivers write into a thread trace beside what the hardware does: words
 * to SQ_THREAD_TRACE_USERDATA_2 and _3. SPDX-License-Identifier: MIT
 */
#ifndef RD_TIMING_MARKS_H
#define RD_TIMING_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MARKS_GRIDS 8u

/* A code object that ROCm has loaded or unloaded: its number, and where its address 0
 * lies. */
struct marks_object {
    uint64_t id, address;
    bool gone;
};

struct marks {
    uint32_t word[6]; /* the last ones */
    size_t n_words;
    uint32_t grid[MARKS_GRIDS][3]; /* the last ones that may be one */
    size_t n_grids;
    bool rocm;       /* AMD's aqlprofile writes them */
    int channel;     /* of the word that comes next; -1: it says the channel */
    uint32_t has[8]; /* a word of each channel */
    struct marks_object *object; /* as it was told */
    size_t n_objects, cap;
};

/* Another engine's trace, which tells the same again. */
void marks_begin(struct marks *m);

/* The next word. false: out of memory. */
bool marks_take(struct marks *m, uint32_t word);

/* The last grid of so many workgroups; NULL: none was told. */
const uint32_t *marks_grid(const struct marks *m, uint64_t groups);

/* The object with that number, of those that are loaded; NULL: none. */
const struct marks_object *marks_object(const struct marks *m, uint64_t id);

void marks_free(struct marks *m);

#endif
