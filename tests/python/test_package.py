"""What the package does, without NumPy. SPDX-License-Identifier: MIT"""
import array
import os
import sys
import unittest

import rdna3

with open(os.path.join(sys.argv.pop(1), "library/examples/add.s"), encoding="utf-8") as f:
    ADD = f.read()


def floats(n):
    return array.array("f", range(n)), array.array("f", [0] * n)


class Code(unittest.TestCase):
    def test_round_trip(self):
        code = rdna3.encode("v_add_f32 v1, v2, v3")
        self.assertEqual(code.hex(), "02070206")
        inst, = rdna3.disassemble(code)
        self.assertEqual(inst.text, "v_add_f32_e32 v1, v2, v3")
        self.assertEqual([o.name for o in inst.operands if not o.implicit],
                         ["v1", "v2", "v3"])
        self.assertTrue(inst.operands[0].written)
        self.assertIsNone(rdna3.disassemble(b"\xff\xff\xff\xff")[0].mnemonic)

    def test_errors(self):
        with self.assertRaises(rdna3.AssembleError) as e:
            rdna3.assemble("s_nop 0\nwrong 1\nv_nope v1\n", name="a.s")
        self.assertEqual([(m.file, m.line, m.level) for m in e.exception.messages],
                         [("a.s", 2, "error"), ("a.s", 3, "error")])
        with self.assertRaisesRegex(rdna3.AssembleError, "column 7"):
            rdna3.encode("s_nop s0")
        with self.assertRaises(rdna3.Rdna3Error):
            rdna3.Object(b"nothing")
        with self.assertRaisesRegex(rdna3.Rdna3Error, "add_one"):
            rdna3.Kernel(ADD, "other")

    def test_object(self):
        info = rdna3.Object(rdna3.assemble(ADD)).kernel()
        self.assertEqual((info.name, info.wave, info.kernarg_bytes), ("add_one", 32, 16))
        self.assertEqual(rdna3.disassemble(info.code)[-1].text, "s_endpgm")


class Runs(unittest.TestCase):
    def test_run(self):
        a, out = floats(256)
        r = rdna3.Kernel(ADD).run(a, out, grid=4, block=64, check="all")
        self.assertEqual(list(out), [x + 1 for x in range(256)])
        self.assertEqual((r.stats.waves, r.findings), (8, []))

    def test_fault(self):
        a, _ = floats(256)
        out = bytearray(4 * 200)
        with self.assertRaises(rdna3.Fault) as e:
            rdna3.Kernel(ADD).run(a, out, grid=4, block=64)
        self.assertEqual((e.exception.workgroup, e.exception.wave, e.exception.lane),
                         ((3, 0, 0), 0, 8))
        self.assertIn("global_store_b32", e.exception.instruction)
        with self.assertRaises(rdna3.Fault) as e:  # bytes are read-only
            rdna3.Kernel(ADD).run(a, bytes(1024), grid=4, block=64)
        out.append(0)  # not held any more
        with self.assertRaisesRegex(rdna3.Rdna3Error, "4096"):
            rdna3.Kernel(ADD).run(a, out, block=4096)

    def test_findings(self):
        a, out = floats(250)
        k = rdna3.Kernel(ADD)
        r = k.run(a, out, grid=4, block=64, check="mem", keep_going=True)
        self.assertEqual({f.cls for f in r.findings}, {"mem"})
        self.assertEqual(r.findings[0].workgroup, (3, 0, 0))
        a, out = floats(256)
        r = k.run(a, out, grid=4, block=64, check=["init"], fresh=[a])
        self.assertIn("init", {f.cls for f in r.findings})

    def test_trace(self):
        a, out = floats(64)
        rows = rdna3.Kernel(ADD).run(a, out, block=64, trace=True).trace
        self.assertEqual(len(rows), 22)
        store = [r for r in rows if r.mnemonic == "global_store_b32"]
        self.assertEqual([r.wave for r in store], [0, 1])
        access, = store[1].accesses
        self.assertTrue(access.write and not access.read and access.space == "global")
        self.assertEqual(access.addresses[31] - access.addresses[0], 31 * 4)

    def test_timing(self):
        a, out = floats(256)
        k = rdna3.Kernel(ADD)
        t = k.time(a, out, grid=4, block=64)
        self.assertEqual(out[255], 256)
        self.assertGreater(t.cycles, 500)
        self.assertEqual(len(t.waves), 8)
        steps = t.occupancy()
        self.assertEqual(steps[-1][1], 0)
        self.assertEqual(max(n for _, n in steps), 8)
        self.assertIn("global_load_b32", t.listing)
        with self.assertRaisesRegex(rdna3.Rdna3Error, "no_such"):
            k.time(a, out, grid=4, block=64, parameters={"no_such": 1})

    def test_devices(self):
        told = []
        device = rdna3.Device(threads=1, engine="interp",
                              log=lambda level, text: told.append(text))
        a, out = floats(64)
        rdna3.Kernel(ADD, device=device).run(a, out, block=64)
        self.assertIn("add_one", told[0])


if __name__ == "__main__":
    unittest.main()
