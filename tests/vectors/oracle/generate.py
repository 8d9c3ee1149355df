#!/usr/bin/env python3
"""Write all vector files, or check that the committed ones are what would be written.

    generate.py [--check] FOLDER
"""
# SPDX-License-Identifier: MIT
import os
import sys

import convert
import dots
import examples
import floats
import forms
import images
import ints
import modes
import more
import rest
import transc
import typed
import waves
from fp import F16, F32, F64


def families():
    """File name -> contents."""
    files = []
    for name, file in registers():
        files.append(file)
        yield name, file
    yield "signs", forms.signs(files)
    yield "forms", forms.family(files)


def registers():
    """The files whose operands are registers, mostly."""
    f16 = floats.arithmetic(F16, "f16 arithmetic, minimum and maximum", 100)
    f32 = floats.arithmetic(F32, "f32 arithmetic, minimum and maximum", 200)
    f64 = floats.arithmetic(F64, "f64 arithmetic, minimum and maximum", 300)
    whole = floats.File("rounding to integral values, parts of numbers")
    for i, fmt in enumerate((F16, F32, F64)):
        floats.rounding(fmt, whole, 400 + 100 * i)
    yield "valu_f16", f16
    yield "valu_f32", f32
    yield "valu_f64", f64
    yield "rounding", whole
    yield "cmp_f16", floats.comparisons(F16, "f16 comparisons and classes", 1000)
    yield "cmp_f32", floats.comparisons(F32, "f32 comparisons and classes", 1100)
    yield "cmp_f64", floats.comparisons(F64, "f64 comparisons and classes", 1200)
    yield "modifiers", floats.modifiers()
    yield "division", floats.divisions()
    yield "int32", ints.valu()
    yield "int16", ints.valu16()
    yield "int64", ints.wide()
    yield "packed", ints.packed()
    yield "salu", ints.salu()
    yield "convert", convert.conversions()
    yield "packed_f16", convert.packed()
    yield "crosslane", waves.crosslane()
    yield "memory", waves.memory()
    yield "atomics", waves.atomics()
    yield "control", waves.control()
    yield "more", more.family()
    yield "transcendental", transc.family()
    yield "dots", dots.family()
    yield "wmma", dots.matrices()
    yield "typed_loads", typed.family()
    yield "typed_stores", typed.family2()
    yield "typed", typed.family3()
    yield "rest", rest.family()
    yield "examples", examples.family()
    yield "modes", modes.family()
    yield "images", images.family()
    yield "image_stores", images.family1()
    yield "samplers", images.family2()


def main():
    check = sys.argv[1] == "--check"
    folder = sys.argv[-1]
    status = 0
    for name, file in families():
        path = os.path.join(folder, name + ".vec")
        text = file.text()
        if check:
            with open(path, encoding="ascii") as f:
                if f.read() != text:
                    print(f"{name}.vec is not what the oracle writes")
                    status = 1
        else:
            with open(path, "w", encoding="ascii") as f:
                f.write(text)
            print(f"{name}.vec: {len(text) // 1024} KB")
    return status


if __name__ == "__main__":
    sys.exit(main())
