#!/usr/bin/env python3
"""Finds TRY(...) after another member in a braced initialiser. Its return leaves the earlier members
undestroyed (gcc, and clang before 19): a leak. Take the value into a variable first."""
import re
import subprocess
import sys

LITERALS = re.compile(r'R"\w*\((?:.|\n)*?\)\w*"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*')
NO_INITIALISER = re.compile(r"(\)|\b(else|do|try|const|noexcept|override)|\b(struct|class|namespace|enum|union)\s+[\w:]*"
                            r"|->\s*[\w:<>*&]+|[;{}])\s*$|^\s*$")


def enclosing(text, at):
    """Returns the position of the bracket that is open at `at`."""
    depth = 0
    for i in range(at - 1, -1, -1):
        if text[i] in ")]}":
            depth += 1
        elif text[i] in "([{":
            if depth == 0:
                return i
            depth -= 1
    return None


def is_late_in_braces(text, at):
    inner = at
    while (inner := enclosing(text, inner)) is not None:
        if text[inner] != "{":
            continue
        if NO_INITIALISER.search(text[max(0, inner - 200):inner]):
            return False
        if "," in text[inner:at]:
            return True
    return False


def main():
    bad = 0
    for path in subprocess.check_output(["git", "ls-files", "*.cpp", "*.hpp"], text=True).split():
        with open(path, encoding="utf-8") as file:
            text = LITERALS.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), file.read())
        for found in re.finditer(r"\bTRY\(", text):
            if is_late_in_braces(text, found.start()):
                print(f"{path}:{text.count(chr(10), 0, found.start()) + 1}")
                bad = 1
    return bad


sys.exit(main())
