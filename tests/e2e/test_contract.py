"""The description of the API beside what is answered: schemathesis looks for answers that are not described, and a
client generated from the description walks the main flows. The programs come from scripts/doubles/install.sh."""
import json
import os
import subprocess
from pathlib import Path

import pytest

from support.generated_client import tool
from support.gate import ALL
from support.instance import Instance
from support.jobs import MACHINE, executor, wait_for
from support.storage import upload
from support.windows import clock, window

HERE = Path(__file__).parent
ROLES = ["admin", "user", "member", "token", "nobody"]
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


@pytest.fixture
def lived_in(scratch):
    """An instance that has something in each of its lists, so that answers are more than empty lists. Each test has its
    own: an admin's made-up requests disable accounts."""
    one = Instance(scratch / "one")
    one.add_user("root", admin=True)
    one.add_user("admin", admin=True)
    one.add_user("user", workgroups=["team"])
    one.add_user("member", workgroups=["team"], grants=["change_windows:use", "change_windows:write", "jobs:read"])
    one.set(storage_local_path=str(scratch / "assets"), storage_active_backend="local", automation_runner="local",
            admission_control_enabled="true", admission_gated_actions=ALL, admission_allowed_regions="us-east-1")
    executor(one, "cloud1-vm-deploy", "echo done")
    one.start()
    root, user = one.login("root"), one.login("user")
    assert upload(root, "site.yml", b"---\n- hosts: all\n").status == 201
    deployed = user.post("/api/cloud1/deploy", {**MACHINE, "region": "us-east-1"}).json["job_id"]
    wait_for(root, deployed, "completed")
    user.post("/api/cloud1/deploy", {**MACHINE, "region": "mars-1"})
    window(root, "later", clock(6))
    assert root.post("/api/hosts", {"name": "web-1", "address": "127.0.0.1", "user": "op", "workgroup": "team"}).status == 201
    assert root.post("/api/notifications/endpoints", {"name": "chat", "url": "https://hooks.example/x"}).status == 200
    assert root.post("/api/secrets/vaults", {"id": "primary", "backend": "azure_kv"}).status == 201
    yield one
    one.stop()


def header_of(instance, role):
    token = {"token": lambda: instance.token("root"), "nobody": lambda: None}.get(role, lambda: instance.login(role).token)()
    return ["-H", f"Authorization: Bearer {token}"] if token else []


def search(instance, role, examples, folder, phases="fuzzing"):
    """Calls every operation as this role with that many made-up requests; gives the number of calls."""
    report = folder / f"{role}.json"
    done = subprocess.run(
        [tool("schemathesis"), "--config-file", HERE / "schemathesis.toml", "run", f"{instance.url}/api/openapi.json",
         "--url", instance.url, "--checks", CHECKS, "--phases", phases, "--max-examples", str(examples), "--seed", "1", "--no-shrink",
         "--continue-on-failure", "--suppress-health-check", "all", "--warnings", "off", "--request-timeout", "30",
         "--report", "ndjson", "--report-ndjson-path", report, *header_of(instance, role)],
        capture_output=True, text=True, timeout=3000, check=False, cwd=folder, env={**os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": str(folder)})
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-2000:]
    return sum(1 for line in instance.log if '"event":"request"' in line)


@pytest.mark.parametrize("role", ROLES)
def test_every_answer_is_described(lived_in, role, tmp_path):
    before = sum(1 for line in lived_in.log if '"event":"request"' in line)
    assert search(lived_in, role, 1, tmp_path) - before > 100
    assert not lived_in.events("contract.violation") and not lived_in.events("request_failed")


@pytest.mark.long
@pytest.mark.parametrize("role", ROLES)
def test_every_answer_to_many_requests_is_described(lived_in, role, tmp_path, capsys):
    calls = search(lived_in, role, 36, tmp_path)
    with capsys.disabled():
        print(f"\n  {role}: {calls} calls")
    assert calls > 4000


def test_the_description_is_served_as_json_and_as_a_page(lived_in):
    answer = lived_in.anonymous.get("/api/openapi.json")
    assert answer.headers["content-type"] == "application/json" and answer.json["openapi"] == "3.1.0"
    page = lived_in.anonymous.get("/api/docs")
    assert page.headers["content-type"].startswith("text/html") and "default-src 'none'" in page.headers["content-security-policy"]
    assert "<script" not in page.text and all(f"-{path}\"" in page.text for path in answer.json["paths"])
    assert lived_in.anonymous.get("/console/api.css").status == 200


def test_a_generated_client_walks_the_main_flows(lived_in, tmp_path):
    (tmp_path / "openapi.json").write_bytes(lived_in.anonymous.get("/api/openapi.json").body)
    made = subprocess.run([tool("openapi-python-client"), "generate", "--path", tmp_path / "openapi.json", "--meta", "none",
                           "--output-path", tmp_path / "generated"], capture_output=True, text=True, timeout=300, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    # Only the YAML document itself is of a type that the generator does not know.
    assert made.stdout.count("WARNING") <= 1 and "ERROR" not in made.stdout, made.stdout
    walked = subprocess.run([tool("python"), HERE / "support" / "generated_client_walk.py", lived_in.url], capture_output=True, text=True,
                            timeout=300, check=False, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert walked.returncode == 0, walked.stdout + walked.stderr
    assert json.loads(walked.stdout) == {"flows": ["sign in", "accounts", "tokens", "assets", "deploy", "gate", "windows", "settings", "audit"]}
