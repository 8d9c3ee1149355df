"""llvm-mc-19 as a judge: text of bytes, bytes of text, refusals."""
# SPDX-License-Identifier: MIT
import re
import shutil
import subprocess

MARK = "ffffb0bf"  # s_endpgm 65535 ends each group of bytes
MC = shutil.which("llvm-mc-19")


def attributes(wave, true16=False):
    names = ["+real-true16"] if true16 else []
    if wave == "64":
        names += ["+wavefrontsize64", "-wavefrontsize32"]
    return ["-mattr=" + ",".join(names)] if names else []


def mc(wave, text, *options, true16=False):
    r = subprocess.run([MC, "-triple=amdgcn", "-mcpu=gfx1100", *attributes(wave, true16), *options],
                       input=text, capture_output=True, text=True, check=False)
    return r.stdout, r.stderr


def spread(code):
    return " ".join("0x" + code[i:i + 2] for i in range(0, len(code), 2))


def disassemble(wave, codes, true16=False):
    """The text of each, None where LLVM decodes no instruction of exactly these bytes."""
    out, _ = mc(wave, "".join(f"[{spread(c)}]\n[{spread(MARK)}]\n" for c in codes), "--disassemble",
                true16=true16)
    result, group = [], []
    for line in (" ".join(l.split()) for l in out.split("\n")[1:] if l.strip()):
        if line != "s_endpgm 65535":
            group.append(line)
            continue
        alone = len(group) == 1 and "/*Invalid" not in group[0]
        result.append(group[0] if alone else None)
        group = []
    assert len(result) == len(codes), (len(result), len(codes))
    return result


def assemble(wave, texts, true16=False):
    """LLVM's encoding of each, None if refused or empty; and the errors."""
    # An empty line between: after some mistakes LLVM leaves out the next one.
    out, err = mc(wave, "".join(t + "\n\n" for t in texts), "-show-encoding", true16=true16)
    bad = {(int(m) - 1) // 2: why for m, why in
           re.findall(r"<stdin>:(\d+):\d+: error: (.*)", err)}
    codes = iter(re.findall(r"encoding: \[([^\]]*)\]", out))
    result = [None if i in bad or not t else next(codes, None) for i, t in enumerate(texts)]
    assert next(codes, None) is None
    return result, bad


def digits(encoding):
    return encoding.replace("0x", "").replace(",", "") if encoding else None
