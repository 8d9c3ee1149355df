/* facts.h: what is true of an opcode wherever it is executed, timed, checked or chosen.
 *
 * One row per opcode in isa/gen/rdna3.facts, checked against AMD's rows by the
 * generator; the words of its columns are the second entries of the lists below. What
 * depends on an instruction's operands and modifiers is in struct isa_inst. Times are
 * not here: the timing model gives each pipe its cycles.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ISA_FACTS_H
#define RD_ISA_FACTS_H

#include <stdint.h>

/* ---- the words of the columns: X(NAME, "word", "what it means") ---- */

/* pipe: which unit takes the instruction, and how fast a class of the unit's it is.
 * Vector classes: token classes of the hardware trace. */
#define ISA_PIPES(X)                                                                   \
    X(VALU, "valu", "vector ALU, full rate")                                           \
    X(HALF, "half", "vector ALU, half rate")                                           \
    X(QUARTER, "quarter", "vector ALU, quarter rate")                                  \
    X(TRANS, "trans", "vector ALU, transcendental unit")                               \
    X(DOUBLE, "double", "vector ALU, 64-bit floats")                                   \
    X(WMMA, "wmma", "vector ALU, matrix product")                                      \
    X(WMMA4, "wmma4", "vector ALU, matrix product of 4-bit integers")                  \
    X(VNONE, "vnone", "vector ALU, nothing to compute")                                \
    X(SALU, "salu", "scalar ALU")                                                      \
    X(SMUL, "smul", "scalar ALU, multiplier")                                          \
    X(JUMP, "jump", "scalar ALU, changes the PC")                                      \
    X(SWAIT, "swait", "scalar ALU, waits for a counter")                               \
    X(ISSUE, "issue", "taken by the sequencer as it issues")                           \
    X(WAIT, "wait", "the sequencer waits for counters")                                \
    X(BARRIER, "barrier", "the sequencer waits for the workgroup")                     \
    X(SLEEP, "sleep", "the sequencer waits for a time")                                \
    X(MESSAGE, "message", "message to the hardware around the wave")                   \
    X(BRANCH, "branch", "branch unit")                                                 \
    X(END, "end", "ends the wave")                                                     \
    X(SMEM, "smem", "scalar memory")                                                   \
    X(LDS, "lds", "LDS")                                                               \
    X(LDS_FADD, "ldsfadd", "LDS, addition of floats in place")                         \
    X(PERMUTE, "permute", "LDS, exchange between any lanes")                           \
    X(BVH_STACK, "bvhstack", "LDS, stack of a ray traversal")                          \
    X(PARAM, "param", "LDS, values for all lanes, without an address")                 \
    X(GWS, "gws", "global wave sync")                                                  \
    X(VMEM, "vmem", "vector memory")                                                   \
    X(EXPORT, "export", "export")                                                      \
    X(NONE, "none", "of what is no instruction")

/* excp: which float exceptions it can raise, and how they follow from the operands.
 * Source: RDNA3 manual 3.4.9, 7.2 and the notes of the instructions. Dot products, WMMA
 * and interpolation raise none (7.9, 12.3). */
#define ISA_EXCPS(X)                                                                   \
    X(NONE, "-", "none")                                                               \
    X(ADD, "add", "those of S0 + S1")                                                  \
    X(SUB, "sub", "those of S0 - S1")                                                  \
    X(SUBREV, "subrev", "those of S1 - S0")                                            \
    X(MUL, "mul", "those of S0 * S1")                                                  \
    X(FMA, "fma", "those of S0 * S1 + S2")                                             \
    X(MUL_ZERO, "mulzero", "those of S0 * S1, where 0 times anything is 0")            \
    X(FMA_ZERO, "fmazero", "those of S0 * S1 + S2, where 0 times anything is 0")       \
    X(QUIET, "quiet", "invalid for signaling NaNs")                                    \
    X(COMPARE, "cmp", "invalid for signaling NaNs, with CLAMP for all")                \
    X(RCP, "rcp", "those of 1 / S0")                                                   \
    X(IFLAG, "iflag", "integer division by zero")                                      \
    X(RSQ, "rsq", "those of 1 / sqrt(S0)")                                             \
    X(SQRT, "sqrt", "those of sqrt(S0)")                                               \
    X(EXP, "exp", "those of 2 ^ S0")                                                   \
    X(LOG, "log", "those of log2(S0)")                                                 \
    X(TRIG, "trig", "invalid for infinity, else inexact")                              \
    X(LDEXP, "ldexp", "those of S0 * 2 ^ S1")                                          \
    X(FIXUP, "fixup", "those of the division that it ends")                            \
    X(TO_INT, "toint", "invalid out of range, inexact with CLAMP")                     \
    X(TO_FLOAT, "tofloat", "those of rounding S0")                                     \
    X(NARROW_RTZ, "rtz16", "those of rounding S0 and S1 to f16")

/* fidelity: how near the emulator's semantics are to the hardware. */
#define ISA_FIDELITIES(X)                                                              \
    X(SPEC, "spec", "exact by specification")                                          \
    X(HARDWARE, "hardware", "exact by hardware data")                                  \
    X(ULP, "ulp", "within ULPs")                                                       \
    X(APPROX, "approx", "approximate")                                                 \
    X(DOTS, "dots", "float dot product: as --dots says")                               \
    X(UNSUPPORTED, "unsupported", "unsupported")

/* mem: the memory that it addresses. */
#define ISA_SPACES(X)                                                                  \
    X(NONE, "-", "no memory")                                                          \
    X(LDS, "lds", "LDS, or GDS with that bit")                                         \
    X(GWS, "gws", "global wave sync")                                                  \
    X(FLAT, "flat", "flat: LDS, scratch or global by the address")                     \
    X(GLOBAL, "global", "global address")                                              \
    X(SCRATCH, "scratch", "scratch address")                                           \
    X(SCALAR, "scalar", "scalar address")                                              \
    X(SBUFFER, "sbuffer", "buffer resource, scalar")                                   \
    X(BUFFER, "buffer", "buffer resource")                                             \
    X(TBUFFER, "tbuffer", "buffer resource, format in the instruction")                \
    X(IMAGE, "image", "image resource")

/* access: what it does to that memory. */
#define ISA_ACCESSES(X)                                                                \
    X(NONE, "-", "neither reads nor writes it")                                        \
    X(LOAD, "load", "reads")                                                           \
    X(SAMPLE, "sample", "reads what the texture unit finds: samples, gathers, rays")   \
    X(STORE, "store", "writes")                                                        \
    X(ATOMIC, "atomic", "reads and writes in one step")                                \
    X(UPDATE, "update", "reads and writes")

/* form: what else the memory operation does. Bits ISA_MEM_NAME of isa_facts.mem. */
#define ISA_MEM_FORMS(X)                                                               \
    X(RETURNS, "ret", "returns the value before")                                      \
    X(GLC, "glc", "returns the value before if GLC is set")                            \
    X(D16, "d16", "16-bit registers")                                                  \
    X(HI, "hi", "upper half of the register")                                          \
    X(FORMAT, "format", "converts by the buffer's format; size counts components")     \
    X(TO_LDS, "tolds", "loads into LDS")                                               \
    X(ADDTID, "addtid", "lane number instead of an address")                           \
    X(COMPARE, "cmpr", "data and a value to compare with")                             \
    X(MIP, "mip", "image: level of detail as an address")                              \
    X(RAW, "pck", "image: elements as they are")                                       \
    X(SIGNED, "sgn", "image: sign-extends")                                            \
    X(REF, "c", "image: compares with a reference")                                    \
    X(GRAD, "d", "image: gradients")                                                   \
    X(BIAS, "b", "image: bias of the level of detail")                                 \
    X(LOD, "l", "image: level of detail")                                              \
    X(ZERO, "lz", "image: level of detail 0")                                          \
    X(CLAMP, "cl", "image: level of detail has a lower limit")                         \
    X(OFFSET, "o", "image: offsets in texels")                                         \
    X(G16, "g16", "image: gradients of 16 bits")                                       \
    X(ROW, "row", "image: gathers four of a row")                                      \
    X(NODE64, "node64", "image: 64-bit node pointer")

/* commutes, of atomics: the operation of memory, under which all instructions of the
 * same word commute whatever their data. Others do not even commute with themselves. */
#define ISA_ORDERS(X)                                                                  \
    X(NONE, "-", "")                                                                   \
    X(ADD32, "add32", "addition, 32 bits")                                             \
    X(ADD64, "add64", "addition, 64 bits")                                             \
    X(AND32, "and32", "AND, 32 bits")                                                  \
    X(AND64, "and64", "AND, 64 bits")                                                  \
    X(OR32, "or32", "OR, 32 bits")                                                     \
    X(OR64, "or64", "OR, 64 bits")                                                     \
    X(XOR32, "xor32", "XOR, 32 bits")                                                  \
    X(XOR64, "xor64", "XOR, 64 bits")                                                  \
    X(MIN_I32, "mini32", "signed minimum, 32 bits")                                    \
    X(MIN_I64, "mini64", "signed minimum, 64 bits")                                    \
    X(MAX_I32, "maxi32", "signed maximum, 32 bits")                                    \
    X(MAX_I64, "maxi64", "signed maximum, 64 bits")                                    \
    X(MIN_U32, "minu32", "unsigned minimum, 32 bits")                                  \
    X(MIN_U64, "minu64", "unsigned minimum, 64 bits")                                  \
    X(MAX_U32, "maxu32", "unsigned maximum, 32 bits")                                  \
    X(MAX_U64, "maxu64", "unsigned maximum, 64 bits")

/* flow: bits ISA_FLOW_NAME of isa_facts.flow. Illegal operands, and floats with
 * exceptions enabled, can stop any instruction: that is not listed. */
#define ISA_FLOWS(X)                                                                   \
    X(BRANCH, "branch", "may change the PC")                                           \
    X(TRAP, "trap", "may enter the trap handler")                                      \
    X(STOP, "stop", "the wave may stop running here, for a while or for ever")         \
    X(END, "end", "ends the wave")                                                     \
    X(FAULT, "fault", "may fault: an address, a register number")

#define X(name, word, text) ISA_PIPE_##name,
enum isa_pipe { ISA_PIPES(X) ISA_PIPE_COUNT };
#undef X
#define X(name, word, text) ISA_EXCP_##name,
enum isa_excp { ISA_EXCPS(X) ISA_EXCP_COUNT };
#undef X
#define X(name, word, text) ISA_FIDELITY_##name,
enum isa_fidelity { ISA_FIDELITIES(X) ISA_FIDELITY_COUNT };
#undef X
#define X(name, word, text) ISA_SPACE_##name,
enum isa_space { ISA_SPACES(X) ISA_SPACE_COUNT };
#undef X
#define X(name, word, text) ISA_ACCESS_##name,
enum isa_access { ISA_ACCESSES(X) ISA_ACCESS_COUNT };
#undef X
#define X(name, word, text) ISA_ORDER_##name,
enum isa_order { ISA_ORDERS(X) ISA_ORDER_COUNT };
#undef X
/* Bits, numbered in the order of the lists. */
#define X(name, word, text) ISA_MEM_BIT_##name,
enum { ISA_MEM_FORMS(X) ISA_MEM_BITS };
#undef X
#define X(name, word, text) ISA_MEM_##name = 1 << ISA_MEM_BIT_##name,
enum isa_mem { ISA_MEM_FORMS(X) };
#undef X
#define X(name, word, text) ISA_FLOW_BIT_##name,
enum { ISA_FLOWS(X) ISA_FLOW_BITS };
#undef X
#define X(name, word, text) ISA_FLOW_##name = 1 << ISA_FLOW_BIT_##name,
enum isa_flow { ISA_FLOWS(X) };
#undef X

/* State that it reads or writes beyond its explicit operands: columns exec, scc, vcc,
 * m0, mode with "r", "w", "rw"; exec also "mask": it works on the lanes of EXEC, and
 * does nothing if there are none. */
enum isa_state {
    ISA_STATE_EXEC_IN = 1 << 0, /* its value, beyond masking */
    ISA_STATE_EXEC_OUT = 1 << 1,
    ISA_STATE_SCC_IN = 1 << 2,
    ISA_STATE_SCC_OUT = 1 << 3,
    ISA_STATE_VCC_IN = 1 << 4,
    ISA_STATE_VCC_OUT = 1 << 5,
    ISA_STATE_M0_IN = 1 << 6,
    ISA_STATE_M0_OUT = 1 << 7,
    ISA_STATE_MODE_IN = 1 << 8, /* rounding, denormals, clamping, exceptions */
    ISA_STATE_MODE_OUT = 1 << 9,
    ISA_STATE_MASKED = 1 << 10,
};

/* vopd: halves of a VOPD that the operation fits; for v_dual_ opcodes, that it is. */
enum isa_vopd { ISA_VOPD_X = 1, ISA_VOPD_Y = 2 };

struct isa_facts {
    uint8_t pipe;     /* enum isa_pipe */
    uint8_t excp;     /* enum isa_excp */
    uint8_t fidelity; /* enum isa_fidelity */
    uint8_t ulp;      /* ISA_FIDELITY_ULP: units of the last place, at most */
    uint16_t flops;   /* float operations of a lane; of WMMA, a wave's over 32 */
    uint8_t space;    /* enum isa_space */
    uint8_t access;   /* enum isa_access */
    uint8_t bytes;    /* of one element of a lane, or of a scalar load; 0: DMASK says */
    uint8_t elems;  /* addresses of a lane: 1, 2 of the 2addr forms; FORMAT: components
                       of one address; 0 without memory */
    uint8_t stride; /* of the offsets of a 2addr form, in elements: 1 or 64, else 0 */
    uint8_t order;  /* enum isa_order */
    uint32_t mem;   /* enum isa_mem bits */
    uint16_t state; /* enum isa_state bits */
    uint8_t flow;   /* enum isa_flow bits */
    uint8_t vopd;   /* enum isa_vopd bits */
    uint16_t swapped; /* the op that gives the same with sources 0 and 1 exchanged
                         (apart from which of two NaNs it returns), itself if it
                         commutes, or ISA_OP_NONE */
    uint16_t dual; /* its v_dual_ op, of a v_dual_ op the plain one, or ISA_OP_NONE */
    const char *function; /* of its semantics, in the emulator; NULL if unsupported */
    const char *note;     /* whence the fidelity, or why unsupported; may be empty */
};

/* Facts of a valid op. Never NULL. */
const struct isa_facts *isa_facts(unsigned op);

/* The words of the sheet and their meanings, for people. */
struct isa_fact_word {
    const char *word, *text;
};
const struct isa_fact_word *isa_pipe_word(unsigned pipe);
const struct isa_fact_word *isa_excp_word(unsigned excp);
const struct isa_fact_word *isa_fidelity_word(unsigned fidelity);
const struct isa_fact_word *isa_space_word(unsigned space);
const struct isa_fact_word *isa_access_word(unsigned access);
const struct isa_fact_word *isa_order_word(unsigned order);
const struct isa_fact_word *isa_mem_word(unsigned bit);  /* bit number */
const struct isa_fact_word *isa_flow_word(unsigned bit); /* bit number */

#endif
