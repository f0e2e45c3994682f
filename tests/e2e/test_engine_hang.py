"""A policy engine that hangs: who waits, for how long, and who does not notice."""
import os
import re
import signal
import threading
import time
from http import client as http_client

import pytest

from support.fake_engine import FakeEngine
from support.http_client import Http
from support.instance import PASSWORD
from support.wait import wait_until


GATED, OPEN = "/api/cloud1/deploy", "/api/cloud2/deploy"
MACHINE = {"region": "us-east-1", "instance_type": "t3.medium", "image": "ami-1", "name": "web"}
UNAVAILABLE = "Action blocked: policy engine unavailable (fail-closed)."


@pytest.fixture
def fake(scratch):
    return FakeEngine(scratch / "engine")


@pytest.fixture
def gated(make_instance, fake):
    """An instance with the fake engine; `cloud1:vm:deploy` is gated, `cloud2:vm:deploy` is not."""
    one = make_instance(start=False, env={"POLICY_BINARY": str(fake.path)})
    one.set(admission_control_enabled="true", admission_gated_actions="cloud1:vm:deploy")
    return one


def machine(name):
    return {**MACHINE, "name": name}


def batch(count):
    return {**MACHINE, "items": [{"name": f"b{count}-{i}", "image": "ami-1"} for i in range(count)]}


class Callers:
    """Gated deploys at the same time."""

    def __init__(self, http, count, path=GATED):
        self.answers, self.began = [], time.monotonic()
        self.threads = [threading.Thread(target=self.call, args=(http, path, f"web-{i}")) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def call(self, http, path, name):
        try:
            self.answers.append(http.post(path, machine(name)))
        except (OSError, http_client.HTTPException):
            pass  # the server stopped before it took the request

    def join(self):
        for thread in self.threads:
            thread.join()
        return time.monotonic() - self.began


def busy_callers(one):
    return int(re.search(r'dashctl_pool_busy\{pool="policy"\} (\d+)', one.anonymous.get("/metrics").text)[1])


def policy_check(one):
    return one.anonymous.get("/readyz").json["checks"]["policy"]


def test_who_asks_about_the_rules_of_an_engine_that_never_starts_is_told_so(gated, fake):
    fake.mode("hang at start")
    gated.start()
    root = gated.login("root")
    found = {check["check"]: check for check in root.get("/api/doctor").json["checks"]}
    assert found["policy"]["state"] == "warning" and "being started" in found["policy"]["message"], found["policy"]
    compared = root.post("/api/admission/diff", {"rule_id": "held", "text": "package admission.held\n"})
    assert compared.status == 503 and "was not ready" in compared.json["detail"], compared
    assert gated.process.poll() is None, "the server goes on"


def test_gated_callers_wait_together_and_nobody_else_waits(gated, fake):
    fake.mode("hang at start")
    gated.start()
    root = gated.login("root")
    fake.wait_for_start()
    callers = Callers(root, 60)
    wait_until(lambda: busy_callers(gated) > 16, what="more callers than the pool has threads")
    for path in ("/livez", "/readyz", "/metrics", "/api/jobs", "/api/auth/me", "/api/features"):
        assert root.get(path).status == 200
    assert root.post(OPEN, machine("open")).status == 200
    assert Http(gated.port).post("/api/auth/login", form={"username": "root", "password": PASSWORD}).status == 200
    took = callers.join()
    assert all(answer.status == 403 and answer.json["detail"]["reasons"] == [UNAVAILABLE] for answer in callers.answers)
    assert len(callers.answers) == 60
    assert took < 15, "one after the other it is minutes"


def test_a_restart_of_the_server_is_not_held_up_and_leaves_nothing(gated, fake):
    fake.mode("hang at start")
    gated.env["DASHCTL_POLICY_BUILD_SECONDS"] = "60"
    gated.start()
    root = gated.login("root")
    fake.wait_for_start()
    callers = Callers(root, 30)
    wait_until(lambda: busy_callers(gated) >= 10, what="callers that wait")
    began = time.monotonic()
    gated.stop()
    assert time.monotonic() - began < 20, "the build would have lasted a minute"
    callers.join()
    assert len(callers.answers) >= 10 and {answer.status for answer in callers.answers} <= {403, 503}
    wait_until(lambda: not fake.alive, what="the end of the engine and its child")


def test_a_build_is_given_up_its_processes_killed_and_another_tried(gated, fake):
    fake.mode("hang at start")
    gated.start()
    fake.wait_for_start(more_than=2)  # two lines a start
    first = fake.lines("pids")[:2]
    assert not set(first) & set(fake.alive)
    assert policy_check(gated) != "ok"
    fake.mode("")
    wait_until(lambda: policy_check(gated) == "ok", what="the engine's recovery")
    assert gated.login("root").post(GATED, machine("web")).status == 200


@pytest.mark.parametrize("seconds", ["0", "61", "soon"])
def test_a_build_time_that_is_none_is_refused_at_the_start(gated, seconds):
    done = gated.dashctl("policy", "when", "--action", "cloud1:vm:deploy", env={"DASHCTL_POLICY_BUILD_SECONDS": seconds})
    assert done.code == 2 and "at most 60" in done.err


def test_an_engine_that_hangs_on_a_question_costs_a_batch_one_deadline(gated, fake):
    fake.mode("hang on a question")
    gated.start()
    root = gated.login("root")
    wait_until(lambda: policy_check(gated) == "ok", what="the engine")
    refused = root.post("/api/cloud1/bulk-deploy", batch(8))
    assert refused.status == 403 and refused.json["detail"]["reasons"] == [UNAVAILABLE], refused
    assert len(fake.lines("questions")) <= 3, "every item would have asked for itself"
    assert root.post(OPEN, machine("open")).status == 200


def test_a_slow_engine_judges_the_items_that_its_deadline_covers(gated, fake):
    fake.mode("slow")
    gated.start()
    root = gated.login("root")
    wait_until(lambda: policy_check(gated) == "ok", what="the engine")
    assert root.post(GATED, machine("web")).status == 200
    assert root.post("/api/cloud1/bulk-deploy", batch(3)).status == 200
    assert root.post("/api/cloud1/bulk-deploy", batch(20)).status == 403
    assert len(fake.lines("questions")) < 15


def test_a_report_starts_nothing(make_instance, fake):
    one = make_instance(env={"POLICY_BINARY": str(fake.path)})
    for _ in range(3):
        for path in ("/readyz", "/metrics", "/livez"):
            assert one.anonymous.get(path).status == 200
    assert fake.lines("starts") == []


def test_reports_tell_of_the_rules_though_nobody_asks_the_gate(gated, fake):
    gated.start()
    wait_until(lambda: policy_check(gated) == "ok", what="the engine")
    rule = gated.folder / "policy" / "late.rego"
    rule.write_text("package admission.late\ndeny contains")
    wait_until(lambda: policy_check(gated) != "ok", what="the broken rule")
    assert gated.anonymous.get("/readyz").status == 200
    wait_until(lambda: 'dashctl_check_ok{check="policy"} 0' in gated.anonymous.get("/metrics").text, what="the metric")
    rule.unlink()
    wait_until(lambda: policy_check(gated) == "ok", what="the recovery")
    wait_until(lambda: 'dashctl_check_ok{check="policy"} 1' in gated.anonymous.get("/metrics").text, what="the metric")


def test_each_decision_still_compares_the_folder_first(gated, fake):
    gated.start()
    root = gated.login("root")
    wait_until(lambda: policy_check(gated) == "ok", what="the engine")
    rule = gated.folder / "policy" / "never.rego"
    for i in range(5):
        rule.write_text('package admission.never\ndeny contains "never"')
        assert root.post(GATED, machine(f"a{i}")).json["detail"]["reasons"] == ["never"]
        rule.unlink()
        assert root.post(GATED, machine(f"b{i}")).status == 200


def test_the_settings_page_shows_the_last_state_while_an_engine_is_built(gated, fake):
    gated.env["DASHCTL_POLICY_BUILD_SECONDS"] = "60"
    gated.start()
    root = gated.login("root")
    page = root.get("/api/settings/admission")
    wait_until(lambda: root.get("/api/settings/admission").json["engine"]["state"] == "ready", what="the engine")
    page = root.get("/api/settings/admission").json
    assert page["engine"]["available"] is True and page["fault"] is None
    fake.mode("hang at start")
    (gated.folder / "policy" / "new.rego").write_text('package admission.new\ndeny contains "new"')
    began = time.monotonic()
    again = root.get("/api/settings/admission").json
    assert time.monotonic() - began < 10, "the build lasts a minute"
    assert again["engine"]["state"] == "building"
    assert again["rules"] == page["rules"] and again["policy_digest"] == page["policy_digest"]


def test_a_killed_engine_is_found_without_a_question(gated, fake):
    fake.mode("slow")
    gated.start()
    wait_until(lambda: policy_check(gated) == "ok", what="the engine")
    before = fake.starts
    os.kill(int(fake.lines("pids")[0]), signal.SIGKILL)
    wait_until(lambda: fake.starts > before, what="another engine")
    wait_until(lambda: policy_check(gated) == "ok", what="the recovery")


def test_jobs_that_no_rule_gates_run_while_the_engine_hangs(gated, fake):
    gated.set(admission_control_enabled="false")
    executors = gated.folder / "deploy"
    executors.mkdir(exist_ok=True)
    for name in ("cloud1-vm-deploy", "cloud2-vm-deploy"):
        (executors / name).write_text("#!/bin/sh\nexit 0\n")
        (executors / name).chmod(0o755)
    gated.start("--workers", "0")
    root = gated.login("root")
    for i in range(40):
        assert root.post(GATED, machine(f"web-{i}")).status == 200
    ungated = root.post(OPEN, machine("open")).json["job_id"]
    gated.stop()
    gated.set(admission_control_enabled="true")
    fake.mode("hang at start")
    gated.start("--workers", "1")
    root.port = gated.port

    def is_completed():
        answer = root.get(f"/api/jobs/{ungated}")
        assert answer.status == 200, answer
        return answer.json["status"] == "completed"

    wait_until(is_completed, what="the job that is not gated", seconds=60)
