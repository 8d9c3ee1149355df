/* truth.h: a launch as the board ran it: its waves, and where those of the traced SIMD
 * were when. SPDX-License-Identifier: MIT
 */
#ifndef RD_TIMING_TRUTH_H
#define RD_TIMING_TRUTH_H

#include "capture.h"
#include "marks.h"

enum truth_class {
    TRUTH_FIRST, /* from the wave's start */
    TRUTH_EXACT, /* ALU, control, issue of memory, after a barrier: counted in G */
    TRUTH_WAIT,  /* for memory or LDS */
    TRUTH_FETCH, /* in a line of code that the wave has not touched */
};

struct truth_inst {
    uint32_t pc; /* offset in .text */
    uint8_t cls; /* enum truth_class */
    int64_t t;   /* issue; of a wait its release */
};

struct truth_wave {
    unsigned se, sa, wgp, simd, slot;
    int64_t start, end; /* of the SE's time; end -1: it has none */
    bool traced;
    struct truth_inst *inst;
    size_t n_insts, cap;
};

struct truth {
    struct truth_wave *wave; /* in order of start, engine by engine */
    size_t n_waves, cap;
    double sclk_mhz;
    /* What the registers of the dispatch held. */
    uint32_t block[3], rsrc1, rsrc2, cu_mask[CAPTURE_SES];
    unsigned seen;      /* bits of enum truth_reg */
    unsigned engines;   /* bits: those that have a trace */
    struct marks marks; /* what the driver has written into the traces */
    /* The code: .text, where it begins, its descriptor. */
    uint64_t code_va;
    uint8_t *text;
    size_t text_bytes;
    uint32_t entry;
    uint8_t kd[64];
    uint32_t kernarg_bytes;
    /* The code object, unless it is an image without a header, and its kernel. */
    const uint8_t *object;
    size_t object_bytes;
    char *kernel;
    uint32_t lead; /* bytes of its segment in front of .text */
};

/* Registers without which a launch is not known. */
enum truth_reg { TRUTH_BLOCK = 7, TRUTH_CODE = 8, TRUTH_RSRC = 16 };

/* The kernel whose code begins at that address, if the object has it: text and
 * descriptor. Also of what tinygrad loads itself: images as its assembler makes them,
 * whose ELF header is empty but for the place of the sections or says little more, and
 * relocatable objects. */
bool truth_take_code(const struct sqtt_object *o, uint64_t va, struct truth *t);

/* why  out, filled if false is returned. Owner: truth_free, also then. */
bool truth_read(const struct sqtt_file *c, const struct capture_launch *l,
                struct truth *out, char *why, size_t why_bytes);
void truth_free(struct truth *t);

#endif
