"""Prints every source without a test of its own name and without a reason in tests/untested.txt, every test without a
source of its name and without a reason there, and every row of that table that is no longer true. A test mirrors the
path of its source, a .cpp or a .hpp, without the folder core. Run by scripts/check from the root.
"""
import re
import subprocess
from pathlib import Path

TABLE = Path("tests/untested.txt")


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
                            capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.split() if Path(path).is_file()]


def test_of(source):
    return "tests/" + re.sub(r"\.[ch]pp$", "_test.cpp", source.removeprefix("core/"))


def read_table():
    rows = {}
    for number, line in enumerate(TABLE.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        path, tab, reason = line.partition("\t")
        if not tab or not reason.strip():
            print(f"{TABLE}:{number}: a row is a path, a tab and a reason")
        if path in rows:
            print(f"{TABLE}:{number}: {path} has two rows")
        rows[path] = (number, reason)
    return rows


def main():
    rows = read_table()
    sources = tracked("core/*.cpp", "cmd/*.cpp", "daemon/*.cpp")
    headers = tracked("core/*.hpp", "cmd/*.hpp", "daemon/*.hpp")
    # Contract tests are named after an interface, and helpers are no tests.
    tests = {path for path in tracked("tests/*_test.cpp") if not path.startswith("tests/contract/")}
    wanted = {source for source in sources if test_of(source) not in tests}
    wanted |= tests - {test_of(path) for path in sources + headers}
    for path in sorted(wanted - rows.keys()):
        what = "test without a source" if path in tests else f"source without {test_of(path)}"
        print(f"{path}: a {what} of its name, and no reason in {TABLE}")
    for path in sorted(rows.keys() - wanted):
        why = "has a test of its name" if Path(path).is_file() else "does not exist"
        print(f"{TABLE}:{rows[path][0]}: {path} {why}: remove the row")
    for path, (number, reason) in rows.items():
        for named in re.findall(r"\btests/[A-Za-z0-9_/.]+\.(?:cpp|hpp|py)\b", reason):
            if not Path(named).is_file():
                print(f"{TABLE}:{number}: {path} names {named}, which does not exist")


main()
