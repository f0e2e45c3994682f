"""Exports from a container behind a real sshd, with a real Docker engine at the far end. scripts/test starts both."""
import json
import os
import subprocess
from pathlib import Path

import pytest

from support.docker import SECRET, docker
from support.fault import Fault
from support.ports import free_port
from support.program import run
from support.terminal import Terminal
from support.doubles import start_double, stop_double

USER = os.environ.get("SSH_USER", "")


@pytest.fixture
def engine_for_ssh():
    """The account behind sshd knows no DOCKER_HOST: the engine's socket is put where docker looks by itself."""
    socket = Path(os.environ["DOCKER_HOST"].removeprefix("unix://"))
    place = Path("/var/run/docker.sock")
    mode = socket.stat().st_mode
    socket.chmod(0o666)
    place.symlink_to(socket)
    yield
    place.unlink()
    socket.chmod(mode)


class Operator:
    """Somebody with an empty home folder who exports from the container."""

    def __init__(self, scratch, container_name):
        self.scratch, self.container = scratch, container_name
        self.home = scratch / "home"
        (self.home / ".ssh").mkdir(parents=True, mode=0o700)
        self.known_hosts = self.home / ".ssh/known_hosts"
        self.known_hosts.write_bytes(Path(os.environ["SSH_KNOWN_HOSTS"]).read_bytes())
        self.out = scratch / "bundle.json"
        self.env = {"HOME": str(self.home), "SSH_AUTH_SOCK": ""}

    def words(self, *flags, port=None, host="127.0.0.1"):
        place = f"ssh://{USER}@{host}:{port or os.environ['SSH_PORT']}"
        return ["migrate", "export", "--via", "docker", "--container", self.container, "--out", self.out, "--docker-host",
                place, *flags]

    def export(self, *flags, **where):
        return run(*self.words(*flags, **where), env=self.env)

    def on_terminal(self, *flags):
        return Terminal(*self.words(*flags), env=self.env)

    def got_it(self):
        return json.loads(self.out.read_text())["config"]["cloud1_secret_access_key"] == SECRET

    def known_keys(self):
        return [line.split() for line in self.known_hosts.read_text().splitlines()]


@pytest.fixture
def nobody(scratch):
    """An operator who asks for a container that is never reached."""
    return Operator(scratch, "any-one")


@pytest.fixture
def operator(container, engine_for_ssh, scratch):
    return Operator(scratch, container)


def key(name):
    return ["--ssh-key", os.environ[f"SSH_KEY{name}"]]


def other_key(scratch, *more):
    path = scratch / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path, *more], check=True)
    return path


# --- whom to trust ---


def test_an_unknown_host_is_refused_until_its_key_is_accepted(operator):
    operator.known_hosts.unlink()
    refused = operator.export(*key(""))
    assert refused.code == 7 and "--accept-new-host-key" in refused.err, refused
    host_key = Path(os.environ["SSH_KNOWN_HOSTS"]).with_name("host_ed25519.pub")
    shown = subprocess.run(["ssh-keygen", "-lf", host_key], capture_output=True, text=True, check=True).stdout.split()[1]
    assert shown in refused.err
    assert not operator.out.exists() and not operator.known_hosts.exists()
    accepted = operator.export(*key(""), "--accept-new-host-key")
    assert accepted.code == 0 and shown in accepted.err and operator.got_it(), accepted
    assert operator.known_hosts.stat().st_mode & 0o777 == 0o600
    assert operator.export(*key("")).code == 0


def test_a_changed_host_key_is_loudly_refused_and_never_accepted(nobody):
    data = other_key(nobody.scratch).with_suffix(".pub").read_text().split()[1]
    line = f"[127.0.0.1]:{os.environ['SSH_PORT']} ssh-ed25519 {data}\n"
    nobody.known_hosts.write_text(line)
    done = nobody.export(*key(""), "--accept-new-host-key")
    assert done.code == 7 and "CHANGED" in done.err and str(nobody.known_hosts) in done.err, done
    assert nobody.known_hosts.read_text() == line


def test_a_revoked_host_key_is_refused(nobody):
    kind, data = next(k[1:3] for k in nobody.known_keys() if k[1] == "ssh-ed25519")
    nobody.known_hosts.write_text(nobody.known_hosts.read_text() + f"@revoked * {kind} {data}\n")
    done = nobody.export(*key(""))
    assert done.code == 7 and "revoked" in done.err, done


def test_a_host_known_by_an_rsa_key_alone_is_not_taken_for_another(nobody):
    lines = [" ".join(k) + "\n" for k in nobody.known_keys() if k[1] == "ssh-rsa"]
    nobody.known_hosts.write_text("".join(lines))
    done = nobody.export(*key(""), "--accept-new-host-key")
    assert done.code == 7 and "another type of key (ssh-rsa)" in done.err and "CHANGED" not in done.err, done
    assert nobody.known_hosts.read_text() == "".join(lines)


def test_hashed_known_hosts_are_understood(operator):
    subprocess.run(["ssh-keygen", "-H", "-f", operator.known_hosts], check=True, capture_output=True)
    assert "127.0.0.1" not in operator.known_hosts.read_text()
    done = operator.export(*key(""))
    assert done.code == 0 and operator.got_it(), done


def test_a_known_hosts_file_can_be_named(operator):
    named = operator.scratch / "known"
    operator.known_hosts.rename(named)
    assert operator.export(*key("")).code == 7
    assert operator.export(*key(""), "--known-hosts", named).code == 0


# --- who we are ---


def test_keys_of_ed25519_and_ecdsa_are_taken(operator):
    for name in ("", "_ECDSA"):
        operator.out.unlink(missing_ok=True)
        done = operator.export(*key(name))
        assert done.code == 0 and operator.got_it(), done
        assert SECRET not in done.out + done.err


def test_the_keys_in_the_home_folder_are_tried(operator):
    for suffix in ("", ".pub"):
        target = operator.home / f".ssh/id_ed25519{suffix}"
        target.write_bytes(Path(os.environ["SSH_KEY"] + suffix).read_bytes())
        target.chmod(0o600)
    assert operator.export().code == 0 and operator.got_it()


def test_an_rsa_key_is_refused_with_what_to_use_instead(nobody):
    for name in ("_RSA", "_RSA_PEM"):
        done = nobody.export(*key(name))
        assert done.code == 8, done
        assert "SHA-1" in done.err and "ed25519 or ecdsa" in done.err and "--ssh-transport program" in done.err


def test_the_ssh_program_carries_what_the_library_cannot(operator):
    done = operator.export(*key("_RSA"), "--ssh-transport", "program", "--known-hosts", operator.known_hosts)
    assert done.code == 0 and operator.got_it(), done


def test_the_ssh_programs_refusals_keep_their_meaning(nobody):
    wrong = nobody.export("--ssh-key", other_key(nobody.scratch), "--ssh-transport", "program", "--known-hosts",
                          nobody.known_hosts)
    assert wrong.code == 8, wrong
    unknown = nobody.export(*key(""), "--ssh-transport", "program", "--known-hosts", nobody.scratch / "none")
    assert unknown.code == 7 and "--accept-new-host-key" in unknown.err, unknown


def test_a_key_that_the_host_does_not_know_is_named(nobody):
    other = other_key(nobody.scratch)
    done = nobody.export("--ssh-key", other)
    assert done.code == 8 and str(other) in done.err and USER in done.err, done


def test_a_file_that_is_no_key_is_told_so(nobody):
    other = nobody.scratch / "no-key"
    other.write_text("nothing like it\n")
    done = nobody.export("--ssh-key", other)
    assert done.code == 8 and str(other) in done.err, done
    missing = nobody.export("--ssh-key", nobody.scratch / "missing")
    assert missing.code != 0 and "missing" in missing.err


def test_a_locked_key_asks_for_its_passphrase_without_showing_it(operator):
    at = operator.on_terminal(*key("_LOCKED"))
    at.wait_for(f"Passphrase of {os.environ['SSH_KEY_LOCKED']}: ")
    assert not at.shows_what_is_typed
    done = at.answer("Passphrase", os.environ["SSH_PASSPHRASE"]).end()
    assert done.code == 0 and operator.got_it(), done
    assert os.environ["SSH_PASSPHRASE"] not in done.err


def test_a_wrong_passphrase_is_asked_again_three_times(nobody):
    at = nobody.on_terminal(*key("_LOCKED"))
    for attempt in range(3):
        at.answer("Passphrase of", f"wrong {attempt}")
    done = at.end()
    assert done.code == 8 and "does not open" in done.err, done


def test_a_passphrase_can_come_from_a_file_and_nobody_is_asked_without_input(operator):
    file = operator.scratch / "passphrase"
    file.write_text(os.environ["SSH_PASSPHRASE"] + "\n")
    assert operator.export(*key("_LOCKED"), "--ssh-passphrase-file", file).code == 0 and operator.got_it()
    for done in (operator.export(*key("_LOCKED"), "--no-input"), operator.on_terminal(*key("_LOCKED"), "--no-input").end()):
        assert done.code == 2 and "--ssh-passphrase-file" in done.err, done
    file.write_text("wrong\n")
    assert operator.export(*key("_LOCKED"), "--ssh-passphrase-file", file).code == 8


@pytest.fixture
def agent(scratch):
    """An ssh-agent with the locked key in it, opened."""
    socket = scratch / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.DEVNULL)
    try:
        ask = scratch / "askpass"
        ask.write_text('#!/bin/sh\necho "$SSH_PASSPHRASE"\n')
        ask.chmod(0o755)
        env = {**os.environ, "SSH_AUTH_SOCK": str(socket), "SSH_ASKPASS": str(ask), "SSH_ASKPASS_REQUIRE": "force"}
        for _ in range(100):
            if socket.exists():
                break
            subprocess.run(["sleep", "0.05"], check=True)
        subprocess.run(["ssh-add", "-q", os.environ["SSH_KEY_LOCKED"]], env=env, check=True, stdin=subprocess.DEVNULL)
        yield str(socket)
    finally:
        process.terminate()
        process.wait()


def test_the_agents_keys_are_used_and_its_copy_of_a_locked_key_spares_the_question(operator, agent):
    operator.env["SSH_AUTH_SOCK"] = agent
    assert operator.export("--no-input").code == 0 and operator.got_it()
    assert operator.export(*key("_LOCKED"), "--no-input").code == 0


def test_a_password_is_asked_for_when_no_key_is_taken(operator):
    at = operator.on_terminal()
    at.wait_for(f"Password of {USER} at 127.0.0.1:{os.environ['SSH_PORT']}: ")
    assert not at.shows_what_is_typed
    done = at.answer("Password of", "wrong").answer("Password of", os.environ["SSH_PASS"]).end()
    assert done.code == 0 and operator.got_it(), done


def test_a_password_can_come_from_a_file_and_a_wrong_one_is_told(operator):
    file = operator.scratch / "password"
    file.write_text(os.environ["SSH_PASS"] + "\n")
    assert operator.export("--ssh-password-file", file).code == 0 and operator.got_it()
    file.write_text("wrong\n")
    done = operator.export("--ssh-password-file", file)
    assert done.code == 8 and "the password" in done.err and "wrong" not in done.err, done
    nobody_there = operator.export("--no-input")
    assert nobody_there.code == 2 and "--ssh-password-file" in nobody_there.err, nobody_there


@pytest.fixture
def asking_host(operator):
    """The port of a host that takes no password but has PAM ask for it."""
    port, folder = str(free_port()), operator.scratch / "asking"
    folder.mkdir()
    start_double("ssh", folder, port, {"SSH_KEYBOARD": "1"})
    known = (folder / "ssh/known_hosts").read_text()
    with operator.known_hosts.open("a") as file:
        file.write(known)
    yield port
    stop_double("ssh", folder)


def test_what_the_host_asks_in_place_of_a_password_is_answered(operator, asking_host):
    at = Terminal(*operator.words(port=asking_host), env=operator.env)
    question = f"Password of {USER} at 127.0.0.1:{asking_host}: "
    at.wait_for(question)
    assert not at.shows_what_is_typed
    done = at.answer(question, "wrong").answer(question, os.environ["SSH_PASS"]).end()
    assert done.code == 0 and operator.got_it(), done


def test_what_the_host_asks_can_be_answered_by_a_file_and_a_wrong_answer_is_told(operator, asking_host):
    file = operator.scratch / "password"
    file.write_text(os.environ["SSH_PASS"] + "\n")
    assert operator.export("--ssh-password-file", file, port=asking_host).code == 0 and operator.got_it()
    file.write_text("wrong\n")
    done = operator.export("--ssh-password-file", file, port=asking_host)
    assert done.code == 8 and "the answers to its questions" in done.err and "wrong" not in done.err, done
    nobody_there = operator.export("--no-input", port=asking_host)
    assert nobody_there.code == 2 and "--ssh-password-file" in nobody_there.err, nobody_there


def test_ctrl_c_at_a_question_gives_the_terminal_its_echo_back(nobody):
    at = nobody.on_terminal()
    at.wait_for("Password of")
    done = at.interrupt()
    done.process.wait(timeout=20)
    assert at.shows_what_is_typed
    ended = at.end()
    assert ended.code == 130 and "nothing was written" in ended.err


# --- what comes back ---


def test_exit_status_and_stderr_of_the_far_command_are_told(engine_for_ssh, nobody):
    nobody.container = "no-such-container"
    done = nobody.export(*key(""))
    assert done.code == 7 and "No such container: no-such-container" in done.err and "exit status 1" in done.err, done
    assert not nobody.out.exists()


def test_a_store_that_its_key_does_not_open_is_told_from_afar(operator):
    docker("exec", operator.container, "sh", "-c", "head -c 32 /dev/urandom > /data/signing.key")
    done = operator.export(*key(""))
    assert done.code == 9 and "cloud1_secret_access_key" in done.err and not operator.out.exists(), done


def test_a_connection_cut_in_the_middle_leaves_no_bundle(operator):
    fault = Fault("ssh", os.environ["SSH_PORT"])
    try:
        data = next(k for k in operator.known_keys() if k[1] == "ssh-ed25519")[2]
        operator.known_hosts.write_text(f"[127.0.0.1]:{fault.port} ssh-ed25519 {data}\n")
        assert operator.export(*key(""), port=fault.port).code == 0
        operator.out.unlink()
        for limit in (10, 1000, 2500, 4000):
            fault.cut_after(limit)
            done = operator.export(*key(""), port=fault.port)
            assert done.code in (7, 8) and "127.0.0.1" in done.err, (limit, done)
            assert not operator.out.exists()
    finally:
        fault.close()


def test_what_is_no_ssh_server_is_told(nobody):
    closed = nobody.export(*key(""), port=free_port())
    assert closed.code == 7 and "Cannot reach 127.0.0.1" in closed.err, closed
    for address in ("ssh://", "ssh://u:secret@h", "ssh://-oProxyCommand=x", "ssh://h/path"):
        done = run("migrate", "export", "--via", "docker", "--container", "c1", "--docker-host", address, env=nobody.env)
        assert done.code == 2 and "secret" not in done.err, done
