/* findings.h: what checkers find, as plain records in a table that several processes
 * may share: no emulator is needed to write or read them. SPDX-License-Identifier: MIT
 */
#ifndef RD_CHECK_FINDINGS_H
#define RD_CHECK_FINDINGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* X(NAME, "name", built, "what it looks for") */
#define CK_CLASS_LIST(X)                                                               \
    X(MEM, "mem", true, "accesses that leave their allocation, or may not be made")    \
    X(INIT, "init", true, "undefined bits that matter")                                \
    X(RACE, "race", true, "conflicting accesses that nothing orders")                  \
    X(WAIT, "wait", true, "registers used before their s_waitcnt")                     \
    X(SYNC, "sync", true, "barriers that waves or lanes miss, endless loops")          \
    X(VALUE, "value", true, "where NaNs and infinities are born (not among all)")

#define X(name, text, built, what) CK_##name,
enum ck_class { CK_CLASS_LIST(X) CK_CLASSES };
#undef X

#define CK_BIT(cls) (1u << (unsigned)(cls))

const char *ck_class_name(unsigned cls);
const char *ck_class_text(unsigned cls);
/* CK_BIT of the checkers that exist, and of those that look for certain mistakes. */
unsigned ck_classes_built(void);
unsigned ck_classes_usual(void);

/* Who did it. */
struct ck_actor {
    uint64_t pc; /* 0: nobody */
    uint64_t lanes;
    uint32_t workgroup[3];
    uint32_t wave; /* in its workgroup */
    bool write, atomic;
    char inst[96]; /* disassembled */
    /* Bytes of code that begin at an instruction somewhat before pc. */
    uint64_t window_pc;
    uint32_t window_bytes;
    uint8_t window[128];
};

#define CK_TRACE   8u
#define CK_MODULES 64u

/* Where the program was when it called a runtime, innermost first. */
struct ck_trace {
    char call[32]; /* "hipMalloc"; empty: nothing is known */
    uint32_t n;
    struct ck_frame {
        uint64_t at;     /* in the module's file: its link-time address */
        uint64_t module; /* ck_table.module, from 1; 0: unknown */
    } frame[CK_TRACE];
};

struct ck_module {
    char path[256];
};

struct ck_finding {
    uint32_t cls;        /* enum ck_class */
    uint32_t wave_lanes; /* 32 or 64 */
    char kind[32];       /* stable name of the kind, "out-of-bounds" */
    char kernel[256];    /* empty: no name is known */
    uint64_t entry;      /* of the kernel */
    uint64_t dispatch;   /* number, from 0 */
    uint64_t image; /* where the code object that holds the code begins; 0: unknown */
    struct ck_actor at, other; /* other: the second access of a race, who waits ... */
    /* Of other, if it is of another dispatch; image 0: as above. */
    uint64_t other_image;
    char other_kernel[256];
    bool benign;         /* worth a note, no error */
    bool located;        /* the next five mean something */
    uint8_t space;       /* enum emu_space */
    uint32_t bytes;      /* of the access */
    uint64_t address;    /* GPU address, or offset in LDS or scratch */
    uint64_t base, size; /* the allocation at or nearest to it; size 0: none */
    char allocation[40];
    struct ck_trace made, freed; /* the allocation, by the program */
    struct ck_trace host; /* the call that is wrong, where no kernel is (at.pc 0) */
    char text[256];       /* what is wrong, a sentence without its end */
    atomic_ullong count;
};

#define CK_MAX_FINDINGS 1024u

/* Findings, merged: equal class, kind, kernel and instructions are one. */
struct ck_table {
    /* For who shares the table: what to check, set before others look. */
    uint32_t want_classes, keep_going, lanes, leaks, hazard;
    uint64_t watchdog, hazard_seed, seed; /* seed: emu_config.seed */
    atomic_ullong accesses, dispatches, instructions;
    atomic_ullong beside; /* dispatches that ran, unchecked, beside checked ones */
    atomic_ullong lost;   /* findings that had no room */
    atomic_uint n;        /* records in use; one is complete when its count is not 0 */
    atomic_uint classes;  /* CK_BITs of who looked */
    /* What the program has made of allocations, and what of it was there at its end. */
    atomic_ullong made, left, left_bytes;
    atomic_uint n_modules; /* one is complete when its path is not empty */
    struct ck_module module[CK_MODULES];
    struct ck_finding v[CK_MAX_FINDINGS];
};

#endif
