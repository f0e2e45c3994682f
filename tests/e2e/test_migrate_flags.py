"""Flags of migrate that an attacker or a slip of the hand would use."""
import json

import pytest

from support.ports import free_port
from support.program import run

INSECURE = "warning: TLS is not verified (--insecure)"


@pytest.mark.parametrize("flag", ["--container", "--service", "--compose-file", "--container-data-dir"])
@pytest.mark.parametrize("value", ["-x", "--privileged", "-", "--"])
@pytest.mark.parametrize("via", ["docker", "http"])
def test_a_name_that_docker_would_take_for_an_option_is_a_usage_error(scratch, flag, value, via):
    source = ["migrate", "export", "--via", via, "--source", f"http://127.0.0.1:{free_port()}", "--out", scratch / "b.json"]
    on_the_line = run(*source, f"{flag}={value}")
    assert on_the_line.code == 2 and flag in on_the_line.err, on_the_line
    assert run(*source, flag, value).code == 2
    variable = "DASHCTL_" + flag[2:].upper().replace("-", "_")
    # A command's own flags take nothing from the environment, so nothing reaches docker that way.
    from_outside = run(*source, env={variable: value})
    assert from_outside.code == 7 and value not in from_outside.err.split(), from_outside
    assert not (scratch / "b.json").exists()


@pytest.mark.parametrize("words", [
    ("--container", "c"), ("--compose-file", "f"), ("--service", "app"), ("--container-data-dir", "/d"), ("--docker-host", "ssh://h"),
    ("--ssh-transport", "library"), ("--ssh-key", "k"), ("--ssh-passphrase-file", "p"), ("--ssh-password-file", "p"),
    ("--known-hosts", "k"), ("--accept-new-host-key",)], ids=lambda words: words[0])
def test_what_leads_to_a_container_is_a_usage_error_without_docker_mode(make_instance, scratch, words):
    one = make_instance(start=False)
    for source in (["--source", f"http://127.0.0.1:{free_port()}"], ["--via", "http", "--source", "http://127.0.0.1:1"],
                   ["--data-dir", one.folder]):
        done = run("migrate", "export", *source, *words, "--out", scratch / "b.json")
        assert done.code == 2 and "--via docker" in done.err, done
    assert not (scratch / "b.json").exists()


def test_a_hyphen_inside_of_a_containers_name_is_fine(scratch):
    for words in (["--container", "no-such-container"], ["--compose-file", scratch / "no-such-file.yml", "--service", "a-b"]):
        done = run("migrate", "export", "--via", "docker", *words, "--out", scratch / "b.json")
        assert done.code == 7, done


def test_a_passphrase_that_would_seal_nothing_is_a_usage_error(make_instance, scratch):
    done = make_instance(start=False).dashctl("migrate", "export", "--out", scratch / "b.json", "--passphrase-file", "-", stdin="p" * 20)
    assert done.code == 2 and "--encrypt" in done.err and not (scratch / "b.json").exists(), done


COMMANDS = [("migrate", "export", "--source", "URL"), ("migrate", "diff", "--bundle", "B", "--target", "URL"),
            ("migrate", "import", "--bundle", "B", "--target", "URL", "--apply"),
            ("migrate", "rollback", "--change", "x", "--target", "URL"), ("config", "list", "--target", "URL"),
            ("storage", "list", "--target", "URL"), ("job", "list", "--target", "URL"), ("doctor", "--target", "URL"),
            ("audit", "verify", "--target", "URL"), ("user", "list", "--target", "URL"), ("vault", "list", "--target", "URL")]


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
def test_insecure_warns_whatever_the_scheme_and_the_command(scratch, words, scheme):
    bundle = scratch / "bundle.json"
    bundle.write_text(json.dumps({"config": {"a": "1"}}))
    bundle.chmod(0o600)
    places = {"URL": f"{scheme}://127.0.0.1:{free_port()}", "B": bundle}
    words = [places.get(word, word) for word in words]
    env = {"HOME": str(scratch)}
    for more in ([], ["--quiet"], ["--output", "json"]):
        assert run(*words, "--token", "x.y.z", "--insecure", *more, env=env).err.count(INSECURE) == 1
    assert INSECURE not in run(*words, "--token", "x.y.z", env=env).err
    assert INSECURE not in run(*words, "--token", "x.y.z", "--insecure=false", env=env).err


def test_insecure_warns_where_nothing_is_asked_over_the_network_too(make_instance, scratch):
    instance = make_instance(start=False)
    done = instance.dashctl("migrate", "export", "--out", scratch / "b.json", "--insecure")
    assert done.code == 0 and INSECURE in done.err, done
    done = run("migrate", "export", "--via", "docker", "--container", "nope", "--out", scratch / "c.json", "--insecure")
    assert INSECURE in done.err, done
