/* link.h: TCP connections between rank 0 of a sweep and the other ranks.
 *
 * MPI only starts the ranks and tells all where rank 0 listens: a rank that waits for a
 * message of MPI's takes a whole CPU, and one whose peer has died waits for ever.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_SWEEP_LINK_H
#define RD_SWEEP_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { LINK_PLACES = 32, LINK_SECRET = 16, LINK_HOST = 256 };

/* Where somebody listens, as it is told to all: the port, all addresses of the host's,
 * and what only those know who were told. */
struct link_where {
    uint8_t secret[LINK_SECRET];
    char host[LINK_HOST];
    uint32_t n_places;
    struct sockaddr_storage place[LINK_PLACES]; /* with the port; of the host itself
                                                   first */
};

/* Listen at all addresses. Prints errors; returns an exit status. */
int link_listen(struct link_where *where, int *out);

/* Reach who listens, and say the secret and a rank. Prints errors; returns an exit
 * status. */
int link_reach(const struct link_where *where, uint32_t rank, int *out);

/* Let in who asks and knows the secret, with its rank; false: nobody. */
bool link_accept(const struct link_where *where, int listening, uint32_t *rank,
                 int *out);

/* How long whole_receive waits; 0: for ever. */
void link_patience(int fd, int seconds);

#endif
