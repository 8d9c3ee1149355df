/* fault.c: guest mistakes: recorded once, as data; and their text.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "control.h"
#include "facts.h"

const char *emu_fault_name(enum emu_fault_kind kind)
{
    switch (kind) {
    case EMU_FAULT_NONE:
        return "no fault";
    case EMU_FAULT_ILLEGAL:
        return "illegal instruction";
    case EMU_FAULT_UNSUPPORTED:
        return "instruction without semantics";
    case EMU_FAULT_FETCH:
        return "instruction fetch outside executable memory";
    case EMU_FAULT_UNMAPPED:
        return "unmapped address";
    case EMU_FAULT_PERMISSION:
        return "access not permitted";
    case EMU_FAULT_MISALIGNED:
        return "misaligned address";
    case EMU_FAULT_LDS_RANGE:
        return "LDS address out of range";
    case EMU_FAULT_SCRATCH_RANGE:
        return "scratch address out of range";
    case EMU_FAULT_TRAP:
        return "trap";
    case EMU_FAULT_HANG:
        return "no wave can make progress";
    case EMU_FAULT_REGISTER:
        return "register out of range";
    case EMU_FAULT_MATH:
        return "float exception";
    case EMU_FAULT_HALTED:
        return "halted by the trap handler";
    }
    return "unknown fault";
}

/* Disassemble the instruction at pc, or show its first dword. */
static void describe_inst(const struct wave *w, struct emu_fault *f)
{
    struct mem_region r;
    if (!region_find(w->emu->regions, f->pc, &r, NULL) || r.end - f->pc < 4)
        return;
    const void *code = region_host(&r, f->pc);
    struct isa_inst inst;
    unsigned wave = w->wave64 ? 64 : 32;
    if (isa_decode_hw(code, (size_t)(r.end - f->pc), wave, &inst) == RD_OK) {
        char text[ISA_MAX_TEXT];
        isa_print(&inst, wave, 0, text);
        snprintf(f->inst, sizeof f->inst, "%.*s", (int)sizeof f->inst - 1, text);
    } else {
        uint32_t word;
        memcpy(&word, code, sizeof word);
        snprintf(f->inst, sizeof f->inst, ".long 0x%08x", word);
    }
}

void wave_describe(const struct wave *w, const struct uop *u, enum emu_fault_kind kind,
                   struct emu_fault *f)
{
    *f = (struct emu_fault){.kind = kind, .wave = w->index, .lane = -1};
    f->pc = program_pc(w->program, u);
    memcpy(f->workgroup, w->group->id, sizeof f->workgroup);
    describe_inst(w, f);
}

static struct emu_fault *begin(struct wave *w, const struct uop *u,
                               enum emu_fault_kind kind)
{
    struct emu_fault *f = &w->group->fault;
    if (f->kind == EMU_FAULT_NONE)
        wave_describe(w, u, kind, f);
    wave_stop(w, STOP_FAULT, u);
    return f;
}

const struct uop *wave_fault(struct wave *w, const struct uop *u,
                             enum emu_fault_kind kind, const char *detail)
{
    struct emu_fault *f = begin(w, u, kind);
    if (detail && !*f->detail)
        snprintf(f->detail, sizeof f->detail, "%s", detail);
    return NULL;
}

static void fill_access(const struct wave *w, struct emu_fault *f, int lane,
                        uint64_t address, unsigned bytes, bool write)
{
    f->lane = lane;
    f->address = address;
    f->bytes = bytes;
    f->write = write;
    if (f->kind == EMU_FAULT_LDS_RANGE)
        snprintf(f->detail, sizeof f->detail, "the workgroup has %u bytes of LDS",
                 w->group->lds_bytes);
    else if (f->kind == EMU_FAULT_SCRATCH_RANGE)
        snprintf(f->detail, sizeof f->detail, "a work-item has %u bytes of scratch",
                 w->group->scratch_bytes);
    else
        region_describe(w->emu->regions, address, f->detail, sizeof f->detail);
}

const struct uop *wave_fault_at(struct wave *w, const struct uop *u,
                                enum emu_fault_kind kind, int lane, uint64_t address,
                                unsigned bytes, bool write)
{
    fill_access(w, begin(w, u, kind), lane, address, bytes, write);
    return NULL;
}

void wave_unreported(struct wave *w, const struct uop *u, enum emu_fault_kind kind,
                     int lane, uint64_t address, unsigned bytes, bool write)
{
    const struct emu_queue *q = w->group->queue;
    struct emu_fault f;
    if (w->group->unreported || !q->unreported)
        return;
    w->group->unreported = true;
    wave_describe(w, u, kind, &f);
    fill_access(w, &f, lane, address, bytes, write);
    q->unreported(q->ctx, &f);
}

void emu_fault_text(const struct emu_fault *f, char *text, size_t size)
{
    char where[64] = "", what[96] = "";
    const char *tick = *f->inst ? " `" : "";
    if (f->lane >= 0)
        snprintf(where, sizeof where, " lane %d", f->lane);
    if (f->bytes)
        snprintf(what, sizeof what, ", %s of %u bytes at 0x%llx",
                 f->write ? "write" : "read", f->bytes, (unsigned long long)f->address);
    snprintf(text, size, "%s: pc 0x%llx%s%s%s, workgroup (%u,%u,%u) wave %u%s%s%s%s",
             emu_fault_name(f->kind), (unsigned long long)f->pc, tick, f->inst,
             *f->inst ? "`" : "", f->workgroup[0], f->workgroup[1], f->workgroup[2],
             f->wave, where, what, *f->detail ? "; " : "", f->detail);
}

/* ---- handlers of what cannot run --------------------------------------------------
 */

const struct uop *x_fetch(struct wave *w, const struct uop *u)
{
    return wave_fault(w, u, EMU_FAULT_FETCH,
                      "the code ends here, without s_endpgm before");
}

const struct uop *x_illegal(struct wave *w, const struct uop *u)
{
    return wave_fault(w, u, EMU_FAULT_ILLEGAL, NULL);
}

static const char *unsupported_reason(unsigned op)
{
    const struct isa_facts *facts = isa_facts(op);
    return facts->fidelity == ISA_FIDELITY_UNSUPPORTED
               ? facts->note
               : "this form of the instruction is not modelled";
}

const struct uop *x_unsupported(struct wave *w, const struct uop *u)
{
    char detail[128];
    snprintf(detail, sizeof detail, "%s: %s", isa_op_name(u->isa_op),
             unsupported_reason(u->isa_op));
    return wave_fault(w, u, EMU_FAULT_UNSUPPORTED, detail);
}

const struct uop *x_beyond(struct wave *w, const struct uop *u)
{
    char detail[64];
    snprintf(detail, sizeof detail, "the descriptor allocates v0 to v%u",
             w->group->n_vgprs - 1);
    return wave_fault(w, u, EMU_FAULT_REGISTER, detail);
}

const struct uop *x_endless(struct wave *w, const struct uop *u)
{
    return wave_fault(w, u, EMU_FAULT_UNSUPPORTED,
                      "so much code that it cannot be a program");
}
