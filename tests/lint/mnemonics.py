"""Finds tests on the text of mnemonics: facts of an opcode are in isa/gen/rdna3.facts.

Three signs, in C code without its comments:
  - a comparison (strcmp, strncmp, strstr, begins ...) with a string literal that begins
    like a mnemonic, or, where a part is looked for, that some mnemonic contains;
  - a comparison of what isa_op_name and its like return, or of a variable that holds it;
  - a literal that is the beginning of mnemonics up to an underscore ("v_exp_"), wherever:
    nothing is written so but lists of names to compare with.
Whole mnemonics outside of comparisons are instructions that somebody writes.
"""
# SPDX-License-Identifier: MIT
import re

COMPARES = (r"strn?cmp|strn?casecmp|strstr|strcasestr|memcmp|fnmatch|strspn|strchr|"
            r"begins|begins_with|starts|starts_with|has_prefix|ends_with|contains")
NAMES = r"isa_op_name|isa_op_text|trace_inst_name"
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
FAMILY = re.compile(r"(s|v|ds|lds|flat|global|scratch|buffer|tbuffer|image)_")


def blank_comments(source):
    """Comments as blanks of the same length; strings stay."""
    def blank(m):
        return m[0] if m[0][0] in "\"'" else re.sub(r"[^\n]", " ", m[0])
    return re.sub(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|/\*.*?\*/|//[^\n]*', blank, source,
                  flags=re.S)


def arguments(code, at):
    """The text between the parenthesis at `at` and its partner."""
    depth = 0
    for i in range(at, min(len(code), at + 2000)):
        depth += (code[i] == "(") - (code[i] == ")")
        if depth == 0:
            return code[at + 1:i]
    return ""


class Mnemonics:
    def __init__(self, table):
        self.names = re.findall(r'^OP\(\w+, "(\w+)"\)', table, re.M)
        self.all = " ".join(self.names)

    def begins(self, text):
        """Like the text of an instruction, or the beginning of some mnemonic?"""
        word = re.match(r"\w*", text)[0]
        return bool(FAMILY.match(text)) and any(n.startswith(word) for n in self.names)

    def contains(self, text):
        return len(text) >= 3 and re.fullmatch(r"\w+", text) and text in self.all


def find(source, mnemonics):
    """(line, what) of each test on a mnemonic in the text of a C file."""
    code = blank_comments(source)
    held = set(re.findall(r"\b(\w+)\s*=\s*(?:[^;=]*\W)?(?:%s)\s*\(" % NAMES, code))
    found = []
    for m in re.finditer(r"\b(%s)\s*\(" % COMPARES, code):
        inside = arguments(code, m.end() - 1)
        literals = LITERAL.findall(inside)
        part = m[1] in ("strstr", "strcasestr", "contains", "ends_with", "fnmatch")
        if m[1] == "fnmatch" and not literals:
            continue  # a pattern that somebody gives
        if re.search(r"\b(%s)\s*\(" % NAMES, inside):
            why = "compares the name of an opcode"
        elif held & set(re.findall(r"\w+", LITERAL.sub("", inside))):
            why = "compares the name of an opcode"
        elif any(mnemonics.begins(x) or part and mnemonics.contains(x) for x in literals):
            why = "compares with " + ", ".join('"%s"' % x for x in literals)
        else:
            continue
        found.append((code.count("\n", 0, m.start()) + 1, why))
    for m in LITERAL.finditer(code):
        if re.fullmatch(r"\w+_", m[1]) and mnemonics.begins(m[1]):
            line = code.count("\n", 0, m.start()) + 1
            if all(line != at for at, _ in found):
                found.append((line, '"%s" is the beginning of mnemonics' % m[1]))
    return sorted(found)


PLANTED = (
    'if (strncmp(name, "v_exp_", 6) == 0) return true;',
    'return begins(m->text, "s_cselect");',
    'bool store = strstr(e->name, "_store") != NULL;',
    'elems = strstr(isa_op_name(op), x) ? 2 : 1;',
    'const char *name = isa_op_name(inst->op);\nhi = strcmp(name, other) == 0;',
    'static const char *const trans[] = {"v_exp_", "v_log_"};',
    'if (strcmp(m->text,\n           "v_fma_f32 %0, %1, %2, %3") != 0)\n    return;',
    'if (!strcmp(e->name, "s_endpgm")) return;',
    'const char *n = wide ? isa_op_name(op) : ""; if (strstr(n, "anything")) return;',
)
CLEAN = (
    'emit(r, "v_add_f32 %0, %1, %2");',
    'printf("%s", isa_op_name(op));',
    'const char *name = isa_op_name(op); puts(name);',
    'return fnmatch(filter->pattern, isa_op_name(op), 0) == 0;',
    'if (strcmp(argv[1], "run") == 0) return;',
    '/* strstr(name, "_store") was here */ int x;',
    'if (strstr(path, "/proc/self")) return;',
    'if (strncmp(key, "vgpr_count", 10) == 0) return;',
)


def self_test(mnemonics):
    """What the rule must find, and what it must leave alone."""
    for source in PLANTED:
        if not find(source, mnemonics):
            yield "the rule does not find: " + source
    for source in CLEAN:
        if find(source, mnemonics):
            yield "the rule finds: " + source
