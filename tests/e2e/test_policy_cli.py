"""dashctl policy from outside: check, lint, test, when, diff, against a folder and against an instance."""
import json

import pytest

from support.engine import engine_binary
from support.program import run

REQUEST = {"region": "eu-west-1", "instance_type": "t3.medium", "image": "ami-1", "name": "web"}


@pytest.fixture
def env():
    return {"POLICY_BINARY": engine_binary()}


@pytest.fixture
def rules(scratch):
    folder = scratch / "rules"
    folder.mkdir()
    return folder


@pytest.fixture
def policy(env):
    def call(action, *args, request=None, **kw):
        stdin = json.dumps(request) if request is not None else None
        extra = ["--input", "-"] if request is not None else []
        return run("policy", action, *args, *extra, stdin=stdin, env=env, **kw)

    return call


@pytest.mark.parametrize("action", ["cloud1:vm:deploy", "aws:ec2:deploy"])
def test_check_prints_verdict_reason_rule_and_place_and_exits_3(policy, rules, action):
    done = policy("check", "--policy-dir", rules, "--action", action, "--set", "admission_allowed_regions=us-east-1",
                  request=REQUEST)
    assert done.code == 3, done
    assert done.out.splitlines()[0] == "deny  cloud1:vm:deploy"
    assert 'reason: region "eu-west-1" is not in the allowed list ["us-east-1"]' in done.out
    assert "rule: allowed_regions  builtin/allowed_regions.rego:5" in done.out


def test_check_names_the_heads_that_fired(policy, rules):
    (rules / "many.rego").write_text("""package admission.many

deny contains "never" if input.request.name == "nobody"

deny contains msg if {
	input.request.name == "web"
	msg := "second"
}

needs_approval contains "never" if input.request.name == "nobody"

needs_approval contains "third" if startswith(input.request.name, "w")
""")
    ask = ("check", "--policy-dir", rules, "--action", "cloud1:vm:deploy", "--set", "admission_allowed_regions=us-east-1")
    done = policy(*ask, request=REQUEST)
    assert done.code == 3, done
    assert [line.strip() for line in done.out.splitlines() if "rule:" in line] == [
        "rule: allowed_regions  builtin/allowed_regions.rego:5", "rule: many  many.rego:5", "rule: many  many.rego:12"]


def test_check_admits_needs_approval_and_refuses_when_broken(policy, rules):
    ask = ("check", "--policy-dir", rules, "--action", "cloud1:vm:deploy")
    assert policy(*ask, request=REQUEST).code == 0
    (rules / "big.rego").write_text('package admission.big\n\nneeds_approval contains "big"\n')
    done = policy(*ask, request=REQUEST)
    assert (done.code, "approval: big" in done.out) == (4, True), done
    (rules / "big.rego").write_text("package admission.big\n\nneeds_approval contains {\n")
    done = policy(*ask, request=REQUEST)
    assert done.code == 10 and "big.rego:" in done.err, done
    assert policy(*ask, "--set", "admission_prod_window=caturday", request=REQUEST).code == 10


def test_check_gives_one_json_document_also_when_denied(policy, rules):
    done = policy("check", "--policy-dir", rules, "--action", "k8s:provision", "--output", "json", "--set",
                  'admission_prod_window=["sat"]', "--at", "2026-07-04T10:00:00Z", request=REQUEST)
    assert done.code == 3
    assert done.json["verdict"] == "deny" and done.json["error"]["code"] == "policy_denied"
    assert done.json["reasons"] == ['k8s:provision is frozen on sat (change-freeze window ["sat"])']
    assert done.json["rules"][0]["id"] == "prod_window"


def test_check_takes_a_whole_input_document(policy, rules):
    document = {"action": "cloud1:vm:deploy", "actor": {"username": "eve", "is_admin": True}, "request": REQUEST,
                "limits": {"allowed_regions": ["us-east-1"], "denied_instance_types": [], "prod_window": []},
                "now": {"iso": "2026-07-03T14:00:00Z", "weekday": "fri", "hour": 14}}
    done = policy("check", "--policy-dir", rules, "--output", "json", request=document)
    assert done.code == 3
    assert done.json["input"] == document


@pytest.mark.parametrize("odd, said", [
    ({"action": 5}, "action of the input is no string"), ({"actor": "eve"}, "actor of the input is no object"),
    ({"actor": {"username": 5}}, "username of the input is no string"), ({"actor": {"is_admin": "yes"}}, "is_admin of the input is no boolean"),
    ({"now": 5}, "now of the input is no object"), ({"now": {"iso": 5}}, "iso of the input is no string"),
    ({"limits": ["us-east-1"]}, "limits of the input is no object"), ({"limits": {"allowed_regions": "us-east-1"}}, "no list of strings")])
def test_an_input_document_is_judged_as_it_is_or_not_at_all(policy, rules, odd, said):
    for verb in ("check", "when"):
        done = policy(verb, "--policy-dir", rules, "--action", "cloud1:vm:deploy", request={"request": REQUEST, **odd})
        assert done.code == 2 and said in done.err, done


def test_a_missing_engine_or_folder_is_exit_10(rules, scratch):
    ask = ("policy", "check", "--policy-dir", rules, "--action", "k8s:provision")
    done = run(*ask, env={"POLICY_BINARY": "/no/such/engine"})
    assert done.code == 10 and "POLICY_BINARY" in done.err, done
    done = run("policy", "check", "--policy-dir", scratch / "nothing", "--action", "k8s:provision")
    assert done.code == 10 and "cannot be read" in done.err, done


def test_usage_errors_are_exit_2(policy, rules):
    assert policy("check", "--policy-dir", rules).code == 2
    assert policy("check", "--policy-dir", rules, "--action", "k8s:provision", "--set", "nonsense").code == 2
    assert policy("check", "--policy-dir", rules, "--action", "k8s:provision", "--set", "admission_regions=x").code == 2
    for verb in ("check", "when"):
        done = policy(verb, "--policy-dir", rules, "--action", "cloud1:vm:deplyo")
        assert done.code == 2 and "cloud1:vm:deploy, " in done.err, done
    assert policy("check", "--policy-dir", rules, "--action", "gcp:gce:destroy").code == 0
    assert policy("check", "--policy-dir", rules, "--action", "k8s:delete").code == 0


def test_lint_names_file_line_and_fix(policy, rules):
    assert policy("lint", "--policy-dir", rules).code == 10  # an empty folder
    (rules / "fine.rego").write_text('package admission.fine\n\ndeny contains "no" if input.request.region == "mars"\n')
    assert policy("lint", "--policy-dir", rules).code == 0
    (rules / "x.rego").write_text('package admission.x\n\ndeney contains "no" if input.request.regoin == "mars"\n')
    done = policy("lint", "--policy-dir", rules)
    assert done.code == 10
    assert "x.rego:3: error: deney" in done.out and "did you mean deny?" in done.out
    assert "did you mean input.request.region?" in done.out
    done = policy("lint", "--policy-dir", rules, "--output", "json", "--set", "admission_gated_actions=aws:ec2:deplyo")
    codes = {f["code"] for f in done.json["findings"]}
    assert codes == {"deny_misspelt", "field_misspelt", "action_unknown"}


def test_test_runs_the_folders_and_the_built_in_tests(policy, rules, env):
    assert run("policy", "test", "--policy-dir", rules, env={**env, "DASHCTL_TARGET": "http://127.0.0.1:1"}).code == 0
    assert "--target" not in policy("test", "--help").out and policy("test", "--target", "http://127.0.0.1:1").code == 2
    (rules / "x.rego").write_text('package admission.x\n\ndeny contains "no" if input.action == "a"\n')
    (rules / "x_test.rego").write_text(
        'package admission.x_test\n\nimport data.admission.x\n\ntest_wrong if x.deny == {"no"} with input as {}\n')
    done = policy("test", "--policy-dir", rules)
    assert done.code == 1 and "FAIL  x_test.rego:5  test_wrong" in done.out, done


def test_when_tells_the_end_of_a_freeze(policy, rules):
    ask = ("when", "--policy-dir", rules, "--action", "k8s:provision", "--at", "2026-07-04T10:20:00Z")
    done = policy(*ask, "--set", "admission_prod_window=sat,sun", request=REQUEST)
    assert (done.code, done.out) == (0, "2026-07-06T00:00:00Z  allow\n"), done
    done = policy(*ask, "--set", "admission_allowed_regions=us-east-1", request=REQUEST)
    assert done.code == 3 and "eu-west-1" in done.out, done


def test_diff_lists_verdicts_that_change(policy, rules, scratch):
    new = scratch / "new"
    new.mkdir()
    (rules / "r.rego").write_text('package admission.r\n\ndeny contains "x" if input.request.region == "mars-1"\n')
    (new / "r.rego").write_text('package admission.r\n\ndeny contains "x" if input.request.region == "moon-1"\n')
    done = policy("diff", rules, new, "--output", "json")
    assert done.code == 0
    turned = {c["input"]["request"]["region"]: (c["old"]["verdict"], c["new"]["verdict"])
              for c in done.json["changes"] if c["old"]["verdict"] != c["new"]["verdict"]}
    assert turned == {"mars-1": ("deny", "allow"), "moon-1": ("allow", "deny")}
    assert policy("diff", rules, new, "--exit-code").code == 6
    assert policy("diff", rules, rules, "--exit-code").code == 0


def test_an_instance_answers_as_the_folder_does(make_instance, env):
    instance = make_instance(env=env)
    root = instance.login("root")
    instance.set(admission_control_enabled="true", admission_gated_actions="aws:ec2:deploy",
                 admission_allowed_regions="us-east-1")
    body = {"action": "aws:ec2:deploy", "request": REQUEST}
    answer = root.post("/api/admission/check", body)
    assert answer.status == 200, answer
    assert answer.json["verdict"] == "deny" and answer.json["rules"][0]["id"] == "allowed_regions"
    assert root.post("/api/admission/check", {"action": "k8s:provision"}).json["gated"] is False
    assert root.post("/api/admission/check", {"request": {}}).status == 422
    assert root.post("/api/admission/check", {"action": "cloud1:vm:deplyo"}).status == 422
    assert instance.anonymous.post("/api/admission/check", body).status == 401
    token = instance.folder / "token"
    token.write_text(instance.token("root"))
    for flags in (["--target", instance.url, "--token-file", token], ["--data-dir", instance.folder]):
        done = run("policy", "check", *flags, "--action", "aws:ec2:deploy", "--input", "-", stdin=json.dumps(REQUEST), env=env)
        assert done.code == 3 and "eu-west-1" in done.out, done


def test_settings_lists_rules_and_their_problems(make_instance, env):
    instance = make_instance(env=env)
    root = instance.login("root")
    answer = root.get("/api/settings/admission").json
    assert {r["rule"]: r["evaluates"] for r in answer["rules"]} == {
        "allowed_regions": True, "instance_size_caps": True, "prod_window": True}
    folder = instance.folder / "policy"
    (folder / "a.rego").write_text('package admission.b\n\ndeny contains "no"\n')
    answer = root.get("/api/settings/admission").json
    row = next(r for r in answer["rules"] if r["file"] == "a.rego")
    assert row["evaluates"] is False and row["package"] == "admission.b"
    assert any(p["code"] == "name_mismatch" and p["file"] == "a.rego" for p in answer["problems"])
    (folder / "a.rego").write_text("package admission.a\n\ndeny contains {\n")
    answer = root.get("/api/settings/admission").json
    assert answer["fault"]["file"] == "a.rego" and answer["engine"]["available"] is False
    assert not any(r["evaluates"] for r in answer["rules"])
    (folder / "a.rego").unlink()
    assert root.get("/api/settings/admission").json["fault"] is None
    instance.add_user("alice")
    assert instance.login("alice").get("/api/settings/admission").status == 403
