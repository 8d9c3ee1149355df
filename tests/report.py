#!/usr/bin/env python3
"""One line for every skipped test with its reason, and how many ran.

    report.py PRESET.xml...      what `ctest --output-junit` wrote
"""
# SPDX-License-Identifier: MIT
import os
import re
import sys
import xml.etree.ElementTree as tree


def reason(case):
    """The test's own words, else ctest's."""
    said = re.findall(r"^skipped: *(.+)$", case.findtext("system-out") or "", re.M | re.I)
    return said[-1].strip() if said else case.find("skipped").get("message") or "no reason given"


def main():
    counts = []
    skipped = {}
    for path in sys.argv[1:]:
        preset = os.path.splitext(os.path.basename(path))[0]
        if not os.path.exists(path):
            counts.append(f"{preset}: none")
            continue
        try:
            cases = tree.parse(path).getroot().findall("testcase")
        except tree.ParseError as e:
            counts.append(f"{preset}: cannot read {path}: {e}")
            continue
        left_out = [c for c in cases if c.find("skipped") is not None]
        counts.append(f"{preset}: {len(cases) - len(left_out)} of {len(cases)}")
        for case in left_out:
            skipped.setdefault((case.get("name"), reason(case)), []).append(preset)
    for (name, why), presets in sorted(skipped.items()):
        print(f"skipped {name} ({', '.join(presets)}): {why}")
    print("Tests run: " + ", ".join(counts))


if __name__ == "__main__":
    sys.exit(main())
