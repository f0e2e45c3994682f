"""What scripts may rely on, whatever the command: streams, exit codes, documents, the environment."""
import json
import os
import pwd
import signal
import socket
import subprocess

import pytest

from support.instance import PASSWORD
from support.program import BINARY, clean_environment, run
from support.wait import wait_until


# Every command that takes an instance by its folder.
READING = [("config", "list"), ("config", "get", "x"), ("config", "history"), ("config", "lint"), ("user", "list"),
           ("token", "list"), ("vault", "list"), ("audit", "verify"), ("audit", "export"), ("job", "list"),
           ("storage", "list"), ("migrate", "export", "--out", "-")]


@pytest.fixture
def folder(make_instance):
    """An instance that is not started."""
    return make_instance(start=False)


@pytest.fixture
def silent_server():
    """Takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def actions():
    """Every visible action, read off the help pages."""
    def names(text, heading):
        rows = text.split(heading + ":\n", 1)[1].split("\n\n", 1)[0]
        return [row.split()[0] for row in rows.splitlines() if not row.startswith("   ")]

    for group in names(run("--help").out, "Commands"):
        page = run(group, "--help").out
        if "Actions:" in page:
            yield from ((group, action) for action in names(page, "Actions"))
        else:
            yield (group,)


def test_every_action_explains_itself_and_refuses_an_unknown_flag():
    found = list(actions())
    assert len(found) > 40
    for action in found:
        told = run(*action, "--help")
        assert told.code == 0 and told.out.split("Usage: dashctl ")[1].startswith(" ".join(action)) and not told.err
        refused = run(*action, "--no-such-flag", "--output", "json")
        assert refused.code == 2 and refused.json["error"]["code"] == "usage", (action, refused)
        assert refused.err.startswith("error: "), (action, refused)
        assert run(*action, "--output", "xml").code == 2, action


def test_help_is_a_word_too():
    assert run("help", "migrate", "diff").out == run("migrate", "diff", "--help").out
    assert run("help").out == run("--help").out
    assert run("help", "bogus").code == 2


def test_the_version_comes_in_both_formats():
    assert run("--version").out.startswith("dashctl ")
    told = run("--version", "--output", "json").json
    assert told["schema"] == 1 and f"dashctl {told['version']}\n" == run("--version").out


def test_both_doors_print_the_same_document(make_instance, scratch):
    one = make_instance()
    (scratch / "assets").mkdir()
    one.set(app_url="https://one.example", storage_local_path=str(scratch / "assets"), storage_active_backend="local")
    token = scratch / "token"
    token.write_text(one.token("root"))
    password = scratch / "password"
    password.write_text(PASSWORD)
    far = {"config": ("--admin-user", "root", "--password-file", password)}
    for words in [("config", "list"), ("job", "list"), ("storage", "list"), ("storage", "test", "local"), ("audit", "verify")]:
        login = far.get(words[0], ("--token-file", token))
        remote = run(*words, "--output", "json", "--target", one.url, *login)
        local = one.dashctl(*words, "--output", "json")
        assert remote.code == local.code == 0 and remote.out == local.out, (words, remote, local)


def test_a_forgotten_variable_does_not_name_the_instance_at_hand(folder):
    env = {"DASHCTL_DATA_DIR": str(folder.folder)}
    for flags in [("--target", ""), ("--target=",), ("--data-dir", "")]:
        done = run("config", "list", *flags, env=env)
        assert done.code == 2 and f"{flags[0].rstrip('=')} has an empty value" in done.err, done


def test_values_that_start_with_a_dash_go_behind_two(folder):
    assert folder.dashctl("config", "set", "demo", "-x").code == 2
    done = run("config", "set", "--data-dir", folder.folder, "--", "demo", "--help")
    assert done.code == 0 and folder.dashctl("config", "get", "demo").out == "--help\n"


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_a_mistyped_folder_does_not_become_an_instance(scratch, words):
    done = run(*words, "--data-dir", scratch / "typo")
    assert done.code == 1 and not done.out and f"there is no instance in {scratch}/typo" in done.err, done
    assert not (scratch / "typo").exists()


def test_what_core_logs_is_a_sentence_at_the_shell(folder, scratch):
    folder.set(demo="x")
    other = scratch / "other.key"
    other.write_text("another signing key of some length")
    for words in [("config", "list"), ("config", "get", "demo"), ("doctor",)]:
        done = folder.dashctl(*words, "--signing-key-file", other)
        lines = [line for line in done.err.splitlines() if "demo" in line and "written with another key" in line]
        assert len([line for line in lines if line.startswith("warning: config.unreadable")]) == 1, done
        assert not any(line.startswith("{") for line in done.err.splitlines()), done


def test_a_full_disk_is_an_error_wherever_it_is(folder, scratch):
    folder.set(demo="x")
    with open("/dev/full", "w") as full:
        for words in [("config", "list"), ("config", "get", "demo"), ("user", "list", "--output", "json"),
                      ("token", "issue", "t", "--user", "root"), ("migrate", "export", "--out", "-")]:
            done = subprocess.run([BINARY, *words, "--data-dir", folder.folder], stdout=full, stderr=subprocess.PIPE,
                                  env=clean_environment(folder.env), text=True, check=False)
            assert done.returncode == 1 and "No space left" in done.stderr, (words, done)
    link = scratch / "full"
    link.symlink_to("/dev/full")
    done = folder.dashctl("migrate", "export", "--out", link)
    assert done.code == 1 and "No space left" in done.err and link.is_symlink(), done


@pytest.mark.parametrize("closed", [(0,), (1,), (0, 1), (1, 2), (0, 2), (0, 1, 2)], ids=str)
def test_a_closed_stream_is_an_error_and_no_other_file(folder, closed):
    folder.set(demo="x")

    def told(*words):
        done = subprocess.run([BINARY, *words, "--data-dir", folder.folder], env=clean_environment(folder.env), timeout=20,
                              preexec_fn=lambda: [os.close(fd) for fd in closed], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    read = told("config", "set", "demo", "-")
    assert read[0] == (1 if 0 in closed or 1 in closed else 0), read
    assert 2 in closed or 0 not in closed or "cannot read standard input: Bad file descriptor" in read[2], read
    printed = told("config", "list")
    assert printed[0] == (1 if 1 in closed else 0), printed
    assert 2 in closed or 1 not in closed or "cannot write to standard output: Bad file descriptor" in printed[2], printed


def test_input_may_be_a_socket_and_is_never_cut(folder, scratch):
    folder.set(demo="x")
    bundle = folder.dashctl("migrate", "export", "--out", "-").out.encode()
    words = [BINARY, "migrate", "diff", "--bundle", "-", "--data-dir", folder.folder]
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(bundle)
        ours.shutdown(socket.SHUT_WR)
        done = subprocess.run(words, stdin=theirs, env=clean_environment(folder.env), capture_output=True, check=False)
    assert done.returncode == 0, done
    long = folder.dashctl("user", "add", "long", "--password-file", "-", stdin="p" * ((1 << 20) + 4097))
    assert long.code == 2 and "standard input is larger than 1048576 bytes" in long.err, long


def test_without_a_home_the_accounts_folder_is_taken():
    env = {k: v for k, v in clean_environment().items() if k not in ("HOME", "XDG_DATA_HOME")}
    done = subprocess.run([BINARY, "config", "get", "no_such_setting_here"], env=env, capture_output=True, text=True,
                          cwd="/", check=False)
    home = pwd.getpwuid(os.geteuid()).pw_dir
    assert done.returncode == 1
    assert "no_such_setting_here" in done.stderr or f"no instance in {home}/" in done.stderr, done


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("words", [("migrate", "export", "--out", "-", "--source"), ("config", "list", "--target"),
                                   ("storage", "list", "--target")], ids=lambda w: " ".join(w[:2]))
def test_an_interrupt_is_130_and_one_document(silent_server, number, words):
    command = [BINARY, *words, silent_server, "--token", "a.b.c", "--output", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment(),
                          text=True) as process:
        # Caught: from then on a signal ends the command with words of its own.
        wait_until(lambda: catches(process.pid, number), what="the signal handler")
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130 and "error: interrupted: nothing was written" in err
    assert json.loads(out)["error"]["code"] == "interrupted"


def catches(pid, number):
    with open(f"/proc/{pid}/status") as status:
        caught = next(line for line in status if line.startswith("SigCgt:"))
    return int(caught.split()[1], 16) >> (number - 1) & 1


def test_text_that_is_none_is_refused(folder):
    for words in [("demo", b"\xff\xfe"), (b"\xff", "x"), ("  ", "x")]:
        done = subprocess.run([BINARY, "config", "set", *words, "--data-dir", folder.folder], env=clean_environment(folder.env),
                              capture_output=True, check=False)
        assert done.returncode == 1 and b"UTF-8" in done.stderr, done
    assert folder.dashctl("config", "list").out == ""


@pytest.mark.parametrize("words", [
    ("config", "list", "--timeout", "0"), ("token", "issue", "t", "--user", "root", "--days", "-1"),
    ("serve", "--workers", "-1"), ("serve", "--database", "mysql://localhost/x"),
    ("config", "history", "--limit", "0"),
    ("serve", "--workers", "1001"), ("host", "add", "web", "--address", "192.0.2.1", "--port", "65536")], ids=" ".join)
def test_a_number_or_an_address_that_cannot_be_meant_is_a_usage_error(folder, words):
    done = folder.dashctl(*words)
    assert done.code == 2 and not done.out, done


def test_a_named_pipe_is_no_key_file_and_is_not_waited_for(folder, scratch):
    os.mkfifo(scratch / "key")
    for flag in ("--signing-key-file", "--encryption-key-file"):
        done = folder.dashctl("config", "list", flag, scratch / "key", timeout=20)
        assert done.code == 1 and "named pipe" in done.err, done


def test_a_token_in_the_place_of_a_password_is_recognised(instance, scratch):
    secret = scratch / "secret"
    secret.write_text(instance.token("root") + "\n")
    done = run("config", "list", "--target", instance.url, "--admin-user", "root", "--password-file", secret)
    assert done.code == 8 and "personal access token" in done.err, done
    assert not any("/api/auth/login" in line for line in instance.log)


def test_a_token_is_trimmed_and_never_becomes_another_header(instance):
    jwt = instance.login("root").token
    assert run("config", "list", "--target", instance.url, "--token", f" {jwt}\n").code == 0
    done = run("config", "list", "--target", instance.url, "--token", f"{jwt}\r\nX-Evil: 1")
    assert done.code == 2 and jwt not in done.err, done


def test_what_cannot_be_reached_is_named_once():
    done = run("config", "list", "--target", "http://127.0.0.1:1", "--token", "a.b.c")
    assert done.code == 7 and done.err.lower().count("cannot reach") == 1, done


def test_a_database_that_cannot_be_reached_is_named_with_the_cause_and_without_its_password(folder):
    done = folder.dashctl("config", "list", "--database", "postgres://teller:hush-hush@127.0.0.1:1/none")
    assert done.code == 7 and "127.0.0.1:1" in done.err and "refused" in done.err, done
    assert "hush-hush" not in done.err and done.err.count("\n") == 1, done


def test_a_first_user_makes_the_instance(scratch):
    done = run("user", "add", "root", "--admin", "--data-dir", scratch / "new", "--password-file", "-", stdin=PASSWORD)
    assert done.code == 0 and (scratch / "new" / "dashctl.db").exists()
