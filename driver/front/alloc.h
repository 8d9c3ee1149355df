/* alloc.h: what a checked program asks runtimes for: functions of HIP, ROCr and OpenCL
 * that allocate and free, replaced as libc's are, so that the checkers know memory by
 * the byte and by its maker. SPDX-License-Identifier: MIT
 */
#ifndef RD_FRONT_ALLOC_H
#define RD_FRONT_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "heap.h"

#define ALLOC_EXPORT __attribute__((visibility("default")))

/* The program's allocations; NULL: it is not checked. */
struct ck_heap *alloc_heap(void);

/* Our definition of a runtime's function, or NULL: not ours, or (but for code objects)
 * nothing is checked. */
void *alloc_hook(const char *name);

/* The runtime's own definition; NULL: it is not loaded. */
void *alloc_real(const char *name);

/* A pointer to the runtime's definition of one of our functions. */
#define ALLOC_REAL(name)                                                               \
    ({                                                                                 \
        static __typeof__(&name) real_;                                                \
        __typeof__(&name) now_ = __atomic_load_n(&real_, __ATOMIC_RELAXED);            \
        if (!now_) {                                                                   \
            void *found_ = alloc_real(#name);                                          \
            memcpy(&now_, &found_, sizeof now_);                                       \
            __atomic_store_n(&real_, now_, __ATOMIC_RELAXED);                          \
        }                                                                              \
        now_;                                                                          \
    })

/* A call of the program into a runtime, while it lasts. */
struct alloc_call {
    bool on;     /* checked, and the outermost one */
    bool direct; /* by the program itself, not a runtime */
    bool fresh;  /* nobody can have written what it gives */
    struct ck_trace trace;
};
void alloc_enter(struct alloc_call *c, const char *name);
void alloc_leave(struct alloc_call *c);

/* The call that is under way in this thread, or NULL. */
const struct alloc_call *alloc_current(void);

/* Fill memory that has just been allocated so that it can be told by what it holds
 * that nobody has written it; false: that is not wanted, or not possible. */
bool alloc_fill(void *p, size_t bytes);

/* Count an allocation of the program. */
void alloc_count(void);

/* The program has got memory. */
void alloc_claim(const struct alloc_call *c, const void *p, size_t size);

/* The program is about to give memory back; a second time, or not from its beginning,
 * is told of. Afterwards: ok, it has succeeded. */
struct alloc_freeing {
    enum ck_heap_freed how;
    struct ck_block block;
};
void alloc_freeing(const struct alloc_call *c, const void *p, struct alloc_freeing *f);
void alloc_freed(const struct alloc_call *c, const void *p, bool ok,
                 const struct alloc_freeing *f);

/* Tell of a mistake, if those of its class are looked for. */
void alloc_found(const struct ck_finding *f);

/* The finding is of a call on bytes of an allocation from at on. */
void alloc_found_in(struct ck_finding *f, const struct alloc_call *c,
                    const struct ck_block *b, uint64_t at, size_t bytes);

/* Bytes from the first row's beginning to the last one's end. */
size_t alloc_area(size_t pitch, size_t width, size_t height);

/* alloc_fresh.c: what a call copies: rows, in bytes; height 0: nothing. */
struct alloc_rows {
    const void *to;
    size_t to_pitch;
    const void *from;
    size_t from_pitch, width, height;
};
#define ALLOC_NOW                                                                      \
    ((const void *)-1) /* for a stream: it is there when the call returns */

/* A call that copies. Before it; and once it has succeeded: what the host has got is
 * told of if nobody has written any of it, now or when the program has waited. */
struct alloc_copy {
    const struct alloc_call *call;
    struct alloc_rows rows;
    const void *stream;
    struct ck_block block; /* of from, if it looks */
    bool looks;
};
void alloc_copy_begin(struct alloc_copy *k, const struct alloc_call *c,
                      const struct alloc_rows *r, const void *stream);
void alloc_copy_end(const struct alloc_copy *k);
/* The program has waited: for a stream, for all, or for nobody knows what. */
enum alloc_wait { ALLOC_WAIT_STREAM, ALLOC_WAIT_ALL, ALLOC_WAIT_SOME };
void alloc_copies_wait(const void *stream, enum alloc_wait how);

/* Tell of a call that frees what it must not. kind: "double-free", "invalid-free". */
void alloc_tell(const char *kind, const struct ck_trace *call,
                const struct ck_block *b);

/* alloc_cl.c: the buffer that a runtime may be taking memory of this size for: its size
 * and trace. */
bool alloc_cl_take(size_t size, struct ck_block *b);
/* Buffers that are not released. */
void alloc_cl_each(void (*fn)(void *ctx, const struct ck_block *b), void *ctx);

/* alloc_hsa.c: our function of this name, or NULL. */
void *alloc_hsa_hook(const char *name);
void *alloc_hip_hook(const char *name);
void *alloc_code_hook(const char *name); /* alloc_code.c */
void *alloc_cl_hook(const char *name);
void *alloc_copy_hook(const char *name);

struct alloc_hook {
    const char *name;
    void (*fn)(void);
};
#define ALLOC_HOOK(f) {#f, (void (*)(void))f},
void *alloc_hook_in(const struct alloc_hook *hooks, size_t n, const char *name);

#endif
