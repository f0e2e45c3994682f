"""The front ends in launchers/: dashctl-migrate.sh for real; of dashctl-migrate.ps1 what needs no PowerShell."""
import base64
import os
import re
import subprocess

import pytest

from conftest import BINARY, ROOT, clean_environment, run

LAUNCHER = ROOT / "launchers/dashctl-migrate.sh"
HARD_ARGUMENTS = ["a b", "$HOME", "semi;colon", 'say "hi"', "it's", "back\\slash", "`id`", "", "line\n", "übung", "--only=x y"]


@pytest.fixture
def echo_binary(scratch):
    """A stand-in that prints its folder and arguments, one a line in base64, and ends with 6."""
    program = scratch / "echo-dashctl"
    program.write_text('#!/bin/sh\npwd\nfor a in "$@"; do printf %s "$a" | base64 -w0; echo; done\nexit 6\n')
    program.chmod(0o755)
    return program


def launch(*args, env=None, cwd=None):
    done = subprocess.run([LAUNCHER, *args], env=clean_environment(env), cwd=cwd, capture_output=True, text=True,
                          check=False, timeout=60)
    lines = done.stdout.splitlines()
    return done.returncode, lines[:1], [base64.b64decode(line).decode() for line in lines[1:]], done.stderr


def test_sh_hands_every_argument_over_unharmed_and_passes_the_exit_code(echo_binary):
    code, _, args, _ = launch("diff", *HARD_ARGUMENTS, env={"DASHCTL": str(echo_binary)})
    assert (code, args) == (6, ["migrate", "diff", *HARD_ARGUMENTS])


def test_sh_takes_arguments_as_base64_from_the_powershell_launcher(echo_binary):
    encoded = ["x" + base64.b64encode(a.encode()).decode() for a in ["import", *HARD_ARGUMENTS]]
    assert all(re.fullmatch(r"x[A-Za-z0-9+/=]*", token) for token in encoded)
    code, _, args, _ = launch("--encoded", *encoded, env={"DASHCTL": str(echo_binary)})
    assert (code, args) == (6, ["migrate", "import", *HARD_ARGUMENTS])


def test_sh_stays_in_the_callers_folder_so_that_relative_paths_hold(echo_binary, scratch):
    folder = scratch / "a folder"
    folder.mkdir()
    _, pwd, _, _ = launch("shred", "bundle.json", env={"DASHCTL": str(echo_binary)}, cwd=folder)
    assert pwd == [str(folder)]


def test_sh_works_through_a_symbolic_link(echo_binary, scratch):
    link = scratch / "dashctl-migrate"
    link.symlink_to(LAUNCHER)
    done = subprocess.run([link, "diff"], env=clean_environment({"DASHCTL": str(echo_binary)}), capture_output=True,
                          text=True, check=False)
    assert done.returncode == 6, done


def test_sh_runs_the_real_binary_and_keeps_its_usage_code():
    code, _, _, err = launch("diff", env={"DASHCTL": BINARY})
    assert code == 2 and "--bundle" in err


def test_sh_says_what_to_do_without_a_binary(scratch):
    copy = scratch / "dashctl-migrate.sh"
    copy.write_bytes(LAUNCHER.read_bytes())
    copy.chmod(0o755)
    env = {k: v for k, v in clean_environment().items() if k != "DASHCTL"}
    done = subprocess.run([copy, "diff"], env={**env, "PATH": os.defpath}, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "DASHCTL" in done.stderr


def test_ps1_and_its_module_parse_by_powershells_grammar(scratch):
    parse = scratch / "parse.py"
    parse.write_text(
        "import sys, tree_sitter, tree_sitter_powershell as powershell\n"
        "parser = tree_sitter.Parser(tree_sitter.Language(powershell.language()))\n"
        "sys.exit(any(parser.parse(open(f, 'rb').read()).root_node.has_error for f in sys.argv[1:]))\n")
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    home = os.environ.get("DOUBLES_HOME") or f"{cache}/dashctl/doubles"
    launchers = ROOT / "launchers"
    done = subprocess.run([f"{home}/venv/bin/python", parse, launchers / "arguments.psm1",
                           launchers / "dashctl-migrate.ps1"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_ps1_translates_every_path_option_that_migrate_has():
    told = set()
    for action in ("export", "diff", "import", "rollback", "shred"):
        told |= set(re.findall(r"^\s+(--[a-z-]+) (?:FILE|DIR)\b", run("migrate", action, "--help").out, re.M))
    module = (ROOT / "launchers/arguments.psm1").read_text(encoding="utf-8")
    listed = set(re.findall(r"'(--[a-z-]+)'", module.split("$script:PathOptions = @(", 1)[1].split(")", 1)[0]))
    told.discard("--container-data-dir")  # a path of the container's
    assert told and told <= listed, told - listed
