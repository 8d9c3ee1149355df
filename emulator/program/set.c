/* set.c: the programs that one dispatch has met.
 *
 * Must not know instructions or waves.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "program.h"

struct program_ref {
    struct program *program;
    struct program_ref *next;
};

rd_status program_set_open(struct program_set *set, struct code_cache *cache,
                           uint64_t entry, struct program_kind kind)
{
    *set = (struct program_set){.cache = cache};
    rd_status st = program_get(cache, entry, kind, &set->first);
    if (st == RD_OK)
        pthread_mutex_init(&set->lock, NULL);
    return st;
}

void program_set_close(struct program_set *set)
{
    while (set->others) {
        struct program_ref *r = set->others;
        set->others = r->next;
        program_put(r->program);
        free(r);
    }
    program_put(set->first);
    pthread_mutex_destroy(&set->lock);
}

/* Of those that are known. Lock held. */
static struct program *known(const struct program_set *set, uint64_t pc,
                             bool privileged)
{
    if (program_holds(set->first, pc, privileged))
        return set->first;
    for (struct program_ref *r = set->others; r; r = r->next)
        if (program_holds(r->program, pc, privileged))
            return r->program;
    return NULL;
}

struct program *program_set_find(struct program_set *set, uint64_t pc, bool privileged)
{
    pthread_mutex_lock(&set->lock);
    struct program *p = known(set, pc, privileged);
    struct program_ref *ref = p ? NULL : malloc(sizeof *ref);
    if (ref) {
        struct program_kind kind = {set->first->wave64, privileged,
                                    set->first->exceptions && !privileged,
                                    set->first->n_vgprs};
        if (program_get(set->cache, pc, kind, &ref->program) == RD_OK) {
            ref->next = set->others;
            set->others = ref;
            p = ref->program;
        } else {
            free(ref);
        }
    }
    pthread_mutex_unlock(&set->lock);
    return p;
}
