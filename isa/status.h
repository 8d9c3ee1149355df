/* status.h: the result of every fallible function, shared by all libraries.
 *
 * Results leave through trailing out-parameters, untouched on failure.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_STATUS_H
#define RD_STATUS_H

/* name, text */
#define RD_STATUS_LIST(X)                                                              \
    X(RD_E_INVALID, "invalid argument")                                                \
    X(RD_E_NOMEM, "out of memory")                                                     \
    X(RD_E_IO, "input/output error")                                                   \
    X(RD_E_NOT_FOUND, "not found")                                                     \
    X(RD_E_RANGE, "value out of range")                                                \
    X(RD_E_TRUNCATED, "input ends too early")                                          \
    X(RD_E_FORMAT, "malformed input")                                                  \
    X(RD_E_ENCODING, "no such instruction encoding")                                   \
    X(RD_E_UNSUPPORTED, "not supported")                                               \
    X(RD_E_EXISTS, "already exists")                                                   \
    X(RD_E_FAULT, "guest fault")                                                       \
    X(RD_E_BUSY, "busy")                                                               \
    X(RD_E_TIMEOUT, "timed out")                                                       \
    X(RD_E_NO_ROOM,                                                                    \
      "a workgroup needs more registers, LDS or wave slots than there are")

enum rd_status_code {
    RD_STATUS_FIRST_ = -1000,
#define X(name, text) name,
    RD_STATUS_LIST(X)
#undef X
        RD_OK = 0
};

typedef int rd_status;

/* Before the return type of every function whose status must be looked at. */
#define RD_CHECKED __attribute__((warn_unused_result))

/* Static text for a status; never NULL. */
const char *rd_status_text(rd_status status);

/* Print "assertion failed: ..." with the place, and abort. */
_Noreturn void rd_assert_fail(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Our own bugs, not the guest's: checked in the dev, tsan and fuzz builds. */
#ifdef RD_CHECKS
#define rd_assert(cond, ...)                                                           \
    ((cond) ? (void)0 : rd_assert_fail(__FILE__, __LINE__, __VA_ARGS__))
#else
#define rd_assert(cond, ...) ((void)sizeof(cond))
#endif

#endif
