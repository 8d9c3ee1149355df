"""The same rows in other encodings: with a literal constant, with DPP.

Every block of the other files that is one plain statement gives one row here, for each
encoding of its mnemonic that can hold a literal: the value that a register had is
written into the instruction (manual 5.7.1 and 7.2.2.2: f64 operands take it as their
upper half, 64-bit integers as their lower). Statements of families whose own rows have
no DPP spellings get them here, with controls that change nothing.
"""
# SPDX-License-Identifier: MIT
import re

from emit import DEFAULT, IDENTITY, File

INLINE = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000, 0xc0000000, 0x40800000,
          0xc0800000, 0x3e22f983, 0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400,
          0x3118, 0x3fe00000, 0xbfe00000, 0x3ff00000, 0xbff00000, 0x40100000, 0xc0100000}
NO_LITERAL = re.compile(r"v_(read|write|swap|mov_b64|perm.*lane)|s_.*k_|s_getreg|s_setreg|"
                        r"(ds|global|flat|scratch|buffer|s_load|s_buffer)_|s_movrel|v_movrel|"
                        r"s_bitset|s_rfe|s_setpc|s_sendmsg|v_wmma|s_mov_b64|v_fma[am]k|v_interp")


DPP_TOO = re.compile(
    r"v_(cmpx?_class_f(16|32)|cndmask_b(16|32)|mov_b16|sat_pk_u8_i16|not_b16|pk_fmac_f16|mbcnt_|"
    r"mul_lo_u16|(max|min)_[iu]16|(lsh[lr]|ash)rrev_[bi]16|(add|sub|subrev)_co|fma_mix)")


def operand(column):
    """How a column is written in a statement."""
    name, _, last = column.partition(":")
    return f"{name[0]}[{name[1:]}:{last}]" if last else column


def literal(mnemonic, column, value):
    """The constant that gives an operand this value; None: there is none."""
    if not isinstance(value, int):
        return None
    wide = ":" in column
    if wide and "f64" in mnemonic and not value & 0xffffffff:
        value >>= 32
    elif wide and ("f64" in mnemonic or value >= 1 << 31):
        return None
    packed = re.match("v_(pk|dot)", mnemonic)
    narrow = not packed and ("16" in mnemonic or "mix" in mnemonic)
    if value > 0xffff and narrow or value >= 1 << 32:
        return None
    if value <= 64 or value in INLINE or value >= 0xfffffff0 or 0xfff0 <= value <= 0xffff:
        return None
    return value


def variant(op, ins, rows):
    """Statement, columns and row with a literal, or None."""
    mnemonic, _, text = op.partition(" ")
    parts = text.split(", ")
    for k, column in enumerate(ins):
        if operand(column) not in parts[1:] + parts[:1 if "cmp" in mnemonic else 0]:
            continue
        at = len(parts) - 1 - parts[::-1].index(operand(column))
        first = 0 if re.match(r"v_cmpx|s_cmp|s_bitcmp", mnemonic) else 1
        if mnemonic.startswith("v_") and re.match(r"\$|s\d", parts[1] if at > 1 else "x"):
            first = 2  # a mask besides the destination
        if mnemonic.endswith("_e32") and at != first:
            continue
        for given, wanted in rows[len(rows) // 3:] + rows[:len(rows) // 3]:
            value = literal(mnemonic, column, given[k])
            if value is None or parts.count(operand(column)) > 1:
                continue
            new = ", ".join(parts[:at] + [f"0x{value:x}"] + parts[at + 1:])
            return (f"{mnemonic} {new}", ins[:k] + ins[k + 1:],
                    (given[:k] + given[k + 1:], wanted))
    return None


def dpp_spelling(op):
    mnemonic, _, text = op.partition(" ")
    base = re.sub("_e(32|64)$", "", mnemonic)
    return (base + ("_dpp" if base + "_e32" == mnemonic or base.startswith("v_pk_fmac")
                    else "_e64_dpp"), text)


def dpp_forms(out, block, done):
    source, ops, ins, outs, rows, mode, kind, lanes, sets = block
    for op in ops:
        if not DPP_TOO.match(op) or ";" in op or "dpp" in op or " s" in op.split(",", 1)[-1]:
            continue
        mnemonic, text = dpp_spelling(op)
        if mnemonic not in done and not re.search(r", (0x|-?[0-9])", text):
            done.add(mnemonic)
            out.block(source, [f"{mnemonic} {text} {d}" for d in IDENTITY], ins, outs, rows[:16],
                      mode, kind, lanes)


FLOAT = re.compile(r"v_(?!pk|interp|dot|fma_mix|movrel|wmma|dual).*_(f16|f32|f64)(_e64)?$|v_cndmask_b(32|16)(_e64)?$")
FIRST_ONLY = re.compile(r"v_(ldexp|cmpx?_class|trig_preop|cvt_pk_u8)")


def sign_forms(out, block, done):
    """Inputs with a sign changed, and a modifier that changes it back."""
    source, ops, ins, outs, rows, mode, kind, lanes, sets = block
    for op in ops:
        mnemonic, _, text = op.partition(" ")
        if mnemonic in done or not FLOAT.match(mnemonic) or ";" in op or "[" in text.replace(
                "v[", "") or not rows or re.search("[-|]|0x|clamp|mul:|div:", text):
            continue
        bit = 1 << (63 if ":" in ins[0] else 15 if re.search("16(_e64)?$", mnemonic) else 31)
        parts = text.split(", ")
        first = 0 if mnemonic.startswith("v_cmpx") else 1
        places = [(k, p) for k, c in enumerate(ins) for p in range(first, len(parts))
                  if parts[p] == operand(c) and parts.count(parts[p]) == 1]
        places = places[:1] if FIRST_ONLY.match(mnemonic) else places
        if not places:
            continue
        done.add(mnemonic)
        for turn in range(2):
            new, few = list(parts), []
            for i, (_, p) in enumerate(places):
                new[p] = f"-{parts[p]}" if (i + turn) % 2 == 0 else f"|{parts[p]}|"
            for given, wanted in rows:
                changed = list(given)
                for i, (k, _) in enumerate(places):
                    if (i + turn) % 2 and given[k] & bit:
                        break
                    changed[k] = given[k] ^ bit if (i + turn) % 2 == 0 or len(few) % 3 else given[k]
                else:
                    few.append((tuple(changed), wanted))
            if few:
                out.block(source, [f"{mnemonic} {', '.join(new)}"], ins, outs,
                          few[:: max(1, len(few) // 9)], mode, kind, lanes)


def signs(files):
    out = File("NEG and ABS of all mnemonics with float sources")
    done = set()
    for block in (b for f in files for b in f.blocks if b[5] == DEFAULT and not b[8]):
        sign_forms(out, block, done)
    return out


def family(files):
    out = File("literal constants in place of registers; DPP")
    done = set()
    for block in (b for f in files for b in f.blocks if b[5] == DEFAULT and b[4] and not b[8]):
        dpp_forms(out, block, done)
    for file in files:
        for source, ops, ins, outs, rows, mode, kind, lanes, sets in file.blocks:
            for op in ops if mode == DEFAULT and not sets and rows else ():
                mnemonic = op.split(" ")[0]
                if mnemonic in done or ";" in op or "::" in op or "dpp" in op or \
                        "0x" in op or NO_LITERAL.match(op):
                    continue
                found = variant(op, list(ins), rows)
                if found:
                    done.add(mnemonic)
                    new, left, row = found
                    if not left:
                        left, row = ["v30" if new.startswith("v_") else "s30"], ((0,), row[1])
                    out.block(source, [new], left, outs, [row], mode, kind, lanes)
    return out
