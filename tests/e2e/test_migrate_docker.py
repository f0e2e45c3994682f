"""Exports from inside of a container, on a real Docker engine that scripts/test starts."""
import json
import os

import pytest

from support.docker import SECRET, docker
from support.program import run


def test_docker_mode_carries_secrets(container, scratch):
    out = scratch / "bundle.json"
    done = run("migrate", "export", "--via", "docker", "--container", container, "--out", out)
    assert done.code == 0, done
    bundle = json.loads(out.read_text())
    assert bundle["config"]["cloud1_secret_access_key"] == SECRET
    assert bundle["meta"]["export_method"] == "docker"
    assert SECRET not in done.out + done.err
    assert out.stat().st_mode & 0o777 == 0o600


def test_an_unknown_container_is_unreachable_and_named(scratch):
    out = scratch / "bundle.json"
    done = run("migrate", "export", "--via=docker", "--container", "no-such-container", "--out", out)
    assert done.code == 7, done
    assert "no-such-container" in done.err
    assert not out.exists()


def test_a_container_needs_docker_mode_to_be_entered(scratch):
    done = run("migrate", "export", "--container", "dash", "--out", scratch / "bundle.json")
    assert done.code == 2 and "--via docker" in done.err, done


# --- an image with the Python dashboard's own export instead of dashctl ---

PEER_EXPORT = """#!/bin/sh
[ "$*" = "-m web_dashboard.scripts.config_migrate export-local" ] || exit 2
echo "INFO starting, password={secret}"
echo '{{"config": {{"aws_secret_access_key": "{secret}", "azure_region.West US 2.gallery_name": "g", "setup_complete": "1"}},'
echo ' "notification_endpoints": [{{"name": "ops", "url": "https://hooks.example/{secret}", "fmt": "slack", "enabled": true}}]}}'
echo "INFO done"
exit {code}
"""


@pytest.fixture
def peer_container(scratch):
    """start(exit code) → the name of a container whose `python` exports as the dashboard does, log lines around it."""
    made = []

    def start(code):
        program = scratch / f"python-{code}"
        program.write_text(PEER_EXPORT.format(secret=SECRET, code=code))
        program.chmod(0o755)
        made.append(f"peer-{scratch.name[-8:].lower().replace('_', 'x')}-{code}")
        docker("run", "-d", "--name", made[-1], "--network", "none", "-v", f"{program}:/bin/python:ro",
               os.environ["DOCKER_TEST_IMAGE"], "sleep", "3600")
        return made[-1]

    yield start
    for name in made:
        docker("rm", "-f", name, check=False)


def test_an_image_without_dashctl_is_asked_for_the_dashboards_own_export(peer_container, scratch):
    out = scratch / "bundle.json"
    done = run("migrate", "export", "--via", "docker", "--container", peer_container(0), "--out", out)
    assert done.code == 0 and "bytes around the document" in done.err, done
    bundle = json.loads(out.read_text())
    assert bundle["config"] == {"cloud1_secret_access_key": SECRET}
    assert bundle["regions"] == {"cloud2": {"westus2": {"gallery_name": "g"}}}
    assert [row["url"] for row in bundle["notification_endpoints"]] == [f"https://hooks.example/{SECRET}"]
    assert bundle["excluded"] == {"setup_complete": "instance_local"}
    assert SECRET not in done.out + done.err


def test_what_the_container_printed_is_not_shown_even_when_it_failed(peer_container, scratch):
    out = scratch / "bundle.json"
    done = run("migrate", "export", "--via", "docker", "--container", peer_container(3), "--out", out, "--output", "json")
    assert done.code == 7 and "exit status 3" in done.err and not out.exists(), done
    assert SECRET not in done.out + done.err and done.json["error"]["code"] == "unreachable"


def test_the_recommended_procedure_from_a_container(container, make_instance, scratch):
    target = make_instance("target")
    target.set(cloud1_region="before")
    home = {"HOME": str(scratch)}
    login = ["--token-file", scratch / "token"]
    (scratch / "token").write_text(target.login("root").token)
    bundle, before, plan = scratch / "bundle.json", scratch / "before.json", scratch / "plan.json"
    there = ["--bundle", bundle, "--target", target.url, *login]
    assert run("migrate", "export", "--via", "docker", "--container", container, "--out", bundle, env=home).code == 0
    assert run("migrate", "diff", *there, "--exit-code", "--plan-out", plan, env=home).code == 6
    assert run("migrate", "export", "--source", target.url, *login, "--out", before, env=home).code == 0
    first = run("migrate", "import", *there, "--only", "cloud1_secret", "--apply", env=home)
    assert first.code == 0 and "read back: everything is SAME" in first.out, first
    rest = run("migrate", "import", "--plan", plan, "--apply", *login, env=home)
    assert rest.code == 0, rest
    assert run("migrate", "diff", *there, "--exit-code", env=home).code == 0
    revealed = target.dashctl("config", "get", "cloud1_secret_access_key", "--reveal").out.strip()
    assert revealed == SECRET and target.dashctl("config", "get", "cloud1_region").out.strip() == "us-east-2"
    for done in (rest, first):
        undo = next(line for line in done.out.splitlines() if line.startswith("undo: dashctl "))
        assert run(*undo.removeprefix("undo: dashctl ").split(), *login, env=home).code == 0
    assert target.dashctl("config", "get", "cloud1_region").out.strip() == "before"
    assert "cloud1_secret_access_key" not in target.login("root").get("/api/setup/config").json
    assert run("migrate", "shred", bundle, before, *scratch.glob(".dashboard-migrate/*.json"), env=home).code == 0
    assert not bundle.exists() and not list(scratch.glob(".dashboard-migrate/*.json"))
