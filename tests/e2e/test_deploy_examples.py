"""The modules of docs/examples/deploy: each is valid, deploys and destroys through an instance, and takes any name."""
import shutil
import subprocess
from pathlib import Path

import pytest

from support.deploys import PROGRAM, destroy, ended, log_of

pytestmark = pytest.mark.skipif(not PROGRAM, reason="no infrastructure program: scripts/setup iac builds one")

EXAMPLES = Path(__file__).resolve().parents[2] / "docs/examples/deploy"
MODULES = sorted(path.parent.name for path in EXAMPLES.glob("*/main.tf"))
NAME = "$(touch x) `touch y` \"; touch z"


def put_example(one, name):
    folder = one.folder / "deploy" / "cloud1-vm-deploy"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(EXAMPLES / name, folder)
    for path in (folder.parent, folder, *folder.iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)


def members(scratch):
    """What a caller may set of each, and what the job shows of it."""
    return {"record": {"labels": {"team": "a"}},
            "local-file": {"folder": str(scratch / "machines"), "note": "kept-secret-note"},
            "existing-host": {"address": "127.0.0.1", "host_key": "ssh-ed25519 AAAA"}}


def run_deploy(http, more):
    body = {"region": "us-east-1", "instance_type": "t3.large", "image": "img-1", "name": NAME, **more}
    answer = http.post("/api/cloud1/deploy", body)
    assert answer.status == 200, answer
    made = ended(http, answer.json["job_id"])
    assert made["status"] == "completed", (made, log_of(http, made["id"]))
    return made


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_valid(name, scratch):
    folder = shutil.copytree(EXAMPLES / name, scratch / name)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(scratch), "CHECKPOINT_DISABLE": "1"}
    for arguments in (["init", "-input=false", "-no-color"], ["validate", "-no-color"], ["fmt", "-check", "-diff", "-no-color"]):
        done = subprocess.run([PROGRAM, *arguments], cwd=folder, env=env, capture_output=True, text=True)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)


def test_each_module_deploys_and_destroys(make_instance, scratch):
    one = make_instance(start=False, env={"IAC_BINARY": PROGRAM})
    (scratch / "assets").mkdir()
    one.set(storage_local_path=str(scratch / "assets"), storage_active_backend="local")
    root = one.start().login("root")
    given = members(scratch)
    assert sorted(given) == MODULES
    for name, more in given.items():
        put_example(one, name)
        made = run_deploy(root, more)
        shown = made["request"]["variables"]
        assert shown == {key: "••••••••" if key == "note" else value for key, value in more.items()}
        assert made["resource_id"] == made["outputs"]["resource_id"]
        if name == "local-file":
            text = Path(made["outputs"]["path"]).read_text()
            assert f"name={NAME}\n" in text and "note=kept-secret-note\n" in text
            assert "kept-secret-note" not in log_of(root, made["id"]) + str(made)
        gone = ended(root, destroy(root, made["resource_id"]))
        assert gone["status"] == "completed", (gone, log_of(root, gone["id"]))
    assert not list((scratch / "machines").iterdir())
    assert not [path for path in scratch.rglob("*") if path.name in ("x", "y", "z")]


def test_a_member_that_the_module_does_not_declare_is_named(make_instance):
    one = make_instance(start=False, env={"IAC_BINARY": PROGRAM})
    put_example(one, "local-file")
    root = one.start().login("root")
    body = {"image": "img-1", "name": "web", "folders": "/tmp"}
    items = {"image": "img-1", "items": [{"name": "a"}, {"name": "b", "folders": "/tmp"}]}
    for cloud in ("cloud1", "aws"):
        for path, sent, where in (("deploy", body, ["body", "folders"]), ("bulk-deploy", items, ["body", "items", 1, "folders"])):
            refused = root.post(f"/api/{cloud}/{path}", sent)
            assert refused.status == 422 and refused.json["detail"][0]["loc"] == where, refused
    assert root.get("/api/jobs").json["total"] == 0
