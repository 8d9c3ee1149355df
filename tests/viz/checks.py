"""What tests of text and windows share: checks that go on after one has failed, and calls of
the program that see no display.

SPDX-License-Identifier: MIT
"""
import os
import subprocess

failed = 0
plain = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}


def check(what, ok, more=""):
    global failed
    if not ok:
        failed = 1
        print("FAILED:", what, more)


def call(rdna3, *args):
    """Exit status, stdout, stderr."""
    r = subprocess.run([rdna3, *args], env=plain, capture_output=True, text=True, timeout=120, check=False)
    return r.returncode, r.stdout, r.stderr
