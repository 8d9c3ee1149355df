/* inferior.h: a program under the mock whose kernels are debugged: started, waited for,
 * ended. SPDX-License-Identifier: MIT
 */
#ifndef RD_DEBUG_INFERIOR_H
#define RD_DEBUG_INFERIOR_H

#include "execute.h"
#include "objects.h"
#include "session.h"

struct verdict;

struct inferior {
    char **argv;
    struct exec_options how;
    struct execution x;
    struct objects objects; /* --code, and what the program loads */
    int listener;
    bool prepared, started, ended;
    bool stop_at_end; /* stay where all waves have ended, before the program goes on */
    int status;       /* of the program that has ended, as its exit status */
    struct verdict *known; /* kernels that nothing stops */
    unsigned n_known;
    uint64_t taken, left; /* dispatches that were run here, and there */
};

enum inferior_news {
    INFERIOR_STOPPED,     /* session->stop says why */
    INFERIOR_ENDED,       /* the program */
    INFERIOR_INTERRUPTED, /* no kernel was being run */
    INFERIOR_FAILED       /* it has been told */
};

/* Go on, or begin, until a kernel stops. session is idle before and after unless a
 * kernel is stopped. */
enum inferior_news inferior_continue(struct inferior *i, struct session *s);

/* What the program is told that runs this: has it ended by itself? */
bool inferior_alive(struct inferior *i);

/* End the program and what is left of it. */
void inferior_end(struct inferior *i, struct session *s);

#endif
