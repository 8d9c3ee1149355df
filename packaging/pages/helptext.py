"""What `rdna3 --help` and `rdna3 COMMAND --help` say, taken apart: the one place where pages
and completions learn of commands and options. SPDX-License-Identifier: MIT
"""
import re
import subprocess

VALUE = r"(?:[ =]((?:[A-Z][A-Za-z0-9_.|%:,\[\]=]*|-?[a-z0-9]+(?:\|[A-Za-z0-9=,]+)+)))?"
OPTION = re.compile(r"(?<![\w-])(-[a-z]|--[a-z][a-z0-9-]*)" + VALUE)
SPACE = re.compile(r"\s{2,}")


def ask(rdna3, *words):
    return subprocess.run([rdna3, *words], capture_output=True, text=True, check=True).stdout


def commands(rdna3):
    """[(name, what it does)] in the order of --help, but for what this build lacks."""
    rows = re.findall(r"^  ([a-z]+) +(\S.*)$", ask(rdna3, "--help"), re.M)
    return [row for row in rows if subprocess.run(
        [rdna3, row[0], "--help"], capture_output=True, check=False).returncode == 0]


class Help:
    """usage: lines; intro: paragraphs; items: ("option", term, text) | ("text", line)."""

    def __init__(self, text):
        lines = text.rstrip("\n").split("\n")
        n = 0
        while n < len(lines) and lines[n].strip():
            n += 1
        self.usage = [re.sub(r"^(usage:|\s+)\s*", "", line) for line in lines[:n]]
        self.items = []
        for line in lines[n:]:
            self._line(line)

    def _line(self, line):
        words = line.strip()
        indent = len(line) - len(line.lstrip())
        if indent and words.startswith("-"):
            term, text = split(words)
            self.items.append(["option", term, text])
        elif indent >= 13 and self.items and self.items[-1][0] == "option":
            self.items[-1][2] += (" " if self.items[-1][2] else "") + words
        else:
            self.items.append(["text", line])

    def options(self):
        """{"--name": "VALUE" or ""}, also of the usage lines."""
        found = {}
        texts = list(self.usage)
        for item in self.items:
            if item[0] == "option":
                texts.append(item[1])
                texts += re.findall(r"; (--[a-z-]+ [A-Z]+) ", item[2])
        for text in texts:
            for name, value in OPTION.findall(text):
                if value or name not in found:
                    found[name] = value
        found["--help"] = ""
        return found

    def describe(self, option):
        """The first words about an option, for completions."""
        for item in self.items:
            if item[0] == "option" and option in [n for n, _ in OPTION.findall(item[1])]:
                return re.split(r"[;.(]", item[2])[0].strip(" :,")
        return ""


def split(words):
    """ "--seed N  what it is" -> its two halves, one blank between them or several."""
    parts = SPACE.split(words, maxsplit=1)
    if len(parts) == 2:
        return parts[0], parts[1]
    m = OPTION.match(words)
    return (m[0], words[m.end():].strip()) if m else (words, "")
