"""The fixtures, as a user's tests have them. SPDX-License-Identifier: MIT"""
import os

import pytest

import rdna3

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
with open(os.path.join(ROOT, "library/examples/add.s"), encoding="utf-8") as f:
    ADD = f.read()


@pytest.mark.parametrize("text,code", [
    ("v_add_f32 v1, v2, v3", "02070206"), ("s_endpgm", "0000b0bf")])
def test_encodings(rdna3_encodes, text, code):
    rdna3_encodes(text, code)


def test_wrong_encoding(rdna3_encodes):
    with pytest.raises(AssertionError):
        rdna3_encodes("s_endpgm", "0000b0be")


def test_kernel(rdna3_kernel):
    a, out = bytearray(256), bytearray(256)
    rdna3_kernel(ADD).run(a, out, block=64)
    assert out == b"\x00\x00\x80\x3f" * 64


def test_kernel_with_mistake(rdna3_kernel):
    with pytest.raises(rdna3.Fault) as e:
        rdna3_kernel(ADD).run(bytearray(252), bytearray(256), block=64)
    assert [f.kind for f in e.value.findings] == ["out-of-bounds"]
    with pytest.raises(AssertionError, match="mem/out-of-bounds"):
        rdna3_kernel(ADD).run(bytearray(252), bytearray(256), block=64, keep_going=True)
