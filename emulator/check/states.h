/* states.h: numbered states: what a checker knows of a wave, as bytes, by a number that
 * stays. SPDX-License-Identifier: MIT
 */
#ifndef RD_CHECK_STATES_H
#define RD_CHECK_STATES_H

#include <stddef.h>
#include <stdint.h>

#define STATE_NONE  UINT32_MAX
#define STATE_BYTES 4096u /* of one, at most */

struct states;

/* NULL: out of memory. Number 0 is the empty state, of no bytes. */
struct states *states_create(void);
void states_destroy(struct states *s);
/* The number of these bytes; STATE_NONE if there are too many states. */
uint32_t states_put(struct states *s, const void *bytes, size_t n);
/* The bytes of a number, n of them; aligned as any object. */
const void *states_get(const struct states *s, uint32_t number, size_t *n);

/* ---- bytes are written and read one after the other ---- */

struct state_bytes {
    uint8_t *at, *end; /* at beyond end: it did not fit */
};

static inline void state_put(struct state_bytes *b, const void *v, size_t n)
{
    if ((size_t)(b->end - b->at) >= n)
        __builtin_memcpy(b->at, v, n);
    b->at = (size_t)(b->end - b->at) >= n ? b->at + n : b->end + 1;
}

static inline void state_take(const uint8_t **at, void *v, size_t n)
{
    __builtin_memcpy(v, *at, n);
    *at += n;
}

#endif
