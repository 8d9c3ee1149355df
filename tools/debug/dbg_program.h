/* dbg_program.h: what is known of the program that waves run: code object, lines,
 * symbols. SPDX-License-Identifier: MIT
 */
#ifndef RD_DEBUG_PROGRAM_H
#define RD_DEBUG_PROGRAM_H

#include "codeobj.h"
#include "symbols.h"
#include "target.h"

struct program {
    const char *root;   /* where source files are looked for, too; NULL: nowhere else */
    const char *path;   /* for messages */
    const char *kernel; /* its name */
    struct co_object *co;  /* NULL: bare code */
    struct source *source; /* NULL: no DWARF */
    uint64_t image;        /* GPU address of image offset 0 */
    uint64_t bias;         /* GPU address less address in the file (DWARF's) */
    uint64_t entry;        /* GPU address of the kernel's first instruction */
    unsigned lanes;        /* 32 or 64 */
    const uint64_t *args;  /* values of the kernel's arguments, where they are known */
    unsigned n_args;
    struct program_file *files; /* texts read so far */
};

/* Read symbols of a code object (data stays the caller's), or of bare code: data NULL.
 */
void program_open(struct program *p, const char *path, const void *data, size_t bytes,
                  const char *kernel, uint64_t image, uint64_t entry, unsigned lanes);
void program_close(struct program *p);

/* "kernel+0x40": the symbol that holds an address. false: none does. */
bool program_symbol(const struct program *p, uint64_t pc, char *text, size_t size);

/* Source lines around an address: as source_find. */
unsigned program_frames(const struct program *p, uint64_t pc,
                        struct source_frame *frames, unsigned room);
const struct source_line *program_line(const struct program *p, uint64_t pc);

/* A line of a source file, without its end; NULL: not there. The file may lie where
 * DWARF says, or by its last name in the folder where we are. */
const char *program_text(struct program *p, const char *file, unsigned line);
unsigned program_text_lines(struct program *p, const char *file);

/* Does a file that DWARF names fit what a user wrote ("a.hip", "src/a.hip")? */
bool program_same_file(const char *dwarf, const char *user);

/* Addresses where a line's code begins; the nearest line behind it that has code if it
 * has none itself (*line becomes that). file NULL: the one of the kernel. Returns how
 * many. */
unsigned program_line_places(struct program *p, const char *file, unsigned *line,
                             uint64_t *pcs, unsigned room);

/* Does the function there still make its frame? */
bool program_in_prologue(const struct program *p, uint64_t pc);

/* Where a function or kernel begins, behind its prologue if DWARF says where. 0: none
 */
uint64_t program_function(const struct program *p, const char *name, bool exact);

/* The same, and wherever it is inlined. Returns how many. */
unsigned program_function_places(const struct program *p, const char *name,
                                 uint64_t *pcs, unsigned room);

#endif
