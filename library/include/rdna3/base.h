/* rdna3/base.h: what all of librdna3 shares: statuses, errors, hooks, the library
 * handle.
 *
 * Conventions. Names begin with rdna3_ or RDNA3_. Functions that can fail return an
 * enum rdna3_status: 0, or a negative number; their results leave through trailing
 * pointers, untouched on failure. A struct that a caller fills begins with
 * `struct_bytes`, its sizeof, so that later versions can tell which fields it has;
 * every other field that is zero has its default. There is no global state: handles of
 * different struct rdna3 have nothing in common, and those of one may be used by one
 * thread at a time. SPDX-License-Identifier: MIT
 */
#ifndef RDNA3_BASE_H
#define RDNA3_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RDNA3_API     __attribute__((visibility("default")))
#define RDNA3_CHECKED __attribute__((visibility("default"), warn_unused_result))
#else
#define RDNA3_API
#define RDNA3_CHECKED
#endif

enum rdna3_status {
    RDNA3_OK = 0,
    RDNA3_E_INVALID = -999,     /* an argument that makes no sense */
    RDNA3_E_NOMEM = -998,       /* out of memory */
    RDNA3_E_IO = -997,          /* of the host's files */
    RDNA3_E_NOT_FOUND = -996,   /* a kernel, name or index that does not exist */
    RDNA3_E_RANGE = -995,       /* a value that does not fit */
    RDNA3_E_TRUNCATED = -994,   /* input that ends too early */
    RDNA3_E_FORMAT = -993,      /* malformed input, source text with errors */
    RDNA3_E_ENCODING = -992,    /* no such instruction */
    RDNA3_E_UNSUPPORTED = -991, /* something nobody has built, or not for this host */
    RDNA3_E_EXISTS = -990,      /* memory that overlaps other memory */
    RDNA3_E_FAULT = -989,       /* the kernel faulted: see struct rdna3_fault */
    RDNA3_E_BUSY = -988,        /* not now */
    RDNA3_E_TIMEOUT = -987,     /* cancelled */
    RDNA3_E_NO_ROOM = -986      /* a workgroup that needs more than the chip has */
};

/* One line that says what went wrong and with what. Functions that take one accept
 * NULL. */
struct rdna3_error {
    char text[640];
};

/* How much a message of the log matters. */
enum rdna3_level { RDNA3_LOG_ERROR, RDNA3_LOG_WARNING, RDNA3_LOG_NOTE };

/* What the caller does for the library. Whatever the library hands out to be kept
 * (objects, texts) is allocated with these; its own working memory and the GPU's memory
 * are not. Functions that are NULL: malloc, free, and no log. */
struct rdna3_hooks {
    size_t struct_bytes;
    void *ctx; /* first argument of all of them */
    void *(*alloc)(void *ctx, size_t bytes);
    void (*release)(void *ctx, void *memory);
    /* One line, without its end: warnings of the assembler, faults, dispatches. */
    void (*log)(void *ctx, enum rdna3_level level, const char *text);
};

struct rdna3; /* a use of the library, with its hooks */

/* Begin to use the library.
 *
 * hooks  copied; NULL: the defaults
 * out    the handle that most functions take
 * Owner: rdna3_close, after everything made with it has been destroyed.
 */
RDNA3_CHECKED int rdna3_open(const struct rdna3_hooks *hooks, struct rdna3 **out);

/* End it. NULL is fine. */
RDNA3_API void rdna3_close(struct rdna3 *rdna3);

/* Give back memory that a function has handed out. NULL is fine. */
RDNA3_API void rdna3_release(struct rdna3 *rdna3, void *memory);

/* What a status means, as text; never NULL. */
RDNA3_API const char *rdna3_status_text(int status);

/* The version of the library, "0.1.0". */
RDNA3_API const char *rdna3_version(void);

/* The commit it was built from, or "" if nobody knows. */
RDNA3_API const char *rdna3_commit(void);

#ifdef __cplusplus
}
#endif

#endif
