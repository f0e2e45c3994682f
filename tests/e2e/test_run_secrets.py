"""No piece of a secret of a run is written anywhere, whatever the run prints, and however: encoded, in pieces, where a line is cut, as
the error that ends it."""
import pytest

from support.automation import ansible, ended, put_asset, run
from support.run_secrets import LEAK, PLANTED, check_hidden, check_leak_hidden

@pytest.fixture
def root(make_instance, scratch):
    one = make_instance(start=False, env={"AUTOMATION_ANSIBLE": ansible()})
    (scratch / "assets").mkdir()
    one.set(storage_local_path=str(scratch / "assets"), storage_active_backend="local")
    root = one.start().login("root")
    root.instance = one
    assert root.post("/api/hosts", {"name": "here", "address": "127.0.0.1", "connection": "local"}).status == 201
    return root


def test_every_form_is_hidden_also_where_a_line_is_cut(root):
    put_asset(root, "leak.yml", LEAK)
    done = run(root, "leak.yml", "here", secret_vars={"token": PLANTED})
    check_leak_hidden(root, done)


# Prints the secret in two writes, in a line that is cut at any place within it, and as its last word.
RUNNER = """#!/usr/bin/python3
import json, sys, time
token = json.load(sys.stdin)["parameters"]["secret_vars"]["token"]
print("first", token[:9], end="", flush=True)
time.sleep(0.3)
print(token[9:], flush=True)
for n in range(4050, 4096, 3):
    print("x" * n + token)
sys.stdout.flush()
sys.exit(%s)
"""


def test_nor_in_what_an_operators_runner_prints_and_ends_with(root):
    folder = root.instance.folder / "deploy"
    folder.mkdir(exist_ok=True)
    put_asset(root, "site.yml", "- hosts: all\n")
    root.instance.set(storage_obj_cloud1_bucket="b")
    body = {"asset": "site.yml", "hosts": ["here"], "secret_vars": {"token": PLANTED}}
    for last in ("'died of ' + token", "'z' * 4080 + token"):
        (folder / "config-mgmt-run").write_text(RUNNER % last)
        (folder / "config-mgmt-run").chmod(0o755)
        asked = root.post("/api/config-mgmt/run", body)
        assert asked.status == 200, asked
        done = ended(root, asked.json["job_id"])
        text = check_hidden(root, done)
        assert done["status"] == "failed" and "exit status 1" in done["error_message"], done
        assert "first ********" in text, text[:200]
