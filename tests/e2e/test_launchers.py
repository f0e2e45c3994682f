"""The front ends in launchers/: dashctl-migrate.sh for real, dashctl-migrate.ps1 where PWSH names a PowerShell. Without one the
functions that hold its logic are driven through an evaluator of the grammar (support/powershell.py), the script itself is parsed."""
import base64
import json
import os
import re
import subprocess

import pytest

from support.program import BINARY, ROOT, clean_environment, run

LAUNCHER = ROOT / "launchers/dashctl-migrate.sh"
MODULE = ROOT / "launchers/arguments.psm1"
PWSH = os.environ.get("PWSH")  # a real PowerShell
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


def test_sh_takes_no_other_binary_than_the_one_that_was_named(scratch):
    code, lines, _, err = launch("--help", env={"DASHCTL": str(scratch / "gone")})
    assert code == 1 and not lines and f"{scratch}/gone" in err


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


def venv_python():
    """The one with PowerShell's published grammar in it."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    home = os.environ.get("DOUBLES_HOME") or f"{cache}/dashctl/doubles"
    return f"{home}/venv/bin/python"


def call(function, **arguments):
    return {"function": function, "arguments": arguments}


def answers_of(command, calls):
    done = subprocess.run(command, input=json.dumps(calls), capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return [answer.get("value", ("thrown", answer.get("thrown"))) for answer in json.loads(done.stdout)]


def evaluate(*calls):
    """What functions of the PowerShell module give, by the evaluator in support/; a real PowerShell must give the same."""
    support = ROOT / "tests/e2e/support"
    found = answers_of([venv_python(), support / "powershell.py", MODULE], calls)
    if PWSH:
        assert answers_of([PWSH, "-NoProfile", "-NonInteractive", "-File", support / "call_module.ps1", MODULE], calls) == found
    return found


def test_ps1_runs_under_the_powershell_that_is_named(echo_binary, scratch, capsys):
    """The whole script, on Linux: every argument unharmed, the caller's folder, the exit code."""
    if not PWSH:
        calls = call("Test-DockerMode", Arguments=["export", "--via", "docker"]), call("Convert-Arguments", Arguments=["shred", "a b"], Runner="native")
        assert evaluate(*calls) == [True, ["shred", "a b"]]
        with capsys.disabled():
            print("\n  PWSH names no PowerShell: the module's functions ran in an evaluator of its grammar, the script was parsed and not run")
        return
    env = clean_environment({"DASHCTL": str(echo_binary)})
    script = MODULE.with_name("dashctl-migrate.ps1")
    words = [word for word in HARD_ARGUMENTS if "\n" not in word]
    done = subprocess.run([PWSH, "-NoProfile", "-NonInteractive", "-File", script, "diff", *words], env=env, cwd=scratch,
                          capture_output=True, text=True, check=False, timeout=120)
    folder, *encoded = done.stdout.splitlines()
    given = [base64.b64decode(line).decode() for line in encoded]
    assert (done.returncode, folder, given) == (6, str(scratch), ["migrate", "diff", *words]), done.stderr
    missing = subprocess.run([PWSH, "-NoProfile", "-NonInteractive", "-File", script, "diff"], capture_output=True, text=True, check=False,
                             env={**env, "DASHCTL": str(scratch / "gone")}, timeout=120)
    assert missing.returncode == 1 and "dashctl" in missing.stderr


def test_ps1_and_its_module_parse_by_powershells_grammar(scratch):
    parse = scratch / "parse.py"
    parse.write_text(
        "import sys, tree_sitter, tree_sitter_powershell as powershell\n"
        "parser = tree_sitter.Parser(tree_sitter.Language(powershell.language()))\n"
        "sys.exit(any(parser.parse(open(f, 'rb').read()).root_node.has_error for f in sys.argv[1:]))\n")
    scripts = [MODULE, MODULE.with_name("dashctl-migrate.ps1"), ROOT / "tests/e2e/support/call_module.ps1"]
    done = subprocess.run([venv_python(), parse, *scripts], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_ps1_calls_only_what_its_module_exports():
    module, script = (MODULE.with_name(n).read_text(encoding="utf-8") for n in (MODULE.name, "dashctl-migrate.ps1"))
    exported = set(re.findall(r"'([A-Z]\w+-\w+)'", module.split("Export-ModuleMember", 1)[1]))
    defined = set(re.findall(r"^function ([A-Z]\w+-\w+)", module, re.M))
    own = set(re.findall(r"^function ([A-Z]\w+-\w+)", script, re.M))
    builtin = {"Set-StrictMode", "Import-Module", "Join-Path", "Get-Command", "Select-Object", "ForEach-Object", "Test-Path",
               "Get-Location"}
    called = set(re.findall(r"\b([A-Z][a-z]+-[A-Z]\w+)\b", script)) - own - builtin
    assert exported == defined and called <= exported


def test_ps1_knows_docker_mode_in_both_spellings():
    cases = [(["export", "--via", "docker"], True), (["export", "--via=docker"], True), (["export", "--via", "http"], False),
             (["export", "--via=http"], False), (["export"], False), ([], False), (["export", "--via"], False),
             (["export", "--via", "docker", "--via=http"], False), (["export", "--via=http", "--via", "docker"], True),
             (["shred", "--", "--via", "docker"], False), (["export", "--VIA", "docker"], False)]
    found = evaluate(*(call("Test-DockerMode", Arguments=words) for words, _ in cases))
    assert found == [expected for _, expected in cases]


def test_ps1_runs_where_it_can_and_says_what_is_missing():
    def select(docker_mode, native, docker, subsystem):
        return call("Select-Runner", IsDockerMode=docker_mode, HasNative=native, HasDocker=docker, HasSubsystem=subsystem)

    found = evaluate(select(False, True, False, False), select(True, True, True, True), select(True, True, False, True),
                     select(False, False, False, True), select(True, False, True, True), select(True, True, False, False),
                     select(False, False, True, False))
    assert found[:5] == ["native", "native", "subsystem", "subsystem", "subsystem"]
    assert "docker" in found[5][1] and "wsl" in found[5][1] and "--via http" in found[5][1]
    assert "dashctl" in found[6][1] and "wsl" in found[6][1]


def test_ps1_translates_paths_both_ways():
    linux = {"C:\\move\\a b.json": "/mnt/c/move/a b.json", "d:/x/y": "/mnt/d/x/y", "C:": "/mnt/c/", "C:\\": "/mnt/c/",
             "bundle.json": "bundle.json", "..\\up\\b.json": "../up/b.json", "/already/there": "/already/there",
             "\\\\wsl$\\Debian\\home\\me\\b": "/home/me/b", "\\\\wsl.localhost\\Debian\\b": "/b",
             "//wsl$/Debian/home": "/home", "it's $HOME;x": "it's $HOME;x", "": ""}
    found = evaluate(*(call("ConvertTo-LinuxPath", Path=path) for path in linux))
    assert found == list(linux.values())
    windows = {"/mnt/c/move/a b.json": "C:\\move\\a b.json", "/mnt/d": "D:\\", "/home/me": "/home/me", "b.json": "b.json",
               "/mnt/cd/x": "/mnt/cd/x", "C:\\x": "C:\\x"}
    found = evaluate(*(call("ConvertTo-WindowsPath", Path=path) for path in windows))
    assert found == list(windows.values())
    elsewhere = evaluate(call("ConvertTo-LinuxPath", Path="C:\\x", MountRoot="/drives/"),
                         call("ConvertTo-WindowsPath", Path="/drives/c/x", MountRoot="/drives/"),
                         call("ConvertTo-LinuxPath", Path="\\\\server\\share\\b.json"))
    assert elsewhere[:2] == ["/drives/c/x", "C:\\x"] and "network path" in elsewhere[2][1]


def test_ps1_translates_the_values_of_path_options_and_nothing_else():
    given = ["export", "--source", "https://h/x", "--out", "C:\\a b\\b.json", "--ca-bundle=D:\\ca.pem", "--container", "C:\\no",
             "--only=C:\\no", "--password-file", "-", "--out=-", "--ssh-key", ""]
    expected = ["export", "--source", "https://h/x", "--out", "/mnt/c/a b/b.json", "--ca-bundle=/mnt/d/ca.pem", "--container",
                "C:\\no", "--only=C:\\no", "--password-file", "-", "--out=-", "--ssh-key", ""]
    files = ["shred", "C:\\a\\b.json", "here.json", "--output", "json"]
    found = evaluate(call("Convert-Arguments", Arguments=given, Runner="subsystem"),
                     call("Convert-Arguments", Arguments=files, Runner="subsystem"),
                     call("Convert-Arguments", Arguments=["diff", "--bundle", "/mnt/c/b.json"], Runner="native"),
                     call("Convert-Arguments", Arguments=[], Runner="native"))
    assert found == [expected, ["shred", "/mnt/c/a/b.json", "here.json", "--output", "json"],
                     ["diff", "--bundle", "C:\\b.json"], []]


def test_ps1_hands_every_argument_through_the_subsystem_unharmed(echo_binary):
    (encoded,) = evaluate(call("ConvertTo-EncodedArguments", Arguments=["import", *HARD_ARGUMENTS]))
    assert all(re.fullmatch(r"x[A-Za-z0-9+/=]*", token) for token in encoded)
    code, _, args, _ = launch("--encoded", *encoded, env={"DASHCTL": str(echo_binary)})
    assert (code, args) == (6, ["migrate", "import", *HARD_ARGUMENTS])


def windows_words(line):
    """A command line taken apart as Windows programs do (CommandLineToArgvW)."""
    words, word, i, quoted, begun = [], "", 0, False, False
    while i < len(line):
        slashes = re.match(r"\\*", line[i:])[0]
        i += len(slashes)
        if line[i : i + 1] == '"':
            word, begun, i = word + "\\" * (len(slashes) // 2), True, i + 1
            if len(slashes) % 2:
                word += '"'
            else:
                quoted = not quoted
            continue
        word, begun = word + slashes, begun or bool(slashes)
        if i < len(line):
            if line[i] in " \t" and not quoted:
                words, word, begun = words + ([word] if begun else []), "", False
            else:
                word, begun = word + line[i], True
            i += 1
    return words + ([word] if begun else [])


def test_ps1_protects_arguments_of_native_programs_in_windows_powershell():
    arguments = [a for a in HARD_ARGUMENTS if "\n" not in a] + ["C:\\a b\\", 'tail\\"', "\\\\x\\y", '"', "a\\\\"]
    protected = evaluate(*(call("Protect-NativeArgument", Argument=a, IsLegacy=True) for a in arguments))
    # Windows PowerShell itself puts quotes around what holds a space, unless it begins with one.
    line = " ".join(f'"{p}"' if re.search(r"\s", p) else p for p in protected)
    assert windows_words(line) == arguments
    assert evaluate(*(call("Protect-NativeArgument", Argument=a, IsLegacy=False) for a in arguments)) == arguments


def test_ps1_translates_every_path_option_that_migrate_has():
    told = set()
    for action in ("export", "diff", "import", "rollback", "shred"):
        told |= set(re.findall(r"^\s+(--[a-z-]+) (?:FILE|DIR)\b", run("migrate", action, "--help").out, re.M))
    module = MODULE.read_text(encoding="utf-8")
    listed = set(re.findall(r"'(--[a-z-]+)'", module.split("$script:PathOptions = @(", 1)[1].split(")", 1)[0]))
    told.discard("--container-data-dir")  # a path of the container's
    assert told and told <= listed, told - listed
