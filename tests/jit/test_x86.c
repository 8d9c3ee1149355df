/* test_x86.c: what the encoder writes, as another decoder (Zydis) reads it.
 *
 * The whole text of an instruction is compared: mnemonic, registers, memory with its
 * width, displacement and broadcast, opmask, immediate.
 * SPDX-License-Identifier: MIT
 */
#include <Zydis/Zydis.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../suite.h"
#include "x86.h"
#include "x86_specs.h"

#define TEXT 160

static ZydisDecoder decoder;
static ZydisFormatter formatter;
static uint8_t code[512];
static struct x86 x;

static void setup(void)
{
    ck_assert(ZYAN_SUCCESS(
        ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
    ck_assert(
        ZYAN_SUCCESS(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL)));
    static const struct {
        ZydisFormatterProperty property;
        ZyanUPointer value;
    } properties[] = {
        {ZYDIS_FORMATTER_PROP_FORCE_SIZE, ZYAN_TRUE},
        {ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE},
        {ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED},
        {ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED},
        {ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED},
        {ZYDIS_FORMATTER_PROP_IMM_SIGNEDNESS, ZYDIS_SIGNEDNESS_SIGNED},
    };
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
        ck_assert(ZYAN_SUCCESS(ZydisFormatterSetProperty(
            &formatter, properties[i].property, properties[i].value)));
}

static void begin(bool evex)
{
    memset(code, 0xcc, sizeof code);
    x = (struct x86){code, code, code + sizeof code, evex, false};
}

/* The instruction at offset from, which ends where the code ends or is followed by
 * more. Returns its length. */
static size_t read_back(size_t from, char *text, size_t size)
{
    ZydisDecodedInstruction inst;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZyanStatus st = ZydisDecoderDecodeFull(&decoder, code + from, x86_here(&x) - from,
                                           &inst, operands);
    if (!ZYAN_SUCCESS(st)) {
        snprintf(text, size, "(no instruction: error %x)", (unsigned)st);
        return 0;
    }
    ck_assert(ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &inst, operands,
                                                           inst.operand_count_visible,
                                                           text, size, from, NULL)));
    return inst.length;
}

static const char *bytes_text(void)
{
    static char text[64];
    size_t n = x86_here(&x) < 16 ? x86_here(&x) : 16;
    for (size_t i = 0; i < n; i++)
        snprintf(text + 3 * i, sizeof text - 3 * i, " %02x", code[i]);
    return text;
}

/* What was written since begin is this one instruction. */
__attribute__((format(printf, 1, 2))) static void expect(const char *fmt, ...)
{
    char want[TEXT], got[TEXT];
    va_list args;
    va_start(args, fmt);
    vsnprintf(want, sizeof want, fmt, args);
    va_end(args);
    size_t n = read_back(0, got, sizeof got);
    if (strcmp(got, want) == 0 && n == x86_here(&x) && !x.full)
        return;
    ck_abort_msg("%s\n  want %s\n  got  %s (%zu of %zu bytes)", bytes_text(), want, got,
                 n, x86_here(&x));
}

/* ---- operands as text --------------------------------------------------------------
 */

static const char *const r64[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                  "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                  "r12", "r13", "r14", "r15"};
static const char *const r32[] = {"eax",  "ecx",  "edx",  "ebx", "esp",  "ebp",
                                  "esi",  "edi",  "r8d",  "r9d", "r10d", "r11d",
                                  "r12d", "r13d", "r14d", "r15d"};
static const char *const r16[] = {"ax",   "cx",   "dx",   "bx",  "sp",   "bp",
                                  "si",   "di",   "r8w",  "r9w", "r10w", "r11w",
                                  "r12w", "r13w", "r14w", "r15w"};
static const char *const r8[] = {"al",   "cl",   "dl",   "bl",  "spl",  "bpl",
                                 "sil",  "dil",  "r8b",  "r9b", "r10b", "r11b",
                                 "r12b", "r13b", "r14b", "r15b"};
static const char *const cc_name[] = {"o", "no", "b", "nb", "z", "nz", "be", "nbe",
                                      "s", "ns", "p", "np", "l", "nl", "le", "nle"};

static const char *gpr(bool wide, unsigned reg)
{
    return wide ? r64[reg] : r32[reg];
}

static const char *width_name(unsigned bytes)
{
    switch (bytes) {
    case 1:
        return "byte";
    case 2:
        return "word";
    case 4:
        return "dword";
    case 8:
        return "qword";
    case 16:
        return "xmmword";
    case 32:
        return "ymmword";
    default:
        return "zmmword";
    }
}

static const char *number(int64_t v)
{
    static char text[4][24];
    static unsigned next;
    char *t = text[next++ % 4];
    snprintf(t, sizeof text[0], "%s0x%llx", v < 0 ? "-" : "",
             (unsigned long long)(v < 0 ? -v : v));
    return t;
}

static const char *mem(unsigned bytes, struct x86_mem m)
{
    static char text[48];
    const char *disp = number(m.disp);
    snprintf(text, sizeof text, "%s ptr [%s%s%s]", width_name(bytes), r64[m.base],
             m.disp > 0 ? "+" : "", m.disp ? disp : "");
    return text;
}

/* ---- vectors -----------------------------------------------------------------------
 */

static const char *vector(bool evex, unsigned reg)
{
    static char text[4][16];
    static unsigned next;
    char *t = text[next++ % 4];
    snprintf(t, sizeof text[0], "%s%u", evex ? "zmm" : "ymm", reg);
    return t;
}

struct inst {
    enum x86_form form;
    bool evex;
    unsigned dst, src1, k, imm;
    struct x86_rm rm;
};

static void rm_text(const struct inst *in, char operand, char *text, size_t size)
{
    const struct spec *s = &specs[in->form];
    unsigned bytes = in->evex ? 64 : 32;
    if (in->rm.kind == RM_BCAST) {
        snprintf(text, size, "%s {1to%u}", mem(s->element, in->rm.mem),
                 64u / s->element);
        return;
    }
    if (operand == 'h' && in->rm.kind == RM_REG)
        snprintf(text, size, "%s%u", in->evex ? "ymm" : "xmm", in->rm.reg);
    else if (operand == 'h')
        snprintf(text, size, "%s", mem(bytes / 2, in->rm.mem));
    else if (in->rm.kind == RM_REG && (operand == 'l' || operand == 'q'))
        snprintf(text, size, "xmm%u", in->rm.reg);
    else if (operand == 'q')
        snprintf(text, size, "%s", mem(16, in->rm.mem));
    else if (in->rm.kind == RM_REG)
        snprintf(text, size, "%s", vector(in->evex, in->rm.reg));
    else if (operand == 'l')
        snprintf(text, size, "%s",
                 mem(s->fraction ? bytes / s->fraction : 4, in->rm.mem));
    else
        snprintf(text, size, "%s", mem(bytes, in->rm.mem));
}

static void operand_text(const struct inst *in, char operand, char *text, size_t size)
{
    switch (operand) {
    case 'k':
        if (in->evex) {
            snprintf(text, size, "k%u", in->dst);
            break;
        }
        /* fall through */
    case 'v':
        snprintf(text, size, "%s", vector(in->evex, in->dst));
        break;
    case 'g':
        snprintf(text, size, "%s", r32[in->dst]);
        break;
    case 's':
        snprintf(text, size, "%s", vector(in->evex, in->src1));
        break;
    case 'i':
        snprintf(text, size, "%s", number(in->imm));
        break;
    case '4':
        snprintf(text, size, "%s", vector(in->evex, in->imm >> 4));
        break;
    default:
        rm_text(in, operand, text, size);
    }
}

static void check_vec(const struct inst *in)
{
    const struct spec *s = &specs[in->form];
    char want[TEXT], operand[64];
    int n = snprintf(want, sizeof want, "%s ", in->evex ? s->evex : s->vex);
    for (const char *o = s->operands; *o; o++) {
        operand_text(in, *o, operand, sizeof operand);
        n += snprintf(want + n, sizeof want - (size_t)n, "%s%s",
                      o > s->operands ? ", " : "", operand);
        if (o == s->operands && in->k)
            n += snprintf(want + n, sizeof want - (size_t)n, " {k%u}%s", in->k & 7u,
                          in->k & X86_ZERO ? " {z}" : "");
    }
    begin(in->evex);
    x86_vec(&x, in->form, in->dst, in->src1, in->rm, in->k, in->imm);
    expect("%s", want);
}

/* Without and with opmask, and with zeroing where there is such a thing. */
static void check_masks(struct inst in)
{
    check_vec(&in);
    for (unsigned k = 1; in.evex && k < 8; k++) {
        in.k = k;
        check_vec(&in);
        in.k |= X86_ZERO;
        if (specs[in.form].operands[0] == 'v')
            check_vec(&in);
    }
}

static unsigned n_dst(enum x86_form form, bool evex)
{
    return !evex ? 16 : specs[form].operands[0] == 'k' ? 8 : 32;
}

static void check_registers(enum x86_form form, bool evex)
{
    unsigned n = evex ? 32 : 16;
    for (unsigned a = 0; a < n; a++)
        for (unsigned b = 0; b < n; b++) {
            struct inst in = {form,
                              evex,
                              .dst = a % n_dst(form, evex),
                              .src1 = b,
                              .imm = (16 * b + a) & 0xff,
                              .rm = rm_reg((3 * a + 7 * b + 1) % n)};
            if ((a + b) % 5)
                check_vec(&in);
            else
                check_masks(in);
        }
}

static const int32_t disps[] = {
    0,    1,    2,    4,     8,     16,   32,     64,         100,        127,  128,
    -1,   -2,   -4,   -8,    -16,   -32,  -64,    -128,       -129,       252,  256,
    508,  512,  -512, -516,  1016,  1024, -1024,  -1032,      2032,       2048, -2048,
    4064, 4096, 8128, -8192, -8256, 8192, 0x1234, 0x7fffffff, -0x7fffffff};
#define N_DISPS (sizeof disps / sizeof *disps)

static void check_memory(enum x86_form form, bool evex, bool broadcast)
{
    for (unsigned base = 0; base < 16; base++)
        for (unsigned i = 0; i < N_DISPS; i++) {
            struct inst in = {form,
                              evex,
                              .dst = (5 * base + i) % n_dst(form, evex),
                              .src1 = (base + 3 * i) % (evex ? 32 : 16),
                              .imm = (i + 16 * base) & 0xff,
                              .rm = rm_mem(base, disps[i])};
            if (broadcast)
                in.rm.kind = RM_BCAST;
            if (base % 4 == 0)
                check_masks(in);
            else
                check_vec(&in);
        }
}

START_TEST(every_vector_form)
{
    enum x86_form form = (enum x86_form)_i;
    const struct spec *s = &specs[form];
    ck_assert_msg(s->operands && (s->vex || s->evex), "form %d is not in the table",
                  _i);
    if (s->vex && !s->only_mem)
        check_registers(form, false);
    if (s->vex && !s->no_vex_mem)
        check_memory(form, false, false);
    if (s->evex) {
        if (!s->only_mem)
            check_registers(form, true);
        check_memory(form, true, false);
    }
    if (s->element)
        check_memory(form, true, true);
}
END_TEST

/* Arithmetic that rounds otherwise than MXCSR says. */
START_TEST(rounding)
{
    static const enum x86_form form[] = {X86_ADDPS, X86_FMADD132PS, X86_FMADD231PS};
    for (unsigned i = 0; i < 3 * 32u; i++) {
        unsigned d = i % 32, s = (i + 7) % 32, r = (5 * i + 3) % 32;
        const char *name = specs[form[i % 3]].evex;
        begin(true);
        x86_vec(&x, form[i % 3], d, s, rm_reg(r), X86_DOWN, 0);
        expect("%s zmm%u, zmm%u, zmm%u {rd-sae}", name, d, s, r);
        begin(true);
        x86_vec(&x, form[i % 3], d, s, rm_reg(r), X86_UP | 2, 0);
        expect("%s zmm%u {k2}, zmm%u, zmm%u {ru-sae}", name, d, s, r);
        begin(true);
        x86_vec(&x, form[i % 3], d, s, rm_reg(r), X86_TO_ZERO, 0);
        expect("%s zmm%u, zmm%u, zmm%u {rz-sae}", name, d, s, r);
    }
}
END_TEST

START_TEST(vmovd)
{
    for (unsigned g = 0; g < 16; g++)
        for (unsigned v = 0; v < 32; v++) {
            begin(true);
            x86_vmovd(&x, g, v);
            expect("vmovd %s, xmm%u", r32[g], v);
            begin(false);
            x86_vmovd(&x, g, v % 16);
            expect("vmovd %s, xmm%u", r32[g], v % 16);
            begin(true);
            x86_vmovd_from(&x, v, g);
            expect("vmovd xmm%u, %s", v, r32[g]);
            begin(false);
            x86_vmovd_from(&x, v % 16, g);
            expect("vmovd xmm%u, %s", v % 16, r32[g]);
        }
}
END_TEST

/* [base + index * 1 + disp], where no two of destination, index and mask are the same
 * with VEX. */
START_TEST(indexed)
{
    for (unsigned b = 0; b < 16; b++)
        for (unsigned v = 0; v < 32; v++)
            for (unsigned i = 0; i < N_DISPS; i++) {
                struct x86_mem m = mem_at(b, disps[i]);
                unsigned index = (v + 5 * b + 1) % 32, k = 1 + v % 7;
                char at[64];
                const char *disp = m.disp ? number(m.disp) : "";
                snprintf(at, sizeof at, "dword ptr [%s+zmm%u*1%s%s]", r64[b], index,
                         m.disp > 0 ? "+" : "", disp);
                if (index != v) {
                    begin(true);
                    x86_gather(&x, v, m, index, k);
                    expect("vpgatherdd zmm%u {k%u}, %s", v, k, at);
                }
                begin(true);
                x86_scatter(&x, v, m, index, k);
                expect("vpscatterdd %s {k%u}, zmm%u", at, k, v);
                snprintf(at, sizeof at, "qword ptr [%s+ymm%u*1%s%s]", r64[b], index,
                         m.disp > 0 ? "+" : "", disp);
                if (index != v) {
                    begin(true);
                    x86_gather64(&x, v, m, index, k);
                    expect("vpgatherdq zmm%u {k%u}, %s", v, k, at);
                }
                unsigned d = v % 16, n = (d + 1) % 16, mask = (d + 2) % 16;
                snprintf(at, sizeof at, "dword ptr [%s+ymm%u*1%s%s]", r64[b], n,
                         m.disp > 0 ? "+" : "", disp);
                begin(false);
                x86_gather(&x, d, m, n, mask);
                expect("vpgatherdd ymm%u, %s, ymm%u", d, at, mask);
            }
}
END_TEST

/* ---- opmasks ------------------------------------------------------------------------
 */

#define CHECK(call, ...)                                                               \
    do {                                                                               \
        begin(true);                                                                   \
        call;                                                                          \
        expect(__VA_ARGS__);                                                           \
    } while (0)

START_TEST(opmasks)
{
    static const struct {
        enum x86_kop op;
        const char *name;
    } ops[] = {{KOP_AND, "kandw"},
               {KOP_ANDN, "kandnw"},
               {KOP_OR, "korw"},
               {KOP_XNOR, "kxnorw"},
               {KOP_XOR, "kxorw"}};
    for (unsigned a = 0; a < 8; a++)
        for (unsigned b = 0; b < 16; b++) {
            unsigned k = b % 8, c = (3 * a + b + 1) % 8;
            for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++)
                CHECK(x86_kop(&x, ops[i].op, c, a, k), "%s k%u, k%u, k%u", ops[i].name,
                      c, a, k);
            CHECK(x86_kunpck(&x, c, a, k), "kunpckwd k%u, k%u, k%u", c, a, k);
            CHECK(x86_kortest(&x, a, k), "kortestw k%u, k%u", a, k);
            CHECK(x86_k_from_gpr(&x, a, b), "kmovw k%u, %s", a, r32[b]);
            CHECK(x86_kmovd_to_gpr(&x, b, a), "kmovd %s, k%u", r32[b], a);
            for (unsigned i = 0; i < N_DISPS; i++) {
                struct x86_mem m = mem_at(b, disps[i]);
                CHECK(x86_k_load(&x, a, m), "kmovw k%u, %s", a, mem(2, m));
            }
        }
}
END_TEST

/* ---- general registers
 * ---------------------------------------------------------------- */

static const char *const alu_name[] = {"add", "or",  "adc", "sbb",
                                       "and", "sub", "xor", "cmp"};
static const int32_t imms[] = {0,    1,    100,    127,        128,
                               -1,   -128, -129,   255,        0x1234,
                               4096, -512, -65536, 0x7fffffff, -0x7fffffff};
#define N_IMMS (sizeof imms / sizeof *imms)

static void check_alu(enum x86_alu op, bool wide, unsigned a, unsigned b)
{
    const char *name = alu_name[op];
    CHECK(x86_alu(&x, op, wide, a, b), "%s %s, %s", name, gpr(wide, a), gpr(wide, b));
    for (unsigned i = 0; i < N_IMMS; i++)
        CHECK(x86_alu_imm(&x, op, wide, a, imms[i]), "%s %s, %s", name, gpr(wide, a),
              number(imms[i]));
}

static void check_alu_memory(enum x86_alu op, bool wide, unsigned a, struct x86_mem m)
{
    const char *name = alu_name[op];
    const char *at = mem(wide ? 8 : 4, m);
    CHECK(x86_alu_load(&x, op, wide, a, m), "%s %s, %s", name, gpr(wide, a), at);
    int32_t imm = imms[(a + m.base + (uint32_t)m.disp) % N_IMMS];
    CHECK(x86_alu_mem_imm(&x, op, wide, m, imm), "%s %s, %s", name, at, number(imm));
}

START_TEST(arithmetic)
{
    enum x86_alu op = (enum x86_alu)_i;
    for (unsigned a = 0; a < 16; a++)
        for (unsigned b = 0; b < 16; b++) {
            check_alu(op, false, a, b);
            check_alu(op, true, a, b);
            for (unsigned i = a % 4; i < N_DISPS; i += 4) {
                check_alu_memory(op, false, a, mem_at(b, disps[i]));
                check_alu_memory(op, true, a, mem_at(b, disps[i]));
            }
        }
}
END_TEST

static void check_two(bool wide, unsigned a, unsigned b)
{
    const char *ra = gpr(wide, a), *rb = gpr(wide, b);
    CHECK(x86_mov(&x, wide, a, b), "mov %s, %s", ra, rb);
    CHECK(x86_test(&x, wide, a, b), "test %s, %s", ra, rb);
    CHECK(x86_imul(&x, wide, a, b), "imul %s, %s", ra, rb);
    CHECK(x86_bits(&x, BITS_POPCNT, wide, a, b), "popcnt %s, %s", ra, rb);
    CHECK(x86_bits(&x, BITS_TZCNT, wide, a, b), "tzcnt %s, %s", ra, rb);
    CHECK(x86_bits(&x, BITS_LZCNT, wide, a, b), "lzcnt %s, %s", ra, rb);
    for (unsigned cc = 0; cc < 16; cc++)
        CHECK(x86_cmov(&x, (enum x86_cc)cc, wide, a, b), "cmov%s %s, %s", cc_name[cc],
              ra, rb);
    for (unsigned c = 0; c < 16; c++) {
        const char *rc = gpr(wide, c);
        CHECK(x86_shift(&x, SHIFT_SHL, wide, a, b, c), "shlx %s, %s, %s", ra, rb, rc);
        CHECK(x86_shift(&x, SHIFT_SHR, wide, a, b, c), "shrx %s, %s, %s", ra, rb, rc);
        CHECK(x86_shift(&x, SHIFT_SAR, wide, a, b, c), "sarx %s, %s, %s", ra, rb, rc);
        CHECK(x86_bzhi(&x, wide, a, b, c), "bzhi %s, %s, %s", ra, rb, rc);
    }
}

static void check_one(bool wide, unsigned a)
{
    static const struct {
        enum x86_shift op;
        const char *name;
    } shifts[] = {{SHIFT_ROL, "rol"},
                  {SHIFT_ROR, "ror"},
                  {SHIFT_SHL, "shl"},
                  {SHIFT_SHR, "shr"},
                  {SHIFT_SAR, "sar"}};
    CHECK(x86_not(&x, wide, a), "not %s", gpr(wide, a));
    CHECK(x86_neg(&x, wide, a), "neg %s", gpr(wide, a));
    for (unsigned i = 0; i < sizeof shifts / sizeof *shifts; i++)
        for (unsigned n = 1; n < (wide ? 64 : 32); n++)
            CHECK(x86_shift_imm(&x, shifts[i].op, wide, a, n), "%s %s, %s",
                  shifts[i].name, gpr(wide, a), number(n));
}

START_TEST(registers)
{
    for (unsigned a = 0; a < 16; a++) {
        for (unsigned b = 0; b < 16; b++) {
            check_two(false, a, b);
            check_two(true, a, b);
            CHECK(x86_sext16(&x, a, b), "movsx %s, %s", r32[a], r16[b]);
            CHECK(x86_sext32(&x, a, b), "movsxd %s, %s", r64[a], r32[b]);
            CHECK(x86_sext8(&x, a, b), "movsx %s, %s", r32[a], r8[b]);
        }
        check_one(false, a);
        check_one(true, a);
        CHECK(x86_push(&x, a), "push %s", r64[a]);
        CHECK(x86_pop(&x, a), "pop %s", r64[a]);
        CHECK(x86_call(&x, a), "call %s", r64[a]);
        CHECK(x86_jump_reg(&x, a), "jmp %s", r64[a]);
    }
    CHECK(x86_ret(&x), "ret");
    CHECK(x86_vzeroupper(&x), "vzeroupper");
}
END_TEST

START_TEST(move_immediate)
{
    static const uint64_t values[] = {
        0,          1,           0x7fffffff,         0x80000000,
        UINT32_MAX, 0x100000000, 0x123456789abcdef0, 0x8000000000000000,
        UINT64_MAX};
    for (unsigned a = 0; a < 16; a++)
        for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
            uint64_t v = values[i];
            bool wide = v > UINT32_MAX; /* else the upper half becomes 0 */
            int64_t as_text = wide ? (int64_t)v : (int32_t)(uint32_t)v;
            if (as_text != INT64_MIN)
                CHECK(x86_mov_imm(&x, a, v), "mov %s, %s", gpr(wide, a),
                      number(as_text));
            else
                CHECK(x86_mov_imm(&x, a, v), "mov %s, -0x8000000000000000", r64[a]);
        }
}
END_TEST

static void check_memory_of(unsigned a, struct x86_mem m)
{
    int32_t imm = imms[(a + m.base + (uint32_t)m.disp) % N_IMMS];
    CHECK(x86_load(&x, false, a, m), "mov %s, %s", r32[a], mem(4, m));
    CHECK(x86_load(&x, true, a, m), "mov %s, %s", r64[a], mem(8, m));
    CHECK(x86_store(&x, false, m, a), "mov %s, %s", mem(4, m), r32[a]);
    CHECK(x86_store(&x, true, m, a), "mov %s, %s", mem(8, m), r64[a]);
    CHECK(x86_load8(&x, a, m), "movzx %s, %s", r32[a], mem(1, m));
    CHECK(x86_load_sext32(&x, a, m), "movsxd %s, %s", r64[a], mem(4, m));
    CHECK(x86_store_imm(&x, false, m, imm), "mov %s, %s", mem(4, m), number(imm));
    CHECK(x86_store_imm(&x, true, m, imm), "mov %s, %s", mem(8, m), number(imm));
    CHECK(x86_store8_imm(&x, m, (unsigned)imm & 255u), "mov %s, %s", mem(1, m),
          number((int8_t)imm));
    CHECK(x86_cmp8_imm(&x, m, (unsigned)imm & 255u), "cmp %s, %s", mem(1, m),
          number((int8_t)imm));
    CHECK(x86_test8_imm(&x, m, (unsigned)imm & 255u), "test %s, %s", mem(1, m),
          number((int8_t)imm));
    CHECK(x86_setcc_mem(&x, (enum x86_cc)a, m), "set%s %s", cc_name[a], mem(1, m));
    CHECK(x86_prefetch(&x, m), "prefetcht1 %s", mem(1, m));
    CHECK(x86_call_mem(&x, m), "call %s", mem(8, m));
    CHECK(x86_lea(&x, a, m), "lea %s, %s", r64[a], strchr(mem(8, m), '['));
}

START_TEST(memory)
{
    for (unsigned a = 0; a < 16; a++)
        for (unsigned base = 0; base < 16; base++)
            for (unsigned i = 0; i < N_DISPS; i++)
                check_memory_of(a, mem_at(base, disps[i]));
}
END_TEST

/* ---- jumps, the end of the buffer
 * ------------------------------------------------------ */

static void expect_jump(size_t at, const char *name, size_t target)
{
    char want[TEXT], got[TEXT];
    snprintf(want, sizeof want, "%s 0x%zx", name, target);
    ck_assert_uint_ne(read_back(at, got, sizeof got), 0);
    ck_assert_str_eq(got, want);
}

static void skip(unsigned n)
{
    while (n--)
        x86_ret(&x);
}

START_TEST(jumps)
{
    char name[8];
    for (unsigned cc = 0; cc < 16; cc++) {
        begin(false);
        snprintf(name, sizeof name, "j%s", cc_name[cc]);
        size_t first = x86_jcc(&x, (enum x86_cc)cc); /* offset 0 */
        skip(cc);
        size_t at_jmp = x86_here(&x), second = x86_jmp(&x);
        skip(150);
        x86_land(&x, first);
        size_t target = x86_here(&x);
        skip(3);
        x86_land(&x, second);
        size_t end = x86_here(&x);
        x86_jmp_to(&x, 2);
        size_t at_jcc = x86_here(&x);
        x86_jcc_to(&x, (enum x86_cc)cc, at_jcc);
        ck_assert(!x.full);
        expect_jump(0, name, target);
        expect_jump(at_jmp, "jmp", end);
        expect_jump(end, "jmp", 2);
        expect_jump(at_jcc, name, at_jcc);
    }
}
END_TEST

/* Of several jumps to one place, those to another between them. */
START_TEST(joined_jumps)
{
    size_t at[6], last[2] = {0, 0};
    begin(false);
    for (unsigned i = 0; i < 6; i++) {
        skip(12 * i);
        at[i] = x86_here(&x);
        size_t jump = i % 3 ? x86_jcc(&x, CC_B) : x86_jmp(&x);
        last[i & 1] = x86_join(&x, jump, last[i & 1]);
    }
    for (unsigned k = 0; k < 2; k++) {
        size_t target = x86_here(&x);
        x86_land_all(&x, last[k]);
        skip(5);
        for (unsigned i = k; i < 6; i += 2)
            expect_jump(at[i], i % 3 ? "jb" : "jmp", target);
    }
    x86_land_all(&x, 0); /* none */
    ck_assert(!x.full);
}
END_TEST

START_TEST(buffer_ends)
{
    struct x86_rm rm = rm_mem(R12, 0x12345);
    begin(true);
    x86_vec(&x, X86_RANGEPS, 31, 30, rm, 3, 5);
    size_t n = x86_here(&x);
    for (size_t room = 0; room <= n; room++) {
        begin(true);
        x.end = code + room;
        x86_vec(&x, X86_RANGEPS, 31, 30, rm, 3, 5);
        ck_assert_int_eq(x.full, room < n);
        ck_assert_uint_eq(x86_here(&x), room);
        ck_assert_uint_eq(code[room], 0xcc);
    }
    begin(true);
    x.end = code + 3;
    x86_land(&x, x86_jmp(&x));
    ck_assert(x.full);
    ck_assert_uint_eq(code[3], 0xcc);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("x86");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, NULL);
    tcase_add_loop_test(t, every_vector_form, 0, X86_FORMS);
    tcase_add_test(t, rounding);
    tcase_add_test(t, vmovd);
    tcase_add_test(t, indexed);
    tcase_add_test(t, opmasks);
    tcase_add_loop_test(t, arithmetic, 0, 8);
    tcase_add_test(t, registers);
    tcase_add_test(t, move_immediate);
    tcase_add_test(t, memory);
    tcase_add_test(t, jumps);
    tcase_add_test(t, joined_jumps);
    tcase_add_test(t, buffer_ends);
    suite_add_tcase(s, t);
    return suite_run(s);
}
