"""/metrics: who may read it, that promtool accepts it, and that alerts, board and documentation name what there is."""
import json
import os
import re
import subprocess

import pytest

from support.databases import DATABASES, new_database
from support.doubles import DOUBLES
from support.gate import MACHINE
from support.http_client import Http
from support.program import ROOT
from support.storage import upload
from support.wait import wait_until

MONITORING = ROOT / "launchers/monitoring"
NAME = r"\bdashctl_[a-z_]+"


@pytest.fixture(scope="module")
def promtool():
    home = os.environ.get("DOUBLES_HOME") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                                                          "dashctl/doubles")
    program = os.path.join(home, "bin/promtool")
    if not os.path.exists(program):
        subprocess.run([DOUBLES / "install.sh", "promtool"], check=True)
    return program


@pytest.fixture(params=DATABASES)
def one(request, make_instance):
    made = make_instance(env=new_database(request.param), start=False)
    made.set(admission_gated_actions="cloud1:vm:deploy", admission_control_enabled="true", admission_allowed_regions="eu-west-1",
             storage_local_path=str(made.folder.parent / "assets"), storage_active_backend="local")
    (made.folder.parent / "assets").mkdir()
    return made.start("--workers", 0)


def described(text):
    return set(re.findall(r"^# HELP (\S+)", text, re.M))


def base(name):
    return re.sub(r"_(bucket|sum|count)$", "", name)


def test_what_happens_is_counted(one, promtool):
    root = one.login("root")
    denied = root.post("/api/cloud1/deploy", MACHINE)
    assert denied.status == 403, denied
    assert root.post("/api/cloud1/deploy", {**MACHINE, "region": "eu-west-1"}).status == 200
    assert upload(root, "a.yml", b"hello: world\n").status in (200, 201)
    text = wait_until(lambda: (lambda t: t if "dashctl_jobs_queued{" in t else None)(one.anonymous.get("/metrics").text),
                      what="the waiting job")
    for line in (r'dashctl_decision_seconds_count\{action="cloud1:vm:deploy",verdict="deny"\} 1',
                 r'dashctl_decision_seconds_count\{action="cloud1:vm:deploy",verdict="allow"\} 1',
                 r'dashctl_engine_builds_total\{result="ok"\} 1', r"dashctl_audit_entries_total [1-9]",
                 r"dashctl_audit_append_seconds_count [1-9]", r'dashctl_jobs_queued\{action="cloud1:vm:deploy",state="pending"\} 1',
                 r'dashctl_jobs_oldest_seconds\{action="cloud1:vm:deploy"\} \d',
                 r'dashctl_store_seconds_count\{backend="local",operation="\w+",result="ok"\} [1-9]',
                 r'dashctl_store_bytes_total\{backend="local",operation="\w+"\} 1[34]',
                 r'dashctl_check_ok\{check="database"\} 1', r'dashctl_http_requests_total\{method="POST",route="/api/cloud1/deploy",'):
        assert re.search("^" + line, text, re.M), (line, text)
    if one.env.get("DASHCTL_DATABASE"):
        assert re.search(r'^dashctl_database_connections_limit 20', text, re.M), text
    checked = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert checked.returncode == 0 and not checked.stdout + checked.stderr, checked


def test_a_stranger_behind_a_proxy_does_not_read_metrics(instance):
    instance.add_user("bob")
    root, bob = instance.login("root"), instance.login("bob")
    anonymous = instance.anonymous
    assert anonymous.get("/metrics").status == 200
    assert root.put("/api/setup/config", {"public_base_url": "https://dash.example:8443"}).status == 200
    wait_until(lambda: anonymous.get("/metrics", headers={"Host": "Dash.Example"}).status == 401, what="the public address")
    assert anonymous.get("/metrics").status == 200
    for headers in ({"Forwarded": "for=127.0.0.1"}, {"X-Forwarded-For": "127.0.0.1"}, {"X-Forwarded-Host": "x"},
                    {"X-Real-IP": "127.0.0.1"}, {"Via": "1.1 x"}, {"Host": "dash.example"}):
        assert anonymous.get("/metrics", headers=headers).status == 401, headers
        assert bob.get("/metrics", headers=headers).status == 403, headers
        assert root.get("/metrics", headers=headers).status == 200, headers
        token = Http(instance.port, instance.token("root", name=str(len(headers)) + next(iter(headers))))
        assert token.get("/metrics", headers=headers).status == 200, headers


def test_alerts_and_board_and_documentation_name_metrics_that_there_are(instance, promtool):
    there = described(instance.anonymous.get("/metrics").text)
    assert len(there) > 20
    board = json.loads((MONITORING / "dashboard.json").read_text())
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    queries.append((MONITORING / "alerts.yml").read_text())
    named = {base(name) for query in queries for name in re.findall(NAME, query)}
    assert named <= there, named - there
    documented = set(re.findall(NAME, (ROOT / "docs/operations.md").read_text().split("### Metrics")[1].split("###")[0]))
    assert documented == there, documented ^ there
    for query in queries[:-1]:
        rule = json.dumps({"groups": [{"name": "board", "rules": [{"record": "x", "expr": query}]}]})
        checked = subprocess.run([promtool, "check", "rules", "/dev/stdin"], input=rule, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, (query, checked)


def test_alerts_fire_on_what_they_are_for(promtool):
    for command in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"], ["check", "config", "prometheus.yml"]):
        done = subprocess.run([promtool, *command], cwd=MONITORING, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
