#!/usr/bin/env python3
"""Reference pages of librdna3 from its headers: a page of section 3 for each of them.

    reference.py --headers FOLDER --out FOLDER --version TEXT

A page has the comment that opens the header, then each declaration behind its comment.
"""
# SPDX-License-Identifier: MIT
import argparse
import glob
import os
import re
import sys

sys.dont_write_bytecode = True
from pages import roff  # noqa: E402

SKIP = re.compile(r"^(#(ifndef|ifdef|endif|include)|extern \"C\"|\}$|/\* ----)")


def comment(text):
    """A comment's text without its frame."""
    lines = [re.sub(r"^\s*\*? ?", "", line) for line in text[2:-2].split("\n")]
    return "\n".join(lines).strip()


def blocks(text):
    """[(comment, declaration)] of a header; the first has no declaration."""
    at = text.index("*/") + 2
    yield comment(text[:at].replace("SPDX-License-Identifier: MIT", "")), ""
    for block in re.split(r"\n{2,}", text[at:]):
        block = block.strip("\n")
        if not block or SKIP.match(block):
            continue
        if block.startswith("/*"):
            end = block.index("*/") + 2
            said, code = comment(block[:end]), block[end:].strip("\n")
        else:
            said, code = "", block
        code = re.sub(r"\bRDNA3_(API|CHECKED) ", "", code)
        if code and "_H\n" not in code + "\n":
            yield said, code


def include(path):
    """How programs include a header: by rdna3.h, if that does."""
    with open(os.path.join(os.path.dirname(path), os.pardir, "rdna3.h"), encoding="utf-8") as f:
        name = "rdna3/" + os.path.basename(path)
        return "rdna3.h" if f'"{name}"' in f.read() else name


def page(path, version):
    name = "rdna3_" + os.path.basename(path)[:-2]
    with open(path, encoding="utf-8") as f:
        parts = list(blocks(f.read()))
    paragraphs = parts[0][0].split("\n\n")
    title = re.sub(r"^\S+: ", "", " ".join(paragraphs[0].split())).rstrip(".")
    title = re.split(r"\. ", title)[0]
    out = [f'.TH {name.upper()} 3 "" "{version}" "librdna3"', ".SH NAME",
           f"{name} \\- {roff(title)}", ".SH SYNOPSIS", ".nf", f".B #include <{include(path)}>", ".fi",
           ".SH DESCRIPTION", roff(parts[0][0])]
    for said, code in parts[1:]:
        out += [".PP", ".nf", roff(code), ".fi"]
        if said:
            out += [".RS 4", ".nf", roff(said), ".fi", ".RE"]
    others = sorted(os.path.basename(p)[:-2] for p in glob.glob(
        os.path.join(os.path.dirname(path), "*.h")))
    out += [".SH SEE ALSO", ", ".join(f".BR rdna3_{o} (3)" for o in others).replace(
        ", .BR", ",\n.BR")]
    return name, "\n".join(out) + "\n"


def main():
    ap = argparse.ArgumentParser(description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--headers", required=True)
    ap.add_argument("--out", required=True)
    ap.add_argument("--version", required=True)
    o = ap.parse_args()
    os.makedirs(os.path.join(o.out, "man3"), exist_ok=True)
    for path in sorted(glob.glob(os.path.join(o.headers, "*.h"))):
        name, text = page(path, o.version)
        with open(os.path.join(o.out, "man3", name + ".3"), "w", encoding="utf-8") as f:
            f.write(text)


if __name__ == "__main__":
    main()
