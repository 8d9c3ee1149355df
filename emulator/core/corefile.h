/* corefile.h: the notes of core files (tools/debug/README.md), and how they are
 * gathered.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DEBUG_COREFILE_H
#define RD_DEBUG_COREFILE_H

#include <stddef.h>

#include "inspect.h"

#define CORE_NOTE_NAME "RDNA3"
#define CORE_VERSION   1u

enum core_note {
    CORE_DISPATCH = 1,
    CORE_WAVE,
    CORE_LDS,
    CORE_OBJECT,
    CORE_REGION,
    CORE_PLACE, /* u64 image, path: of an object that was found later */
};

/* All fields little-endian, no holes. Behind it: kernel, path, reason, each ended by a
 * zero. */
struct core_dispatch {
    uint32_t version, lanes;
    uint64_t entry, image;
    uint32_t groups[3], block[3];
    uint32_t vgprs, lds_bytes, scratch_bytes, reserved;
};

#define CORE_SCALARS   129u /* registers by enum isa_sel up to EXEC_HI, then SCC */
#define CORE_NO_LANE   0xffffffffu
#define CORE_NO_REASON 0xfffffffeu

/* Behind it: CORE_SCALARS dwords, vgprs * lanes dwords (register by register), scratch
 * (lane by lane). */
struct core_wave {
    uint64_t group, pc, exec, instructions;
    uint32_t workgroup[3], wave;
    uint32_t doing, mode, status, trapsts;
    uint32_t
        fault_lane; /* CORE_NO_REASON: it did not fault; CORE_NO_LANE: not of one */
    uint32_t reserved;
};

/* Gathers waves while a dispatch ends: an emu_inspector. */
struct capture {
    struct emu_inspector inspector; /* for emu_dispatch */
    uint8_t *notes;                 /* gathered so far */
    size_t bytes, room;
    bool failed; /* out of memory: nothing more is gathered */
    unsigned n_waves;
    uint64_t group;
    struct emu_fault fault; /* of the group that is shown */
    bool whole;             /* scratch and LDS too */
};

void capture_begin(struct capture *c, bool whole);
void capture_end(struct capture *c);

/* What a core file says besides its waves. */
struct core_subject {
    struct emu *emu; /* its memory, if it is to be saved */
    const struct emu_dispatch *dispatch;
    uint64_t image;
    const char *kernel, *path, *reason;
    const void *object; /* the code object's file; NULL: none */
    size_t object_bytes;
    bool memory; /* regions, too; else of those with code */
    bool brief;  /* of those with code the kernel's alone */
};

/* The core file as bytes; NULL: out of memory. Owner: free. */
void *capture_file(const struct capture *c, const struct core_subject *about,
                   size_t *bytes);

#endif
