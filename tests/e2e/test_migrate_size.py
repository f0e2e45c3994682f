"""A configuration of many keys is compared and imported in little memory: the command holds each value once or twice, not ten times."""
import json
import os
import subprocess

from support.instance import PASSWORD
from support.migrate import write_bundle
from support.program import BINARY, clean_environment

MANY = 30_000
MOST_MIB = 28  # more than a run of few keys takes; the values and their names have 2 MiB


def bundle_of(path, count):
    path.touch(mode=0o600)
    path.write_text(json.dumps({"config": {f"setting_{n}": f"value {n} " * 4 for n in range(count)},
                                "annotations": {f"setting_{n}": {"secret": False} for n in range(count)}}))
    return path


def peak_mib(words, home):
    process = subprocess.Popen([BINARY, "migrate", *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env=clean_environment({"HOME": str(home)}))
    errors = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, errors[-2000:]
    return usage.ru_maxrss / 1024


def test_import_and_diff_of_many_keys_take_little_memory(make_instance, scratch):
    one = make_instance()
    password = scratch / "password"
    password.write_text(PASSWORD)
    few, many = bundle_of(scratch / "few.json", 10), bundle_of(scratch / "many.json", MANY)
    login = ["--target", one.url, "--admin-user", "root", "--password-file", password]
    base = peak_mib(["import", "--bundle", few, *login, "--apply"], scratch)
    imported = peak_mib(["import", "--bundle", many, *login, "--apply"], scratch)
    compared = peak_mib(["diff", "--bundle", many, *login, "--exit-code"], scratch)
    assert imported - base < MOST_MIB, (base, imported)
    assert compared - base < MOST_MIB, (base, compared)
    assert one.login("root").get("/api/setup/config").json[f"setting_{MANY - 1}"] == f"value {MANY - 1} " * 4


def test_a_long_comparison_is_whole_and_its_notes_stand_after_it(pair):
    """Many lines go out in pieces; here one pipe takes both streams, as a terminal does."""
    names = [f"setting_{n:05}" for n in range(5000)]
    pair.target.set(kept="theirs")
    bundle = write_bundle(pair.scratch / "b.json", config={**dict.fromkeys(names, "new"), "kept": ""})
    done = subprocess.run([BINARY, "migrate", "diff", "--bundle", bundle, "--target", pair.target.url, "--admin-user", "root",
                           "--password-file", pair.password_file], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=120, check=False, env=clean_environment({"HOME": str(pair.home)}))
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("      ")] == names
    note = next(number for number, line in enumerate(lines) if line.startswith("kept: kept is empty in the bundle"))
    assert lines.index("  SAME: 0") < note
