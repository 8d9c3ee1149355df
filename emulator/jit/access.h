/* access.h: one memory instruction while its code is written.
 *
 * shape.c tells consecutive, equal and other lanes apart, move.c moves rows; memory.c
 * (global, scalar) and lds.c put them together. SPDX-License-Identifier: MIT
 */
#ifndef RD_ACCESS_H
#define RD_ACCESS_H

#include "emit.h"

#define MAX_DWORDS 4u

/* Opmasks (AVX-512). */
#define K_TEST 3u /* 3, 4: lanes that differ */
#define K_PART 5u /* lanes of a gather, which clears it */
#define K_MIX  7u /* which of two tables a permuted dword comes from */

/* Elements of less than a dword. D16: the other half of the row stays. */
enum small { SMALL_NONE, SMALL_U, SMALL_I, SMALL_D16_U, SMALL_D16_I, SMALL_D16_HI };
static inline bool keeps_half(enum small s)
{
    return s >= SMALL_D16_U;
}

enum shape { SHAPE_UNKNOWN, SHAPE_ROW, SHAPE_PARTS, SHAPE_APART };

struct access {
    const struct uop *u;
    uint16_t addr; /* the row of addresses; wide: and the next one */
    bool wide;
    unsigned dwords; /* per lane and element */
    unsigned bytes;
    unsigned step; /* bytes from lane to lane of those that are moved as a line */
    unsigned rows; /* of data: dwords * elements */
    bool write, lds;
    bool learnt;               /* r8: where steps from lane to lane are */
    bool in_memory;            /* data is not in the cache of rows: AVX2 has no room */
    bool alias;                /* data overlaps the address */
    enum small small;          /* what becomes of elements below a dword */
    unsigned lo, hi;           /* entries of the address rows, or NO_ENTRY: in memory */
    uint16_t row[MAX_DWORDS];  /* the data rows, */
    unsigned data[MAX_DWORDS]; /* and their entries */
    struct far *slow;
    enum shape shape; /* memory.c: access_shape after access_begin */
    /* known.c: slots that tell about it, that it fills; KNOWN_MAX: none */
    unsigned line, place, sets_line, sets_place;
};

/* What windows must permit (TABLE_CHECK). */
static inline unsigned access_perm(const struct emit *e, unsigned perm)
{
    return perm | (e->watch && e->watch->marks ? EMU_MEM_PLAIN : 0);
}

/* ---- shape.c: registers: rcx the offset of the first lane, TEMP_A the same in all
 * lanes, TEMP_X whatever */

/* The register that has part of the offsets: a row, or TEMP_S1. */
unsigned access_offsets(struct emit *e, const struct access *a, unsigned part);
/* ... of the upper halves of addresses: a row, or TEMP_S1. */
unsigned access_uppers(struct emit *e, const struct access *a, unsigned part);
/* Take the first lane of part. */
void access_first(struct emit *e, const struct access *a, unsigned part);
/* Offsets of the lanes of part behind that of lane 0, if they are consecutive. */
struct x86_rm access_steps(const struct emit *e, const struct access *a, unsigned part);
/* Are the active lanes of the row, of part, consecutive, or those of part equal? To be
 * asked after access_first; the condition says no. */
enum x86_cc access_row_apart(struct emit *e, const struct access *a);
enum x86_cc access_part_apart(struct emit *e, const struct access *a, unsigned part);
enum x86_cc access_part_unequal(struct emit *e, const struct access *a, unsigned part);
/* What the address row, as the wave has it now, makes likely. */
enum shape access_shape(const struct emit *e, const struct access *a);
/* Is it worth asking whether the row is consecutive? */
bool access_row_likely(const struct emit *e, const struct access *a);
/* May the wave access bytes at rax, with EMU_MEM_* (one, or none)? Then rax becomes the
 * host's address of them, else it goes to slow. Changes rcx, rdx, r8 and r9. (memory.c)
 * ask: by a call; check: here, if the wave's window is the one that likely lies in,
 * which takes more code. */
void access_ask(struct emit *e, struct far *slow, unsigned bytes, unsigned perm);
/* a: the access whose place that is, or NULL. */
void access_check(struct emit *e, struct far *slow, unsigned bytes, unsigned perm,
                  uint64_t likely, const struct access *a);
/* Bytes from lane to lane that the address row makes likely: a->bytes, or more where
 * lines with gaps can be loaded. */
unsigned access_step_likely(const struct emit *e, const struct access *a);
/* The lower half of a general register in all lanes of a vector. */
void access_spread(struct emit *e, unsigned vector, unsigned gpr);
/* The slow path has it where an active lane's offset, less that in start (NO_ENTRY:
 * none), is above limit's, unsigned. Leaves nothing in TEMP_B and TEMP_X. */
void access_within(struct emit *e, struct access *a, unsigned limit, unsigned start);
/* Do active lanes of reg differ from rm? */
enum x86_cc access_differ(struct emit *e, unsigned reg, struct x86_rm rm,
                          unsigned part);

/* AVX2: lanes of part that are on have the sign in the register, which is TEMP_E. */
unsigned access_signs(struct emit *e, unsigned part);

/* ---- known.c */

/* What is known for the instruction, and slots for what it finds out. */
void known_begin(struct emit *e, struct access *a);
/* Take the first lane of the row; the jump where it is no line, behind which rcx and
 * TEMP_A are whatever. */
size_t known_line(struct emit *e, const struct access *a);
/* The jump where rax is the host's address of the line, or 0: nothing is known. */
size_t known_place(struct emit *e, const struct access *a);
/* rax is that address, in a region with permissions at perm, checked among them. */
void known_set_place(struct emit *e, const struct access *a, struct x86_mem perm,
                     unsigned checked);

/* ---- move.c: from and to rax + disp; first: of the data rows of this element */

void move_load(struct emit *e, const struct access *a, unsigned part, unsigned first,
               int32_t disp);
void move_spread(struct emit *e, const struct access *a, unsigned part, unsigned first,
                 int32_t disp);
/* The register of part's offsets, or a copy that results do not change. */
unsigned move_index(struct emit *e, const struct access *a, unsigned part);
/* At rax + the lanes of index + disp. */
void move_gather(struct emit *e, const struct access *a, unsigned part, unsigned index,
                 unsigned first, int32_t disp);
void move_store(struct emit *e, const struct access *a, unsigned part, unsigned base,
                unsigned first, int32_t disp);
/* AVX-512: to rax + the lanes of index + disp. */
void move_scatter(struct emit *e, const struct access *a, unsigned part, unsigned index,
                  unsigned first, int32_t disp);
/* Data row k in a register: its own, or t. What is in reg becomes data row k. */
unsigned move_get(struct emit *e, const struct access *a, unsigned k, unsigned part,
                  enum temp t);
void move_put(struct emit *e, const struct access *a, unsigned k, unsigned part,
              unsigned reg);
/* Opmasks that the moves want. */
void move_begin(struct emit *e, const struct access *a);

/* Lanes of a part that are on, as an opmask (AVX-512); 0: all. */
static inline unsigned under_exec(const struct emit *e, unsigned part)
{
    return e->masked && e->x->evex ? 1 + part : 0;
}

static inline struct x86_rm const_part(const struct emit *e, unsigned c, unsigned part)
{
    return rm_mem(FIXED, (int32_t)(64u * c + part * e->part_bytes));
}

/* ---- window.c: lanes that lie in one region anyhow */

/* Load all parts by gathers; rcx and TEMP_A are access_first of part 0, rax the address
 * of that lane. */
void window_load_rows(struct emit *e, struct access *a);
/* Are stores known whose lanes lie anyhow? They are done likewise. */
bool window_stores(const struct emit *e, const struct access *a);
void window_store_rows(struct emit *e, struct access *a);
/* Elements of less than a dword, in the lower bits of reg: as the instruction wants
 * them, to data row 0. */
void window_put_small(struct emit *e, const struct access *a, unsigned part,
                      unsigned reg);
/* Does the instruction move elements of less than a dword that are known here? */
bool window_small(const struct uop *u, bool write, enum small *small);

/* memory.c: may the instruction access a line of 32 lanes, all of them on, as the wave
 * has registers now? */
bool access_line_likely(const struct emit *e, const struct uop *u);
/* Is the instruction one whose lanes may lie as those of a row (glance.h)? Code that
 * takes the address of the first lane to rax, and the way of f where they do not. */
bool access_has_row(const struct emit *e, const struct uop *u);
void access_by_row(struct emit *e, const struct uop *u, struct far *f,
                   const struct emu_row *row);

/* ... a scalar load that is known here? Its address to rax. */
bool access_is_scalar(const struct uop *u);
void access_scalar(struct emit *e, const struct uop *u);

/* lds.c */
bool emit_known_lds(const struct emit *e, const struct uop *u);
/* Is it a store of one element a lane? */
bool lds_stores(const struct emit *e, const struct uop *u);
bool emit_lds(struct emit *e, const struct uop *u);

/* scratch.c */
bool emit_known_scratch(const struct emit *e, const struct uop *u);
bool emit_scratch(struct emit *e, const struct uop *u);

/* buffer.c */
bool emit_known_buffer(const struct emit *e, const struct uop *u);
bool emit_buffer(struct emit *e, const struct uop *u);

/* memory.c: begin: places for the rows, and the slow path; end: where it comes back.
 * step 0 becomes bytes. */
void access_begin(struct emit *e, struct access *a);
void access_end(struct emit *e, struct access *a);

#endif
