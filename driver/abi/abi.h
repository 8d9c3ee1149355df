/* abi.h: ioctls on the mocked device files.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ABI_H
#define RD_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum abi_file { ABI_NONE, ABI_KFD, ABI_RENDER };

/* What the layer in front knows about descriptors. */
struct abi_host {
    enum abi_file (*fd_kind)(int fd);
    /* Copy from and to the client's memory, besides the struct itself; false if it is
     * not accessible. NULL: this process is the client. */
    bool (*get)(void *to, uint64_t from, size_t bytes);
    bool (*put)(uint64_t to, const void *from, size_t bytes);
};

/* Could the command be one of ours? Cheap; the descriptor decides. */
static inline bool abi_claims(unsigned long cmd)
{
    unsigned long type = cmd >> 8 & 0xff;
    return type == 'K' || type == 'd';
}

struct sigaction;
/* The program asks for or changes a handler that the device stands in front of; act and
 * old as in sigaction(). False: it does not, and the kernel has it. */
bool abi_signal_action(int number, const struct sigaction *act, struct sigaction *old);

/* Perform an ioctl.
 *
 * cmd  full command word; only number, direction and size are looked at
 * arg  the client's pointer; never dereferenced, only copied from and to
 * Returns 0 or a positive result, or -errno.
 * Thread: any; blocks in waits without holding a lock.
 */
int abi_ioctl(const struct abi_host *host, enum abi_file file, unsigned long cmd,
              void *arg);

#endif
