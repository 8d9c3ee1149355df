/* facts.c: the fact sheet as a table.
 *
 * Generated rows, and the lists of facts.h as words. Knows no rule: the generator has
 * checked the rows.
 * SPDX-License-Identifier: MIT
 */
#include "facts.h"

#include "isa_ops.h"

/* What is no instruction has a row, too: no unit takes it, and nothing else is true. */
static const struct isa_facts facts[ISA_OP_COUNT] = {
    [ISA_OP_NONE] = {.pipe = ISA_PIPE_NONE},
#define M(form)  | ISA_MEM_##form
#define S(state) | ISA_STATE_##state
#define J(flow)  | ISA_FLOW_##flow
#define FACTS(op, pipe_, flops_, excp_, fidelity_, ulp_, space_, access_, bytes_,      \
              elems_, stride_, mem_, state_, swapped_, order_, flow_, vopd_, dual_,    \
              function_, note_)                                                        \
    [ISA_##op] = {.pipe = ISA_PIPE_##pipe_,                                            \
                  .excp = ISA_EXCP_##excp_,                                            \
                  .fidelity = ISA_FIDELITY_##fidelity_,                                \
                  .ulp = ulp_,                                                         \
                  .flops = flops_,                                                     \
                  .space = ISA_SPACE_##space_,                                         \
                  .access = ISA_ACCESS_##access_,                                      \
                  .bytes = bytes_,                                                     \
                  .elems = elems_,                                                     \
                  .stride = stride_,                                                   \
                  .order = ISA_ORDER_##order_,                                         \
                  .mem = mem_,                                                         \
                  .state = state_,                                                     \
                  .flow = flow_,                                                       \
                  .vopd = vopd_,                                                       \
                  .swapped = ISA_##swapped_,                                           \
                  .dual = ISA_##dual_,                                                 \
                  .function = function_,                                               \
                  .note = note_},
#include "facts.inc"
#undef M
#undef S
#undef J
#undef FACTS
};

const struct isa_facts *isa_facts(unsigned op)
{
    return &facts[op < ISA_OP_COUNT ? op : ISA_OP_NONE];
}

#define X(name, word, text) {word, text},
#define WORDS(function, list)                                                          \
    const struct isa_fact_word *function(unsigned i)                                   \
    {                                                                                  \
        static const struct isa_fact_word words[] = {list(X)};                         \
        return &words[i < sizeof words / sizeof *words ? i : 0];                       \
    }

/* clang-format off */
WORDS(isa_pipe_word, ISA_PIPES)
WORDS(isa_excp_word, ISA_EXCPS)
WORDS(isa_fidelity_word, ISA_FIDELITIES)
WORDS(isa_space_word, ISA_SPACES)
WORDS(isa_access_word, ISA_ACCESSES)
WORDS(isa_order_word, ISA_ORDERS)
WORDS(isa_mem_word, ISA_MEM_FORMS)
WORDS(isa_flow_word, ISA_FLOWS)
