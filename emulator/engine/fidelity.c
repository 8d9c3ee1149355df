/* fidelity.c: fidelity.def and sem/unsupported.def as a function.
 *
 * Knows opcodes and claims, not semantics: a test compares what is unsupported with
 * what has no function. SPDX-License-Identifier: MIT
 */
#include "fidelity.h"

#include <string.h>

#include "machine.h"

static struct emu_fidelity dots(const struct emu *emu)
{
    if (emu->config.exact_dots)
        return (struct emu_fidelity){
            EMU_FIDELITY_APPROXIMATE, 0,
            "the measured steps, but with exact subtraction (--dots exact)"};
    return (struct emu_fidelity){
        EMU_FIDELITY_HARDWARE, 0,
        "the measured steps, bit for bit (--dots silicon, the default)"};
}

/* The list that names the opcode; SPEC if none does. */
static struct emu_fidelity by_op(const struct emu *emu, unsigned op)
{
    switch (op) {
#define HARDWARE(name, why)                                                            \
    case ISA_##name:                                                                   \
        return (struct emu_fidelity){EMU_FIDELITY_HARDWARE, 0, why};
#define WITHIN(name, n, why)                                                           \
    case ISA_##name:                                                                   \
        return (struct emu_fidelity){EMU_FIDELITY_ULP, n, why};
#define APPROXIMATE(name, why)                                                         \
    case ISA_##name:                                                                   \
        return (struct emu_fidelity){EMU_FIDELITY_APPROXIMATE, 0, why};
#define DOTS(name)                                                                     \
    case ISA_##name:                                                                   \
        return dots(emu);
#define U(name, why)                                                                   \
    case ISA_##name:                                                                   \
        return (struct emu_fidelity){EMU_FIDELITY_UNSUPPORTED, 0, why};
#define APPROXIMATE_ALL(prefix, why)
#include "fidelity.def"
#include "unsupported.def"
    default:
        return (struct emu_fidelity){EMU_FIDELITY_SPEC, 0, ""};
    }
}

/* Families that are listed by the beginning of their names. */
static const struct {
    const char *prefix, *note;
} families[] = {
#undef HARDWARE
#undef WITHIN
#undef APPROXIMATE
#undef DOTS
#undef APPROXIMATE_ALL
#define HARDWARE(name, why)
#define WITHIN(name, n, why)
#define APPROXIMATE(name, why)
#define DOTS(name)
#define APPROXIMATE_ALL(prefix, why) {prefix, why},
#include "fidelity.def"
};

struct emu_fidelity emu_fidelity(const struct emu *emu, unsigned op)
{
    struct emu_fidelity f = by_op(emu, op);
    const char *name = isa_op_name(op);
    for (size_t i = 0;
         f.kind == EMU_FIDELITY_SPEC && i < sizeof families / sizeof *families; i++)
        if (strncmp(name, families[i].prefix, strlen(families[i].prefix)) == 0)
            f = (struct emu_fidelity){EMU_FIDELITY_APPROXIMATE, 0, families[i].note};
    return f;
}

const char *emu_fidelity_name(enum emu_fidelity_kind kind)
{
    switch (kind) {
    case EMU_FIDELITY_SPEC:
        return "exact by specification";
    case EMU_FIDELITY_HARDWARE:
        return "exact by hardware data";
    case EMU_FIDELITY_ULP:
        return "within ULPs";
    case EMU_FIDELITY_APPROXIMATE:
        return "approximate";
    case EMU_FIDELITY_UNSUPPORTED:
        return "unsupported";
    case EMU_FIDELITY_KINDS:
        break;
    }
    return "unknown";
}
