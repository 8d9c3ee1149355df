"""Fixtures for tests of kernels and assemblers. SPDX-License-Identifier: MIT

    def test_add(rdna3_kernel):
        rdna3_kernel(SOURCE).run(a, out)

    def test_encoding(rdna3_encodes):
        rdna3_encodes("v_add_f32 v1, v2, v3", "02070206")
"""
import pytest

import rdna3


@pytest.fixture
def rdna3_device():
    """A device of the test's own; one host thread, so that runs repeat."""
    return rdna3.Device(threads=1)


@pytest.fixture
def rdna3_kernel(rdna3_device):
    """rdna3_kernel(source, name=None): a kernel of text or of a code object's bytes, whose
    runs look for mistakes unless they say otherwise."""
    class Checked(rdna3.Kernel):
        def run(self, *args, check="all", **how):
            result = super().run(*args, check=check, **how)
            bad = [f for f in result.findings if not f.benign]
            assert not bad, "\n".join(f"{f.cls}/{f.kind}: {f.text}: {f.instruction}"
                                      for f in bad)
            return result

    return lambda source, name=None: Checked(source, name, rdna3_device)


@pytest.fixture
def rdna3_encodes():
    """rdna3_encodes(statement, hex, wave=32): assembles to these bytes, and back to the
    same bytes from its canonical text."""
    def judge(statement, expected, wave=32):
        code = rdna3.encode(statement, wave)
        assert code.hex() == expected.replace(" ", "").lower(), statement
        text = rdna3.disassemble(code, wave)[0].text
        assert rdna3.encode(text, wave) == code, f"{statement}: {text}"
    return judge
