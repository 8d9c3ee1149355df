/* switch.c: from one wave to the next without leaving native code.
 *
 * What the scheduler does between two waves (engine/turns.c), for the usual case: no
 * wave stands, nobody watches, the workgroup's turn is not over, the next wave has
 * begun, has the same float mode, and there is code where it goes on. Nothing is stored
 * before all of that is known; else the scheduler is asked, which finds everything as
 * it was, and tells those who watch. SPDX-License-Identifier: MIT
 */
#include "emit.h"

#define GROUP   RSI
#define BUDGET  R8 /* group.left, afterwards */
#define WAITING R9 /* group.waiting, afterwards */
#define TABLE_2 R10
#define NEXT    RDI /* the next wave */
#define INDEX   R11 /* its index */

#define ASK_MAX 8u

/* Jumps to where the scheduler is asked. */
struct asks {
    size_t jump[ASK_MAX];
    unsigned n;
};

static void ask_if(struct x86 *x, struct asks *a, enum x86_cc cc)
{
    a->jump[a->n++] = x86_jcc(x, cc);
}

static struct x86_mem group_mem(size_t offset)
{
    return mem_at(GROUP, (int32_t)offset);
}

static struct x86_mem next_mem(size_t offset)
{
    return mem_at(NEXT, (int32_t)offset);
}

/* Who waits once W has come to the barrier: nobody, if it was the last. */
static void arrive(struct x86 *x)
{
    x86_load(x, false, WAITING, group_mem(offsetof(struct workgroup, waiting)));
    x86_mov_imm(x, RAX, 1);
    x86_load(x, false, RCX, wave_mem(offsetof(struct wave, index)));
    x86_shift(x, SHIFT_SHL, false, RAX, RAX, RCX);
    x86_alu(x, ALU_OR, false, WAITING, RAX);
    x86_mov_imm(x, RCX, 0);
    x86_alu_load(x, ALU_CMP, false, WAITING,
                 group_mem(offsetof(struct workgroup, live)));
    x86_cmov(x, CC_E, false, WAITING, RCX);
}

/* turn_find. Mostly it is the wave behind W, in memory too: the host, which guesses the
 * branch, need not wait for how that is found out. */
static void find_next(struct x86 *x)
{
    x86_mov(x, false, RAX, WAITING);
    x86_not(x, false, RAX);
    x86_alu_load(x, ALU_AND, false, RAX, group_mem(offsetof(struct workgroup, live)));
    x86_load(x, false, RCX, group_mem(offsetof(struct workgroup, turn)));
    x86_mov_imm(x, RDX, UINT64_MAX);
    x86_shift(x, SHIFT_SHL, true, RDX, RDX, RCX);
    x86_alu(x, ALU_AND, false, RDX, RAX);
    x86_cmov(x, CC_E, false, RDX, RAX);
    x86_bits(x, BITS_TZCNT, false, INDEX, RDX);
    x86_mov(x, false, RAX, INDEX);
    x86_shift_imm(x, SHIFT_SHL, true, RAX, 3);
    x86_alu_load(x, ALU_ADD, true, RAX, group_mem(offsetof(struct workgroup, waves)));
    x86_lea(x, NEXT, wave_mem(sizeof(struct wave)));
    x86_alu_load(x, ALU_CMP, true, NEXT, mem_at(RAX, 0));
    size_t usual = x86_jcc(x, CC_E);
    x86_load(x, true, NEXT, mem_at(RAX, 0));
    x86_land(x, usual);
}

/* To rdx the code where NEXT goes on, as native_find. A wave that has not begun has no
 * table yet; mostly it is the one of W. */
static void find_code(struct x86 *x, struct asks *a)
{
    x86_load(x, true, RDX, next_mem(offsetof(struct wave, native)));
    x86_test(x, true, RDX, RDX);
    ask_if(x, a, CC_E);
    x86_mov(x, true, TABLE_2, TABLE);
    x86_alu_load(x, ALU_CMP, true, RDX, wave_mem(offsetof(struct wave, native)));
    size_t same = x86_jcc(x, CC_E);
    x86_load(x, true, TABLE_2, mem_at(RDX, offsetof(struct native_table, entry)));
    x86_alu_mem_imm(x, ALU_CMP, true, mem_at(TABLE_2, -8 * TABLE_UOPS), 0);
    ask_if(x, a, CC_E); /* it has no code yet, nor a head */
    x86_land(x, same);
    x86_load(x, true, RAX, next_mem(offsetof(struct wave, next)));
    x86_alu_load(x, ALU_SUB, true, RAX, mem_at(TABLE_2, -8 * TABLE_UOPS));
    _Static_assert(sizeof(struct uop) == 64, "an entry pair is a quarter of it");
    x86_shift_imm(x, SHIFT_SHR, true, RAX, 2);
    x86_alu(x, ALU_ADD, true, RAX, TABLE_2);

    struct x86_mem exec = next_mem(offsetof(struct wave, sgpr[ISA_SEL_EXEC_LO]));
    struct x86_mem high = next_mem(offsetof(struct wave, sgpr[ISA_SEL_EXEC_HI]));
    x86_alu_mem_imm(x, ALU_CMP, false, exec, -1);
    size_t partial = x86_jcc(x, CC_NE);
    x86_cmp8_imm(x, next_mem(offsetof(struct wave, wave64)), 0);
    size_t full = x86_jcc(x, CC_E);
    x86_alu_mem_imm(x, ALU_CMP, false, high, -1);
    size_t full64 = x86_jcc(x, CC_E);
    x86_land(x, partial);
    x86_alu_imm(x, ALU_ADD, true, RAX, 8);
    x86_land(x, full);
    x86_land(x, full64);
    x86_load(x, true, RDX, mem_at(RAX, 0));
    x86_test(x, true, RDX, RDX);
    ask_if(x, a, CC_E);
}

/* NEXT's turn begins. */
static void begin(struct x86 *x, bool barrier)
{
    x86_store(x, true, group_mem(offsetof(struct workgroup, left)), BUDGET);
    if (barrier)
        x86_store(x, false, group_mem(offsetof(struct workgroup, waiting)), WAITING);
    x86_alu_imm(x, ALU_ADD, false, INDEX, 1);
    x86_store(x, false, group_mem(offsetof(struct workgroup, turn)), INDEX);
    x86_store(x, true, group_mem(offsetof(struct workgroup, running)), NEXT);
    x86_mov(x, true, W, NEXT);
    x86_mov(x, true, TABLE, TABLE_2);
    x86_load(x, true, RAX, wave_mem(offsetof(struct wave, n_insts)));
    x86_store(x, true, wave_mem(offsetof(struct wave, turn_began)), RAX);
    x86_store8_imm(x, wave_mem(offsetof(struct wave, stop)), STOP_NONE);
    x86_mov_imm(x, LEFT, TURN);
    load_bases(x);
    x86_jump_reg(x, RDX);
}

/* The scheduler's way; it may have found code, too. */
static void ask(struct x86 *x, native_turn_fn *turn, size_t give_back, bool barrier)
{
    if (barrier)
        x86_store8_imm(x, wave_mem(offsetof(struct wave, stop)), STOP_BARRIER);
    x86_vzeroupper(x);
    x86_store(x, false, wave_mem(offsetof(struct wave, turn)), LEFT);
    x86_mov(x, true, RDI, W);
    x86_mov_imm(x, RAX, (uintptr_t)turn);
    x86_call(x, RAX);
    x86_load(x, true, W, wave_mem(offsetof(struct wave, group)));
    x86_load(x, true, W, mem_at(W, (int32_t)offsetof(struct workgroup, running)));
    x86_load(x, false, LEFT, wave_mem(offsetof(struct wave, turn)));
    x86_test(x, true, RAX, RAX);
    x86_jcc_to(x, CC_E, give_back);
    x86_load(x, true, TABLE, wave_mem(offsetof(struct wave, native)));
    x86_load(x, true, TABLE, mem_at(TABLE, offsetof(struct native_table, entry)));
    load_bases(x);
    x86_jump_reg(x, RAX);
}

void write_switch(struct x86 *x, native_turn_fn *turn, size_t give_back, bool barrier)
{
    struct asks a = {.n = 0};
    x86_vzeroupper(x);
    x86_alu_mem_imm(x, ALU_CMP, true, wave_mem(offsetof(struct wave, observation)), 0);
    ask_if(x, &a, CC_NE);
    x86_load(x, true, GROUP, wave_mem(offsetof(struct wave, group)));
    x86_load(x, true, BUDGET, group_mem(offsetof(struct workgroup, left)));
    x86_alu_load(x, ALU_ADD, true, BUDGET, wave_mem(offsetof(struct wave, turn_began)));
    x86_alu_load(x, ALU_SUB, true, BUDGET, wave_mem(offsetof(struct wave, n_insts)));
    ask_if(x, &a, CC_BE);
    x86_alu_mem_imm(x, ALU_CMP, false, group_mem(offsetof(struct workgroup, halted)),
                    0);
    ask_if(x, &a, CC_NE);
    if (barrier)
        arrive(x);
    else
        x86_load(x, false, WAITING, group_mem(offsetof(struct workgroup, waiting)));
    find_next(x);
    x86_load(x, false, RAX, wave_mem(offsetof(struct wave, mxcsr32)));
    x86_alu_load(x, ALU_CMP, false, RAX, next_mem(offsetof(struct wave, mxcsr32)));
    ask_if(x, &a, CC_NE);
    find_code(x, &a);
    begin(x, barrier);
    for (unsigned i = 0; i < a.n; i++)
        x86_land(x, a.jump[i]);
    ask(x, turn, give_back, barrier);
}
