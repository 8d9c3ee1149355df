/* fidelity.c: what the fact sheet says of an opcode's fidelity, under this emulator's
 * configuration. SPDX-License-Identifier: MIT
 */
#include "fidelity.h"

#include "facts.h"
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

struct emu_fidelity emu_fidelity(const struct emu *emu, unsigned op)
{
    static const uint8_t kinds[ISA_FIDELITY_COUNT] = {
        [ISA_FIDELITY_SPEC] = EMU_FIDELITY_SPEC,
        [ISA_FIDELITY_HARDWARE] = EMU_FIDELITY_HARDWARE,
        [ISA_FIDELITY_ULP] = EMU_FIDELITY_ULP,
        [ISA_FIDELITY_APPROX] = EMU_FIDELITY_APPROXIMATE,
        [ISA_FIDELITY_UNSUPPORTED] = EMU_FIDELITY_UNSUPPORTED,
    };
    const struct isa_facts *f = isa_facts(op);
    if (f->fidelity == ISA_FIDELITY_DOTS)
        return dots(emu);
    return (struct emu_fidelity){kinds[f->fidelity], f->ulp, f->note};
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
