/* decode.h: what the decoder's files share.
 * SPDX-License-Identifier: MIT
 */
#ifndef ISA_DECODE_H
#define ISA_DECODE_H

#include "image.h"
#include "tables.h"

/* One instruction being decoded. */
struct dec {
    uint64_t word;    /* the first 64 bits */
    uint32_t trailer; /* the dword after the base encoding: literal, DPP, NSA */
    unsigned wave;
    const struct isa_row *row;
    struct isa_inst *inst;
    bool as_hardware; /* isa_decode_hw */
    bool ok;          /* cleared when a field holds what no gfx1100 instruction has */
};

static inline uint32_t dec_field(const struct dec *d, unsigned field)
{
    return isa_get(d->word, d->inst->enc, field);
}

/* ISA_M_* bit if the encoding has the one-bit field and it is set. */
static inline uint32_t dec_flag(const struct dec *d, unsigned field, uint32_t bit)
{
    return dec_field(d, field) != 0 ? bit : 0;
}

/* Modifier fields and operand adjustments of the memory encodings, after the row's
 * operands were filled in. */
void dec_smem(struct dec *d);
void dec_ds(struct dec *d);
void dec_flat(struct dec *d);
void dec_buffer(struct dec *d);
void dec_image(struct dec *d);
void dec_export(struct dec *d);

/* The decoded operand that came from this field, or NULL. */
struct isa_opnd *dec_find(struct dec *d, unsigned field);

#endif
