/* fuzz_captures.c: captures that hold anything: pickles, .rgp files, or (first byte 0)
 * thread traces beside code that is right.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "fuzz.h"
#include "truth.h"

/* s_nop, v_mov, s_cbranch_scc1 back, s_call_b64, s_endpgm; .text at 0x100. */
static const uint32_t code[] = {0xbf800000, 0x7e000280, 0xbfa2fffd, 0xba000001,
                                0xbf800000, 0xbf870001, 0x7e020280, 0xbfb00000};
#define IMAGE_BYTES 0x400u

static void store(uint8_t *p, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

/* As tinygrad's assembler makes them. */
static void make_image(uint8_t *image)
{
    memset(image, 0, IMAGE_BYTES);
    memcpy(image + 0x100, code, sizeof code);
    image[0x140 + 57] = 4; /* wave32 */
    store(image + 0x28, 0x200, 8);
    store(image + 0x3c, 2, 2);
    for (unsigned i = 0; i < 2; i++) {
        uint8_t *s = image + 0x200 + 64 * (size_t)i;
        store(s + 8, i ? 2 : 6, 8);
        store(s + 16, i ? 0x140 : 0x100, 8);
        store(s + 24, i ? 0x140 : 0x100, 8);
        store(s + 32, i ? 64 : sizeof code, 8);
    }
}

static void read_all(const struct sqtt_file *c)
{
    char why[256];
    for (size_t i = 0; i < c->n_launches && i < 8; i++) {
        struct truth t;
        if (!truth_read(c, &c->launch[i], &t, why, sizeof why) && !why[0])
            abort(); /* a reason is told */
        for (size_t w = 0; w < t.n_waves; w++)
            for (size_t k = 0; k < t.wave[w].n_insts; k++)
                if (t.wave[w].inst[k].pc >= t.text_bytes)
                    abort(); /* of the code */
        truth_free(&t);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sqtt_file c;
    char why[256];
    if (size && data[0] == 0) {
        static uint8_t image[IMAGE_BYTES];
        struct capture_launch l = {.n_traces = 1};
        struct sqtt_object o = {.base = 0x1000, .data = image, .bytes = IMAGE_BYTES};
        make_image(image);
        /* header, and the registers that say where the code lies */
        size_t n = size - 1 + 24;
        uint8_t *trace = calloc(1, n);
        if (!trace)
            abort();
        store(trace, 0x11u | 3u << 7, 8);
        store(trace + 8, 0x9u | 0x82u << 8 | 12u << 16 | UINT64_C(0x11) << 32, 8);
        store(trace + 16, 0x9u | 0x82u << 8 | 13u << 16, 8);
        memcpy(trace + 24, data + 1, size - 1);
        l.trace[0] = (struct capture_trace){.data = trace, .bytes = n};
        c = (struct sqtt_file){&l, 1, &o, 1};
        read_all(&c);
        free(trace);
        return 0;
    }
    if (capture_read(data, size, &c, why, sizeof why)) {
        read_all(&c);
        capture_free(&c);
    } else if (!why[0]) {
        abort();
    }
    return 0;
}
