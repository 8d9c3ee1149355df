/* test_isa_tables.c: the generated tables agree with themselves.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "describe.h"
#include "facts.h"
#include "isa.h"

START_TEST(every_name_is_found)
{
    for (unsigned op = 1; op < isa_op_count(); op++) {
        const char *name = isa_op_name(op);
        ck_assert_ptr_nonnull(name);
        ck_assert_uint_eq(isa_op_find(name, strlen(name)), op);
    }
    ck_assert_ptr_null(isa_op_name(ISA_OP_NONE));
    ck_assert_ptr_null(isa_op_name(isa_op_count()));
}
END_TEST

START_TEST(every_opcode_is_described)
{
    char text[ISA_DESCRIBE_BYTES];
    for (unsigned op = 1; op < isa_op_count(); op++) {
        ck_assert_msg(isa_describe(op, text), "%s", isa_op_name(op));
        ck_assert_uint_lt(strlen(text), ISA_DESCRIBE_BYTES - 1); /* nothing is cut */
    }
    ck_assert(isa_describe(ISA_V_CMPX_NLT_F64, text));
    ck_assert_str_eq(text, "EXEC, lane by lane = S0 not less than S1; 64-bit floats");
    ck_assert(isa_describe(ISA_DS_ADD_RTN_U32, text));
    ck_assert_str_eq(text, "atomic in the LDS: adds; D = what was there; unsigned "
                           "32-bit integers");
    ck_assert(isa_describe(ISA_IMAGE_SAMPLE_C_D_CL_G16, text));
    ck_assert_str_eq(text, "samples an image, compared with a reference, derivatives "
                           "given, the level clamped, of 16 bits");
    ck_assert(isa_describe(ISA_V_CVT_PK_U8_F32, text));
    ck_assert_str_eq(text, "D = S2 with S0, converted, in its byte S1; unsigned bytes "
                           "from 32-bit floats");
}
END_TEST

START_TEST(aliases_are_found)
{
    ck_assert_uint_eq(isa_op_find("v_add_u32", 9), ISA_V_ADD_NC_U32);
    ck_assert_uint_eq(isa_op_find("s_andn2_b64", 11), ISA_S_AND_NOT1_B64);
    ck_assert_uint_eq(isa_op_find("buffer_load_dword", 17), ISA_BUFFER_LOAD_B32);
    /* Not aliases: other operand order, other signedness. */
    ck_assert_uint_eq(isa_op_find("ds_cmpst_b32", 12), ISA_OP_NONE);
    ck_assert_uint_eq(isa_op_find("v_dot4_i32_i8", 13), ISA_OP_NONE);
    /* Only the given length counts. */
    ck_assert_uint_eq(isa_op_find("v_add_f32_e64", 9), ISA_V_ADD_F32);
    ck_assert_uint_eq(isa_op_find("v_add_f3", 8), ISA_OP_NONE);
    ck_assert_uint_eq(isa_op_find("", 0), ISA_OP_NONE);
}
END_TEST

START_TEST(no_unit_takes_what_is_no_instruction)
{
    ck_assert_uint_eq(isa_facts(ISA_OP_NONE)->pipe, ISA_PIPE_NONE);
    ck_assert_uint_eq(isa_facts(isa_op_count())->pipe, ISA_PIPE_NONE);
    for (unsigned op = 1; op < isa_op_count(); op++)
        ck_assert_uint_ne(isa_facts(op)->pipe, ISA_PIPE_NONE);
}
END_TEST

START_TEST(rows_are_sound)
{
    ck_assert_uint_gt(isa_row_count(), 1400);
    ck_assert_ptr_null(isa_row(isa_row_count()));
    for (unsigned i = 0; i < isa_row_count(); i++) {
        const struct isa_row *row = isa_row(i);
        ck_assert_uint_gt(row->op, ISA_OP_NONE);
        ck_assert_uint_lt(row->op, ISA_OP_COUNT);
        ck_assert_uint_gt(row->enc, ISA_ENC_NONE);
        ck_assert_uint_lt(row->enc, ISA_ENC_COUNT);
        ck_assert_uint_le(row->n_opnds, ISA_MAX_OPNDS);
        ck_assert_ptr_null(isa_row_opnd(row, row->n_opnds));
        for (unsigned k = 0; k < row->n_opnds; k++) {
            const struct isa_opnd_desc *o = isa_row_opnd(row, k);
            ck_assert_uint_lt(o->field, ISA_FIELD_COUNT);
            ck_assert_uint_lt(o->type, ISA_OPR_COUNT);
            ck_assert(o->flags & (ISA_OF_IN | ISA_OF_OUT));
            ck_assert(((o->flags & ISA_OF_Y) != 0) ==
                      ((row->flags & ISA_RF_VOPD_Y) != 0));
        }
    }
}
END_TEST

/* No two rows share encoding, half and opcode. */
START_TEST(encodings_do_not_overlap)
{
    for (unsigned i = 0; i < isa_row_count(); i++) {
        for (unsigned k = i + 1; k < isa_row_count(); k++) {
            const struct isa_row *a = isa_row(i), *b = isa_row(k);
            bool same_space = a->enc == b->enc ||
                              (a->enc == ISA_ENC_VOP3 && b->enc == ISA_ENC_VOP3SD) ||
                              (a->enc == ISA_ENC_VOP3SD && b->enc == ISA_ENC_VOP3);
            unsigned half = (a->flags ^ b->flags) & ISA_RF_VOPD_Y;
            ck_assert_msg(!same_space || half || a->opcode != b->opcode,
                          "%s and %s share an encoding", isa_op_name(a->op),
                          isa_op_name(b->op));
        }
    }
}
END_TEST

START_TEST(immediates_have_names)
{
    ck_assert_str_eq(isa_imm_name(ISA_IMM_HWREG, 1), "HW_REG_MODE");
    ck_assert_str_eq(isa_imm_name(ISA_IMM_MTBUF_FORMAT, 63),
                     "BUF_FMT_32_32_32_32_FLOAT");
    ck_assert_str_eq(isa_imm_name(ISA_IMM_SENDMSG, 128), "MSG_RTN_GET_DOORBELL");
    ck_assert_ptr_null(isa_imm_name(ISA_IMM_HWREG, 4));
    ck_assert_ptr_null(isa_imm_name(ISA_IMM_MTBUF_FORMAT, 64));
    ck_assert_int_eq(isa_imm_find(ISA_IMM_EXP_TGT, "mrtz", 4), 8);
    ck_assert_int_eq(isa_imm_find(ISA_IMM_EXP_TGT, "mrt", 3), -1);
    ck_assert_int_eq(isa_imm_find(ISA_IMM_HWREG, "mrtz", 4), -1);
}
END_TEST

static const char *sel_name(unsigned sel, unsigned dwords, unsigned fmt)
{
    static char text[32];
    size_t len = isa_sel_name(sel, dwords, fmt, text);
    return len != 0 ? text : "";
}

START_TEST(selectors_have_names)
{
    ck_assert_str_eq(sel_name(256 + 3, 1, ISA_FMT_B32), "v3");
    ck_assert_str_eq(sel_name(256 + 4, 2, ISA_FMT_B64), "v[4:5]");
    ck_assert_str_eq(sel_name(106, 2, ISA_FMT_B64), "vcc");
    ck_assert_str_eq(sel_name(106, 1, ISA_FMT_B32), "vcc_lo");
    ck_assert_str_eq(sel_name(108, 4, ISA_FMT_B128), "ttmp[0:3]");
    ck_assert_str_eq(sel_name(208, 1, ISA_FMT_I32), "-16");
    ck_assert_str_eq(sel_name(248, 1, ISA_FMT_F32), "0.15915494");
    ck_assert_str_eq(sel_name(248, 2, ISA_FMT_F64), "0.15915494309189532");
    ck_assert_str_eq(sel_name(240, 1, ISA_FMT_I16), "0x3800");
    ck_assert_str_eq(sel_name(220, 1, ISA_FMT_B32), "");
    ck_assert_str_eq(sel_name(512, 1, ISA_FMT_B32), "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("isa tables");
    TCase *tc = tcase_create("tables");
    tcase_add_test(tc, every_name_is_found);
    tcase_add_test(tc, aliases_are_found);
    tcase_add_test(tc, no_unit_takes_what_is_no_instruction);
    tcase_add_test(tc, rows_are_sound);
    tcase_add_test(tc, every_opcode_is_described);
    tcase_add_test(tc, encodings_do_not_overlap);
    tcase_add_test(tc, immediates_have_names);
    tcase_add_test(tc, selectors_have_names);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
