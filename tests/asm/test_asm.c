/* test_asm.c: the file level of the assembler: expressions, labels, conditionals,
 * macros, data, sections, messages. Expected bytes were computed by hand or with
 * llvm-mc 19. SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "harness.h"

START_TEST(expressions)
{
    static const struct {
        const char *text, *hex;
    } rows[] = {
        {"1+2*3", "07000000"},
        {"(1+2)*3", "09000000"},
        {"-2+3", "01000000"},
        {"1<<2|1", "05000000"}, /* | binds as tight as & */
        {"1+1<<2", "05000000"}, /* << binds tighter than + */
        {"6|1*2", "06000000"},
        {"10-4-3", "03000000"}, /* from the left */
        {"7/2, -7/2", "03000000 fdffffff"},
        {"7%4", "03000000"},
        {"~5&0xf", "0a000000"},
        {"5^1, 5!1", "04000000 ffffffff"},
        {"1==1, 1==2", "ffffffff 00000000"},
        {"1!=2, 1<>1", "ffffffff 00000000"},
        {"1<2, 2<=1, 2>1, 1>=1", "ffffffff 00000000 ffffffff ffffffff"},
        {"1&&2, 0||0, !3, !0", "01000000 00000000 00000000 01000000"},
        {"0x1F, 0b101, 017, 'a', '\\n'",
         "1f000000 05000000 0f000000 61000000 0a000000"},
        {"max(1,5,3), or(1,2,4), alignto(13,8)", "05000000 07000000 10000000"},
        {"extrasgprs(1,0,0), extrasgprs(0,1,1), totalnumvgprs(3,9)",
         "02000000 00000000 09000000"},
        {"instprefsize(0), instprefsize(129), instprefsize(100000)",
         "00000000 02000000 3f000000"},
        {"occupancy(16,24,1536,10,16,20,77), occupancy(16,24,1536,10,9,20,24)",
         "10000000 09000000"},
        {"occupancy(16,24,1536,10,16,9,200), occupancy(0,0,0,10,7,0,0)",
         "07000000 07000000"},
        {"occupancy(0,0,0,6,11,81,0), occupancy(0,0,0,8,11,89,0)",
         "05000000 08000000"}, /* older generations: SGPRs limit */
        {"occupancy(7,2,0,0,11,0,1), occupancy(1,0,0,9,11,1,0)", "07000000 01000000"},
        {"1 /* one */ + /* two */ 2", "03000000"},
        {"-8>>60", "0f000000"}, /* logical */
        {"1<<64", "00000000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[200];
        sprintf(text, ".data\n.long %s", rows[i].text);
        expect_bytes(text, ".data", rows[i].hex);
    }
}
END_TEST

START_TEST(frame_errors)
{
    expect_error(".cfi_def_cfa 1, 2\n", 1, "1:18: this belongs between");
    expect_error(".cfi_endproc\n", 1, "1:13: this belongs between");
    expect_error(".cfi_startproc\n", 1, "1:15: .cfi_endproc is missing");
    expect_error(".cfi_startproc\n.cfi_startproc\n.cfi_endproc\n", 1, "2:15: ");
    expect_error(".cfi_startproc easy\n", 1, "1:16: expected simple");
    expect_error(".cfi_startproc\n.cfi_offset s106, 4\n.cfi_endproc\n", 1,
                 "2:13: expected a register");
    expect_error(".cfi_startproc\n.cfi_undefined -1\n.cfi_endproc\n", 1, "2:16: a reg");
    expect_error(".cfi_startproc\n.cfi_lsda 1, a\n.cfi_endproc\n", 1, "2:11: no enc");
    expect_error(".cfi_startproc\n.data\n.cfi_endproc\n", 1, "3:13: the frame began");
    expect_error(".cfi_startproc\n.cfi_return_column 300\n.cfi_endproc\n", 1,
                 "1:15: the return column");
    expect_error(".section .eh_frame,\"aw\",@progbits\n.text\n.cfi_startproc\n"
                 "s_nop 0\n.cfi_endproc\n.cfi_startproc\n.cfi_endproc\n",
                 1, "3:15: section changes its type");
    expect_bytes(".cfi_startproc\n.cfi_def_cfa_offset -0x8000000000000000\n"
                 ".cfi_rel_offset 0, 1\n.cfi_endproc\n",
                 ".text", "");
    expect_error(".bss\n.cfi_startproc\n.zero 0x500000004\n"
                 ".cfi_def_cfa_offset 8\n.cfi_endproc\n",
                 1, "4:22: the frame passes over more code than");
    expect_error(".bss\n.cfi_startproc\n.zero 0x100000000\n.cfi_endproc\n", 1,
                 "2:15: the frame's code is 4 GiB or more");
    expect_error(".reloc -1, R_AMDGPU_NONE\n", 1, "1:8: the place must not be");
    expect_error(".reloc 0, R_AMDGPU_SOME\n", 1, "1:11: no type of a relocation");
    expect_error(".reloc 8, R_AMDGPU_NONE\n", 1, "1:8: the place lies outside");
    expect_error(".reloc a, R_AMDGPU_NONE\n", 1, "1:8: ");
    expect_error(".bss\n.zero 16\n.reloc 0, R_AMDGPU_NONE, a\n", 1,
                 "3:8: a relocation in a section without contents");
    expect_error(".reloc 0, R_AMDGPU_NONE, a-b\n", 1, "1:8: expected a number or");
    expect_error(".data\na: .reloc a, R_AMDGPU_NONE\n.text\n.reloc a, R_AMDGPU_NONE\n",
                 1, "4:8: the place must be one in this section");
    expect_error(".amdgpu_pal_metadata\n", 1, "1:21: .end_amdgpu_pal_metadata is");
    expect_error(
        ".amdgpu_pal_metadata\namdpal.pipelines:\n  - .registers:\n      x: 1\n"
        ".end_amdgpu_pal_metadata\n",
        1, "4:7: invalid metadata: .registers: expected the number");
    expect_error(".amd_amdgpu_pal_metadata 1, 2\n", 1, "1:25: this PAL metadata");
    expect_error(".section .note,\"a\",@nobits\n.text\n.amdgpu_pal_metadata\n"
                 "amdpal.version: [2, 1]\n.end_amdgpu_pal_metadata\n",
                 1, "3:21: section changes its type");
    expect_error(".section .note,\"a\",@nobits\n.text\n.amdgpu_metadata\n"
                 "amdhsa.version: [1, 2]\namdhsa.kernels: []\n.end_amdgpu_metadata\n",
                 1, "3:17: section changes its type");
}
END_TEST

START_TEST(expression_errors)
{
    expect_error(".long 1+\n", 1, "1:9: expected an expression");
    expect_error(".long (1\n", 1, "1:9: expected ')'");
    expect_error(".long 1/0\n", 1, "1:8: division by zero");
    expect_error(".long 0x\n", 1, "1:7: number without digits");
    expect_error(".long 18446744073709551616\n", 1, "1:7: number does not fit 64 bits");
    expect_error(".long 4294967296\n", 1, "1:7: the value does not fit 4 bytes");
    expect_error(".byte -129\n", 1, "1:7: the value does not fit 1 byte");
    expect_error(".long a@b\n", 1, "1:9: unknown relocation specifier");
    expect_error(".long 1b\n", 1, "1:8: no label 1: before this place");
    expect_error(".long nofunc(1)\n", 1, "1:7: unknown function");
    expect_error(".long instprefsize(1,2)\n", 1, "1:7: wrong number of arguments");
    expect_error(".long occupancy(1,2,3,4,5,6,7,8)\n", 1, "1:7: wrong number of");
    expect_error(".long instprefsize(-1)\n", 1, "1:7: instprefsize() of a negative");
    expect_error(".long instprefsize(a)\n.set a, -1\n", 1, "1:7: ");
    expect_error(".set a, b\n.set b, a\n", 1, "2:6: the symbol is defined by itself");
    expect_error(".long a*b\na:\nb:\n", 1, "1:7: the expression is neither");
    expect_error(".byte a\na:\n", 1, "1:7: 1 byte cannot hold an address");
    expect_error(".quad a-b\n", 1, "1:7: 'b' is subtracted but not defined");
}
END_TEST

START_TEST(symbols)
{
    expect_bytes("a = 1\n.long a\na = a + 1\n.long a", ".text", "01000000 02000000");
    expect_bytes(".long b - a\na: .short 1\nb:", ".text", "02000000 0100");
    expect_bytes(".set n, b - a\n.data\n.long n\n.text\na: s_nop 0\nb:", ".data",
                 "04000000");
    expect_bytes("1: s_branch 1f\n1: s_branch 1b\ns_branch 1b", ".text",
                 "0000a0bf ffffa0bf feffa0bf");
    expect_bytes(".data\nx: .long . - x, . - x", ".data", "00000000 04000000");
    expect_bytes("s_mov_b32 s0, late\n.set late, 0x1234", ".text", "ff0080be 34120000");
    expect_bytes(".set early, 5\ns_mov_b32 s0, early+2", ".text", "870080be");
    expect_bytes("s_mov_b32 s0, b-a\na: s_nop 0\nb:", ".text",
                 "ff0080be 04000000 000080bf");
    expect_error("a:\na:\n", 1, "2:1: symbol 'a' is already defined in line 1");
    expect_error(".equiv a, 1\n.set a, 2\n", 1, "2:6: symbol 'a' is already defined");
    expect_error("a:\n.set a, 2\n", 1, "2:6: symbol 'a' is already defined in line 1");
    expect_error("s_branch nowhere\n", 1, "1:10: undefined label 'nowhere'");
    expect_error(". = 4\n", 1, "1:1: assignment to '.'");
    expect_error(".globl a\n .set a, b*c\n", 1, "2:7: 'a' is global but set to");
    expect_error(".globl .amdgcn.next_free_vgpr\n.set .amdgcn.next_free_vgpr, a*b\n", 1,
                 "2:6: '.amdgcn.next_free_vgpr' is global but set to");
}
END_TEST

START_TEST(branches)
{
    char text[256];
    expect_bytes("a: s_nop 0\ns_branch a\ns_branch b\nb: s_endpgm", ".text",
                 "000080bf feffa0bf 0000a0bf 0000b0bf");
    sprintf(text, "s_branch a\n.fill %d, 4, 0xbf800000\na:", 32767);
    struct outcome out;
    assemble(text, &out);
    ck_assert_int_eq(out.status, RD_OK);
    outcome_free(&out);
    sprintf(text, "s_branch a\n.fill %d, 4, 0xbf800000\na:", 32768);
    expect_error(text, 1, "1:10: the branch target is 32768 dwords away");
    sprintf(text, "a:\n.fill %d, 4, 0xbf800000\ns_branch a", 32767);
    assemble(text, &out);
    ck_assert_int_eq(out.status, RD_OK);
    outcome_free(&out);
    sprintf(text, "a:\n.fill %d, 4, 0xbf800000\ns_branch a", 32768);
    expect_error(text, 1, "3:10: the branch target is -32769 dwords away");
    expect_error("s_branch a\n.byte 0\na:", 1, "1:10: the branch target is not at");
}
END_TEST

START_TEST(data)
{
    expect_bytes(".byte 1, 255, -1", ".text", "01ffff");
    expect_bytes(".short 1\n.2byte 0x1234\n.value -1", ".text", "0100 3412 ffff");
    expect_bytes(".quad -1, 1", ".text", "ffffffffffffffff 0100000000000000");
    expect_bytes(".octa 0x112233445566778899aabbccddeeff00", ".text",
                 "00ffeeddccbbaa998877665544332211");
    expect_bytes(".octa -1", ".text", "ffffffffffffffffffffffffffffffff");
    expect_bytes(".float 1.5, -0.0\n.single 1e10", ".text",
                 "0000c03f 00000080 f9021550");
    expect_bytes(".double 3.14159", ".text", "6e861bf0f9210940");
    expect_bytes(".ascii \"ab\" \"c\", \"d\"\n.asciz \"e\"", ".text", "61626364 6500");
    expect_bytes(".string \"a\\tb\\n\\\"\\x41\\101\\\\\"", ".text",
                 "6109620a224141 5c00");
    expect_bytes(".zero 3\n.skip 2, 7\n.space 1", ".text", "000000 0707 00");
    expect_bytes(".fill 2, 2, 0x1234\n.fill 3", ".text", "34123412 000000");
    expect_bytes(".fill 1, 8, 0x1122334455667788", ".text", "8877665500000000");
    expect_bytes(".uleb128 0, 127, 300\n.sleb128 -1, 64, -65", ".text",
                 "00 7f ac02 7f c000 bf7f");
    expect_bytes(".data\n.byte 1\n.p2align 2\n.byte 2\n.balign 4, 0xff\n.byte 3",
                 ".data", "01000000 02ffffff 03");
    expect_bytes(".data\n.byte 1\n.p2align 3,,2\n.byte 2", ".data", "0102");
    expect_bytes(".byte 1\n.p2align 3", ".text", "01000000 000080bf");
    expect_bytes("s_nop 0\n.p2alignl 3, 0xbf9f0000", ".text", "000080bf 00009fbf");
    expect_bytes(".data\n.byte 1\n.org 4, 9\n.byte 2", ".data", "01090909 02");
    expect_bytes(".byte ';', '/' ; a comment\n.byte 2 // another", ".text", "3b2f02");
    expect_error(".balign 6\n", 1, "1:9: the alignment must be a power of two");
    expect_error(".p2align 32\n", 1,
                 "1:10: the alignment's power of two must be 0 to 31");
    expect_error(".space -1\n", 1, "1:8: the count must not be negative");
    expect_error(".space a\na:\n", 1, "1:8: expected a number that is known here");
    expect_error(".ascii \"a\n", 1, "1:8: string is not closed");
    expect_error(".byte 1,\n", 1, "1:9: expected an expression");
    expect_error(".bss\n.long 1\n", 1,
                 "2:7: a section without contents holds only zeros");
    expect_error(".bss\ns_nop 0\n", 1, "2:1: an instruction in a section without");
    expect_error(".space 1<<40\n", 1, "1:13: the contents of all sections grow");
}
END_TEST

START_TEST(sections)
{
    expect_bytes(".data\n.byte 1\n.text\ns_nop 0\n.data\n.byte 2", ".data", "0102");
    expect_bytes(".pushsection .rodata\n.byte 1\n.popsection\n.byte 2", ".rodata",
                 "01");
    expect_bytes(".data\n.rodata\n.previous\n.byte 3", ".data", "03");
    expect_bytes(".section .foo,\"aMS\",@progbits,1\n.asciz \"x\"", ".foo", "7800");
    expect_bytes(".section \"odd name\",\"a\"\n.byte 1", "odd name", "01");
    expect_bytes(".ident \"a\"\n.ident \"b\"", ".comment", "00 6100 6200");
    expect_error(".popsection\n", 1, "1:12: .popsection without .pushsection");
    expect_error(".section .x,\"q\"\n", 1, "1:14: unknown section flag 'q'");
    expect_error(".section .x,\"a\"\n.section .x,\"aw\"\n", 1, "2:10: section changes");
    expect_error(".text 1\n", 1, "1:7: subsections are not supported");
    expect_error(".pushsection .data\n", 1, "0:0: .pushsection without .popsection");
}
END_TEST

START_TEST(section_errors)
{
    expect_error(".section .comment,\"a\",@progbits\n.text\n.ident \"x\"\n", 1,
                 "3:7: section changes its type");
    expect_error(" .section a,\"aw\"\n .section a,\"a\"\n", 1, "2:11: section changes");
}
END_TEST

START_TEST(conditionals)
{
    expect_bytes(".if 1\n.byte 1\n.else\n.byte 2\n.endif", ".text", "01");
    expect_bytes(".if 0\n.byte 1\n.elseif 1\n.byte 2\n.elseif 1\n.byte 3\n.endif",
                 ".text", "02");
    expect_bytes(
        ".if 0\n.if 1\n.byte 1\n.else\n.byte 2\n.endif\n.else\n.byte 3\n.endif",
        ".text", "03");
    expect_bytes("a=1\n.ifdef a\n.byte 1\n.endif\n.ifndef b\n.byte 2\n.endif", ".text",
                 "0102");
    expect_bytes(
        ".ifeq 0\n.byte 1\n.endif\n.ifgt -1\n.byte 2\n.endif\n.ifle 0\n.byte 3\n"
        ".endif",
        ".text", "0103");
    expect_bytes(".ifc a b, a b\n.byte 1\n.endif\n.ifnc a,b\n.byte 2\n.endif", ".text",
                 "0102");
    expect_bytes(".ifeqs \"a\",\"a\"\n.byte 1\n.endif\n.ifb\n.byte 2\n.endif", ".text",
                 "0102");
    /* what is skipped need not be right */
    expect_bytes(".if 0\n bogus ( \" \n.endif\n.byte 1", ".text", "01");
    expect_bytes("a: .byte 0\nb:\n.if b-a == 1\n.byte 1\n.endif", ".text", "0001");
    expect_error(".if 1\n", 1, "2:1: .if in line 1 is not closed");
    expect_error(".endif\n", 1, "1:7: .endif without .if");
    expect_error(".else\n", 1, "1:6: .else without .if");
    expect_error(".if 1\n.else\n.else\n.endif\n", 1, "3:6: a second .else");
    expect_error(".if a\n.endif\na:\n", 1, "1:5: expected a number that is known here");
    expect_error(".macro m\n.endif\n.endm\n.if 1\nm\n.endif\n", 1,
                 "2:7: .endif without .if");
}
END_TEST

START_TEST(macros)
{
    expect_bytes(".macro m a, b=7\n.byte \\a, \\b\n.endm\nm 1\nm 2, 3\nm b=4, a=5",
                 ".text", "0107 0203 0504");
    expect_bytes(".macro m a b\n.byte \\a, \\b\n.endm\nm 1 2\nm 1 + 2 3", ".text",
                 "0102 0303");
    expect_bytes(".macro m v:vararg\n.byte \\v\n.endm\nm 1, 2, 3", ".text", "010203");
    expect_bytes(".macro m\nl\\@: .byte \\@\n.endm\nm\nm", ".text", "0001");
    expect_bytes(".macro m a\n.byte \\a\\()1\n.endm\nm 2", ".text", "15");
    expect_bytes(".macro m a\n.if \\a\n.byte \\a\nm \\a-1\n.endif\n.endm\nm 3", ".text",
                 "030201");
    expect_bytes(".macro m a\n.if \\a\n.exitm\n.endif\n.byte 9\n.endm\nm 1\nm 0",
                 ".text", "09");
    expect_bytes(".macro m\n.byte 1\n.endm\n.purgem m\n.macro m\n.byte 2\n.endm\nm",
                 ".text", "02");
    expect_bytes(".macro o\n.macro i\n.byte 3\n.endm\n.endm\no\ni", ".text", "03");
    expect_bytes(".macro m s\n.ascii \"\\s\"\n.endm\nm \"a b\"", ".text", "612062");
    expect_bytes(".rept 2\n.byte 1\n.rept 2\n.byte 2\n.endr\n.endr", ".text",
                 "010202010202");
    expect_bytes(".rept 0\nbogus\n.endr\n.byte 1", ".text", "01");
    expect_bytes(".irp x, 1, 2, 3\n.byte \\x\n.endr", ".text", "010203");
    expect_bytes(".irpc x, 789\n.byte \\x\n.endr", ".text", "070809");
    expect_bytes(".macro m r, n\ns_mov_b32 s\\r, \\n\n.endm\nm 3, 1", ".text",
                 "810083be");
}
END_TEST

START_TEST(macro_errors)
{
    struct outcome out;
    expect_error(".macro m\n", 1, "1:7: .endm is missing");
    expect_error(".endm\n", 1, "1:6: .endm without .macro");
    expect_error(".macro m a:req\n.endm\nm\n", 1,
                 "3:1: macro 'm' needs a value for 'a'");
    expect_error(".macro m a\n.endm\nm 1, 2\n", 1, "3:6: macro 'm' takes 1 arguments");
    expect_error(".macro m a, a\n.endm\n", 1, "1:13: the parameter occurs twice");
    expect_error(".macro m\n.endm\n.macro m\n.endm\n", 1, "3:8: the macro is already");
    expect_error(".rept -1\n.endr\n", 1, "1:6: the count must not be negative");
    expect_error(".rept 1\n", 1, "1:6: .endr is missing");
    expect_error(".macro m\nm\n.endm\nm\n", 1,
                 "2:1: macros and repetitions are nested");
    /* the place is in the macro, with a note about the call */
    assemble(".macro m\n.byte 1\n bogus\n.endm\n\nm\n", &out);
    ck_assert_str_eq(out.shown, "t.s:3:2: error: unknown instruction 'bogus'\n"
                                " bogus\n"
                                " ^\n"
                                "t.s:6: note: expanded from here\n");
    outcome_free(&out);
}
END_TEST

START_TEST(statements)
{
    expect_bytes("", ".text", "");
    expect_bytes("\n\n", ".text", "");
    expect_bytes("a: b: s_nop 1", ".text", "010080bf");
    expect_bytes(
        "s_nop 1 ; c\ns_nop 2 // c\ns_nop /* c */ 3\n/* a\nb */ s_nop 4\n# c\n",
        ".text", "010080bf 020080bf 030080bf 040080bf");
    expect_bytes("s_nop 1\r\ns_nop 2\r\n", ".text", "010080bf 020080bf");
    expect_bytes("\"quoted name\": s_branch \"quoted name\"", ".text", "ffffa0bf");
    expect_bytes("\ts_nop\t0x3\t", ".text", "030080bf");
    expect_error("s_nop 0 s_nop 1\n", 1, "1:9: too many operands");
    expect_error(".byte 1 2\n", 1, "1:9: unexpected text at the end");
    expect_error(".nothing\n", 1, "1:1: unknown directive '.nothing'");
    expect_error("!\n", 1, "1:1: expected a label, a directive or an instruction");
    expect_error("/* open\n\n", 1, "1:1: comment is not closed");
    expect_error(".include \"x\"\n", 1, "1:10: other files are not read");
}
END_TEST

START_TEST(messages)
{
    struct outcome out;
    char text[4000] = "";
    assemble("s_nop 0\n\tbogus\t1\n", &out);
    ck_assert_str_eq(out.shown, "t.s:2:2: error: unknown instruction 'bogus'\n"
                                "\tbogus\t1\n"
                                "\t^\n");
    outcome_free(&out);
    for (int i = 0; i < 100; i++)
        strcat(text, "bogus\n");
    assemble(text, &out);
    ck_assert_uint_eq(out.result.errors, 100);
    ck_assert_uint_eq(out.messages, 20);
    outcome_free(&out);
    /* of a long line a window is shown, with the caret at the right place */
    memset(text, ' ', 3000);
    strcpy(text + 3000, "bogus");
    assemble(text, &out);
    const char *caret = strchr(out.shown, '^');
    const char *word = strstr(strchr(out.shown, '\n'), "bogus");
    ck_assert_ptr_nonnull(caret);
    ck_assert_ptr_nonnull(word);
    const char *line = strchr(word, '\n') + 1;
    ck_assert_int_eq(caret - line, word - (strchr(out.shown, '\n') + 1));
    outcome_free(&out);
}
END_TEST

START_TEST(hostile)
{
    struct outcome out;
    size_t n = 1000000;
    char *text = malloc(n + 16);
    ck_assert_ptr_nonnull(text);
    assemble_n("s_nop 0\ns_nop \0 1", 17, true, &out);
    ck_assert_str_eq(out.first, "2:7: the source contains a NUL byte");
    outcome_free(&out);
    static const char fills[] = "(-[\"1a.,\\/*";
    static const char *const starts[] = {
        ".long ", "s_mov_b32 s0, ", "", ".macro ", ".ascii \"", ".section ", ".if "};
    for (size_t s = 0; s < sizeof starts / sizeof starts[0]; s++)
        for (const char *f = fills; *f; f++) {
            size_t at = strlen(starts[s]);
            memcpy(text, starts[s], at);
            memset(text + at, *f, n);
            assemble_n(text, at + n, true, &out);
            outcome_free(&out);
        }
    free(text);
    expect_error(".macro m\nm\nm\n.endm\nm\n", 1, "2:1: macros and repetitions");
    expect_error(".rept 9223372036854775807\n\n.endr\n", 1,
                 "3:0: too many repetitions");
    expect_error(".fill 1<<60, 8\n", 1, "1:15: the repeat count is too large");
}
END_TEST

START_TEST(one_line)
{
    struct asm_line *line;
    uint8_t code[20];
    unsigned bytes;
    struct isa_fixup fixup;
    struct isa_asm_error err;
    ck_assert_int_eq(asm_line_open(32, &line), RD_OK);
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(
            asm_line_one(line, "  s_nop 7 ; c", 13, code, &bytes, &fixup, &err), RD_OK);
        ck_assert_uint_eq(bytes, 4);
        ck_assert_uint_eq(code[0], 7);
        ck_assert_int_eq(
            asm_line_one(line, "s_mov_b32 s0, x+1", 17, code, &bytes, &fixup, &err),
            RD_OK);
        ck_assert_uint_eq(fixup.kind, ISA_FIXUP_ABS32);
        ck_assert_uint_eq(code[4], 0);
        ck_assert_int_eq(asm_line_one(line, "\t bogus", 7, code, &bytes, &fixup, &err),
                         RD_E_ENCODING);
        ck_assert_uint_eq(err.column, 3);
    }
    ck_assert_int_eq(asm_line_one(line, " // c", 5, code, &bytes, &fixup, &err), RD_OK);
    ck_assert_uint_eq(bytes, 0);
    asm_line_close(line);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("asm");
    TCase *tc = tcase_create("file level");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, expressions);
    tcase_add_test(tc, expression_errors);
    tcase_add_test(tc, frame_errors);
    tcase_add_test(tc, symbols);
    tcase_add_test(tc, branches);
    tcase_add_test(tc, data);
    tcase_add_test(tc, sections);
    tcase_add_test(tc, section_errors);
    tcase_add_test(tc, conditionals);
    tcase_add_test(tc, macros);
    tcase_add_test(tc, macro_errors);
    tcase_add_test(tc, statements);
    tcase_add_test(tc, messages);
    tcase_add_test(tc, hostile);
    tcase_add_test(tc, one_line);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
