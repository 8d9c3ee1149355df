#!/usr/bin/env python3
"""Man pages and shell completions from what rdna3 says of itself.

    pages.py --rdna3 PATH --out FOLDER

Writes FOLDER/man1/*.1, FOLDER/rdna3 (bash), FOLDER/_rdna3 (zsh), FOLDER/rdna3.fish.
"""
# SPDX-License-Identifier: MIT
import argparse
import os
import re
import sys

sys.dont_write_bytecode = True
import helptext  # noqa: E402

STATUS = """.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
the guest failed, or its input was rejected
.TP
.B 2
wrong usage
"""


def roff(text):
    """Text as man's macros take it."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def body(help_):
    """The part behind the usage: options as lists, blocks with indentation as they are."""
    out, block, section = [], [], False

    def flush():
        while block and not block[-1].strip():
            block.pop()
        if any(line.startswith("  ") for line in block):
            out.append(".PP\n.nf\n" + roff("\n".join(block)) + "\n.fi")
        elif block:
            out.append(".PP\n" + roff("\n".join(block)))
        block.clear()

    for item in help_.items:
        if item[0] == "option":
            flush()
            if not section:
                out.append(".SH OPTIONS")
                section = True
            out.append(f".TP\n.B {roff(item[1])}\n{roff(item[2])}".rstrip())
        elif not item[1].strip():
            flush()
        else:
            block.append(item[1])
    flush()
    return "\n".join(out)


def page(name, version, title, synopsis, text, also):
    head = f'.TH {name.upper()} 1 "" "{version}" "User Commands"\n'
    head += f".SH NAME\n{name} \\- {roff(title)}\n.SH SYNOPSIS\n"
    head += "\n.br\n".join(f".B {roff(line)}" for line in synopsis)
    also = ", ".join(f".BR {n} (1)" for n in also).replace(", .BR", ",\n.BR")
    return f"{head}\n.SH DESCRIPTION\n{text}\n{STATUS}.SH SEE ALSO\n{also}\n"


def man_pages(out, version, commands, helps):
    os.makedirs(os.path.join(out, "man1"), exist_ok=True)
    names = [f"rdna3-{name}" for name, _ in commands]
    text = ".PP\nAn emulator of AMD RDNA3 GPUs (gfx1100) and its tools, without a GPU.\n"
    text += ".SH COMMANDS\n" + "\n".join(
        f".TP\n.BR rdna3\\-{name} (1)\n{roff(what)}" for name, what in commands)
    pages = {"rdna3": page("rdna3", version, "emulator of AMD RDNA3 GPUs and its tools",
                           ["rdna3 COMMAND [OPTION...]", "rdna3 COMMAND --help",
                            "rdna3 --help | --version"], text, names)}
    for name, what in commands:
        pages[f"rdna3-{name}"] = page(f"rdna3-{name}", version, what, helps[name].usage,
                                      body(helps[name]), ["rdna3"])
    for name, text in pages.items():
        with open(os.path.join(out, "man1", name + ".1"), "w", encoding="utf-8") as f:
            f.write(text)


def choices(value):
    """The words a value may be, if the help lists them."""
    return value.split("|") if re.fullmatch(r"-?[a-z0-9]+(\|[a-z0-9]+)+", value) else []


def is_file(value):
    return bool(re.search(r"FILE|PATH|OUT|JSON|LIB|bin|elf|=PATH", value))


def bash(commands, helps):
    cases, values = [], {}
    for name, _ in commands:
        options = helps[name].options()
        cases.append(f"    {name}) words='{' '.join(sorted(options))}' ;;")
        for option, value in options.items():
            if choices(value):
                values.setdefault((option, " ".join(choices(value))), []).append(name)
    picks = [f"    {'|'.join(f'{n}:{option}' for n in names)}) "
             f"COMPREPLY=($(compgen -W '{words}' -- \"$cur\")); return ;;"
             for (option, words), names in values.items()]
    return "\n".join([
        "# bash completion of rdna3, generated from its --help", "_rdna3()", "{",
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=",
        "    COMPREPLY=()",
        "    if [ \"$COMP_CWORD\" = 1 ]; then",
        f"        COMPREPLY=($(compgen -W '{' '.join(n for n, _ in commands)} --help --version'"
        " -- \"$cur\"))", "        return", "    fi",
        "    case ${COMP_WORDS[1]}:$prev in", *picks, "    esac",
        "    case ${COMP_WORDS[1]} in", *cases, "    esac",
        "    case $cur in",
        "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;",
        "    *) compopt -o default 2>/dev/null ;;", "    esac", "}",
        "complete -F _rdna3 rdna3", ""])


def zsh_word(text):
    return re.sub(r"([\[\]:'\\])", r"\\\1", text).replace("\\'", "'\\''")


def zsh(commands, helps):
    out = ["#compdef rdna3", "# generated from rdna3's --help", "local -a commands",
           "commands=("]
    out += [f"  '{name}:{zsh_word(what)}'" for name, what in commands]
    out += [")", "if (( CURRENT == 2 )); then", "  _describe command commands", "  return",
            "fi", "local command=$words[2]", "shift words", "(( CURRENT-- ))",
            "case $command in"]
    for name, _ in commands:
        out.append(f"{name}) _arguments \\")
        for option, value in sorted(helps[name].options().items()):
            what = zsh_word(helps[name].describe(option))
            action = ""
            if choices(value):
                action = f":value:({' '.join(choices(value))})"
            elif value:
                action = f":{zsh_word(value)}:" + ("_files" if is_file(value) else "")
            out.append(f"  '*{option}[{what}]{action}' \\")
        out.append("  '*:file:_files' ;;")
    return "\n".join([*out, "esac", ""])


def fish(commands, helps):
    def quoted(text):
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    out = ["# fish completion of rdna3, generated from its --help"]
    for name, what in commands:
        out.append(f"complete -c rdna3 -f -n __fish_use_subcommand -a {name} -d {quoted(what)}")
    for name, _ in commands:
        for option, value in sorted(helps[name].options().items()):
            kind = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            arguments = "" if not value else " -x -a " + quoted(" ".join(choices(value))) \
                if choices(value) else " -r"
            what = helps[name].describe(option)
            out.append(f"complete -c rdna3 -n '__fish_seen_subcommand_from {name}' {kind}"
                       f"{arguments}" + (f" -d {quoted(what)}" if what else ""))
    return "\n".join([*out, ""])


def main():
    ap = argparse.ArgumentParser(description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--rdna3", required=True)
    ap.add_argument("--out", required=True)
    o = ap.parse_args()
    commands = helptext.commands(o.rdna3)
    helps = {name: helptext.Help(helptext.ask(o.rdna3, name, "--help"))
             for name, _ in commands}
    version = helptext.ask(o.rdna3, "--version").split(" (")[0].strip()
    man_pages(o.out, version, commands, helps)
    for name, make in (("rdna3", bash), ("_rdna3", zsh), ("rdna3.fish", fish)):
        with open(os.path.join(o.out, name), "w", encoding="utf-8") as f:
            f.write(make(commands, helps))


if __name__ == "__main__":
    main()
