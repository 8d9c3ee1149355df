/* clients.c: who is master of the primary node, and who has been admitted by it.
 *
 * A client is an open description, which dup, fork and a message over a socket share.
 * Two things of a description are seen by whoever has it, and go with it, whoever
 * closes it: its file position, which is the client's serial and says its place in the
 * shared table, and a lock on the byte of that place, by which others see that it is
 * open. The node has no contents, so nobody else has use for either. One byte behind
 * all places is the lock of the table. SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <unistd.h>

#include "internal.h"

#define CARD             GSHARED_TREE "/dev/dri/card0"
#define TABLE_AT         (1ll << 40)
#define PLACE_OF(serial) ((uint64_t)(serial) % GSHARED_CLIENTS)

static bool lock_byte(int fd, int how, short type, int64_t at)
{
    struct flock byte = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    int r = fcntl(fd, how, &byte);
    return how == F_OFD_GETLK ? r == 0 && byte.l_type != F_UNLCK : r == 0;
}

static bool enter(struct kmd *kmd)
{
    pthread_mutex_lock(&kmd->client_lock);
    if (kmd->card_fd < 0)
        kmd->card_fd = kmd_open_state(kmd->config.state_dir, CARD);
    if (kmd->card_fd >= 0 && lock_byte(kmd->card_fd, F_OFD_SETLKW, F_WRLCK, TABLE_AT))
        return true;
    pthread_mutex_unlock(&kmd->client_lock);
    return false;
}

static void leave(struct kmd *kmd)
{
    (void)lock_byte(kmd->card_fd, F_OFD_SETLK, F_UNLCK, TABLE_AT);
    pthread_mutex_unlock(&kmd->client_lock);
}

/* ---- the table; its lock is held ---- */

static bool is_open(struct kmd *kmd, uint64_t place)
{
    return lock_byte(kmd->card_fd, F_OFD_GETLK, F_WRLCK, (int64_t)place);
}

static struct gshared_client *known(struct kmd *kmd, int fd)
{
    int64_t serial = lseek(fd, 0, SEEK_CUR);
    if (serial <= 0)
        return NULL;
    struct gshared_client *c = &kmd->shared->clients[PLACE_OF(serial)];
    return c->serial == (uint64_t)serial ? c : NULL;
}

/* The serial of who is master, or 0. */
static uint64_t master(struct kmd *kmd)
{
    struct gshared *s = kmd->shared;
    uint64_t serial = s->client_master, place = PLACE_OF(serial);
    if (serial && (s->clients[place].serial != serial || !is_open(kmd, place)))
        s->client_master = 0;
    return s->client_master;
}

/* Places are taken in turn, those of closed files again. */
static struct gshared_client *take_place(struct kmd *kmd, int fd)
{
    struct gshared *s = kmd->shared;
    for (unsigned i = 0; i < GSHARED_CLIENTS; i++) {
        uint64_t place = PLACE_OF(++s->client_serial);
        if (s->clients[place].serial && is_open(kmd, place))
            continue;
        /* Each kind of lock wants its access. */
        bool reads = (fcntl(fd, F_GETFL) & O_ACCMODE) != O_WRONLY;
        if (!lock_byte(fd, F_OFD_SETLK, reads ? F_RDLCK : F_WRLCK, (int64_t)place) ||
            lseek(fd, (off_t)s->client_serial, SEEK_SET) < 0)
            return NULL;
        s->clients[place] =
            (struct gshared_client){.serial = s->client_serial, .pid = getpid()};
        return &s->clients[place];
    }
    return NULL;
}

static void become_master(struct kmd *kmd, struct gshared_client *c)
{
    kmd->shared->client_master = c->group = c->serial;
    c->mastered = c->authentic = 1;
}

/* The client of a descriptor; one that came by another way than open is new. */
static struct gshared_client *client_of(struct kmd *kmd, const struct kmd_client *who)
{
    struct gshared_client *c = known(kmd, who->fd);
    if (c)
        return c;
    c = take_place(kmd, who->fd);
    if (c) {
        c->authentic = who->privileged;
        c->group = master(kmd);
        if (!c->group)
            become_master(kmd, c);
    }
    return c;
}

static bool is_master(struct kmd *kmd, const struct gshared_client *c)
{
    return master(kmd) == c->serial;
}

/* Who was master once may be it again, in the process that opened the file. */
static bool may_change(const struct gshared_client *c, const struct kmd_client *who)
{
    return who->privileged || (c->mastered && c->pid == getpid());
}

static rd_status set_master(struct kmd *kmd, struct gshared_client *c,
                            const struct kmd_client *who)
{
    if (!may_change(c, who))
        return RD_E_FAULT;
    uint64_t now = master(kmd);
    if (now == c->serial)
        return RD_OK;
    if (now)
        return RD_E_BUSY;
    become_master(kmd, c);
    return RD_OK;
}

static rd_status drop_master(struct kmd *kmd, const struct gshared_client *c,
                             const struct kmd_client *who)
{
    if (!may_change(c, who))
        return RD_E_FAULT;
    if (!is_master(kmd, c))
        return RD_E_INVALID;
    kmd->shared->client_master = 0;
    return RD_OK;
}

static rd_status admit(struct kmd *kmd, const struct gshared_client *c, uint32_t magic)
{
    struct gshared *s = kmd->shared;
    if (!is_master(kmd, c))
        return RD_E_FAULT;
    for (uint64_t i = 0; magic && i < GSHARED_CLIENTS; i++) {
        struct gshared_client *other = &s->clients[i];
        if (other->serial && other->magic == magic && other->group == c->group &&
            !other->magic_used && is_open(kmd, i)) {
            other->authentic = other->magic_used = 1;
            return RD_OK;
        }
    }
    return RD_E_INVALID;
}

/* ---- from outside ---- */

#define WITH_CLIENT(kmd, who, c, what)                                                 \
    do {                                                                               \
        if (!enter(kmd))                                                               \
            return RD_E_IO;                                                            \
        struct gshared_client *c = client_of(kmd, who);                                \
        rd_status st_ = c ? (what) : RD_E_NOMEM;                                       \
        leave(kmd);                                                                    \
        return st_;                                                                    \
    } while (0)

rd_status kmd_client_open(struct kmd *kmd, const struct kmd_client *who)
{
    WITH_CLIENT(kmd, who, c, RD_OK);
}

rd_status kmd_client_rights(struct kmd *kmd, const struct kmd_client *who,
                            struct kmd_client_rights *out)
{
    WITH_CLIENT(
        kmd, who, c,
        (out->authentic = c->authentic, out->master = is_master(kmd, c), RD_OK));
}

rd_status kmd_client_set_master(struct kmd *kmd, const struct kmd_client *who)
{
    WITH_CLIENT(kmd, who, c, set_master(kmd, c, who));
}

rd_status kmd_client_drop_master(struct kmd *kmd, const struct kmd_client *who)
{
    WITH_CLIENT(kmd, who, c, drop_master(kmd, c, who));
}

rd_status kmd_client_magic(struct kmd *kmd, const struct kmd_client *who,
                           uint32_t *magic)
{
    WITH_CLIENT(kmd, who, c,
                (c->magic = c->magic ? c->magic : ++kmd->shared->client_magic,
                 *magic = c->magic, RD_OK));
}

rd_status kmd_client_admit(struct kmd *kmd, const struct kmd_client *who,
                           uint32_t magic)
{
    WITH_CLIENT(kmd, who, c, admit(kmd, c, magic));
}
