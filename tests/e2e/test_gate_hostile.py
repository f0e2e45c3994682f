"""What nobody should send: odd bodies, paths and methods on the routes of the gate, the jobs and the windows. Never a 500, never a job."""
import http.client
import json

import pytest

from support.gate import ALL, DEPLOYS, MACHINE, ROUTES

DEPLOY_PATHS = [path for paths in DEPLOYS.values() for path in paths]
BULK_PATHS = [path.replace("/deploy", "/bulk-deploy") for path in DEPLOY_PATHS if path.endswith("/deploy")]


def raw(instance, method, path, body=None, headers=None):
    """The request as it stands: nothing is added or quoted."""
    connection = http.client.HTTPConnection("127.0.0.1", instance.port, timeout=30)
    try:
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.read(), dict(answer.getheaders())
    finally:
        connection.close()


@pytest.fixture
def gate(instance, root):
    instance.set(admission_control_enabled="true", admission_gated_actions=ALL, admission_allowed_regions="us-east-1")
    return instance, root, {"Authorization": f"Bearer {root.token}"}


def with_member(name, value):
    return json.dumps({**MACHINE, name: value}).encode()


ODD = [b"", b"null", b"[]", b'"x"', b"7", b"{", b"{}", b"\xff\xfe", b'{"name":NaN}', b'{"name":"web","image":"a","count":1e400}',
       b'{"name":"a","name":"b","image":"i"}', b'{"name":"\xff","image":"i"}', b'{"name":"\\ud800","image":"i"}',
       b'{"a":' * 70 + b"1" + b"}" * 70, b"name=web&image=a", b'{"name":"web","image":"a"} trailing',
       with_member("name", "a\0b"), with_member("name", "a\nb"), with_member("name", ["web"]), with_member("name", {"$ne": 1}),
       with_member("name", "x" * 2000), with_member("name", 7), with_member("region", True), with_member("region", "../../etc"),
       with_member("region", "us-east-1\0"), with_member("instance_type", 3), with_member("image", None), with_member("workgroup", 1),
       with_member("workgroup", "no-such-group"), with_member("run_at", 5), with_member("run_at", "yesterday"),
       with_member("run_at", "2020-01-01T00:00"), with_member("run_at", "2027-02-30T10:00"), with_member("change_window_id", "nothing"),
       with_member("change_window_id", ["a"])]


@pytest.mark.parametrize("path", DEPLOY_PATHS)
def test_an_odd_body_is_refused_before_the_gate(gate, path):
    instance, root, headers = gate
    for body in ODD:
        if path in ("/api/databases", "/api/k8s/clusters/provision") and b'"image": null' in body:
            continue  # these need no image
        status, content, _ = raw(instance, "POST", path, body, headers)
        assert status in (400, 422), (body[:80], status, content)
        assert "detail" in json.loads(content), body
    assert root.get("/api/jobs").json["total"] == 0
    assert [e for e in root.get("/api/audit?limit=500").json["entries"] if e["action"].endswith(":denied")] == []


@pytest.mark.parametrize("path", BULK_PATHS)
def test_an_odd_bulk_body_is_refused_before_the_gate(gate, path):
    instance, root, headers = gate
    for items in (None, [], {}, "x", [1], [[]], [None], [{}], [MACHINE] * 21, [{**MACHINE, "count": 2}], [{**MACHINE, "items": []}],
                  [MACHINE, {"name": "b"}], [MACHINE, {**MACHINE, "workgroup": "x"}]):
        status, content, _ = raw(instance, "POST", path, json.dumps({"items": items}).encode(), headers)
        assert status in (400, 422), (items, status, content)
    assert root.get("/api/jobs").json["total"] == 0


def test_a_count_is_a_small_whole_number(gate):
    instance, root, headers = gate
    for count in (0, -1, 21, 10**30, -10**30, 1.5, "2", True, [2]):
        status, content, _ = raw(instance, "POST", "/api/cloud1/deploy", with_member("count", count), headers)
        assert status == 422, (count, status, content)


def test_json_needs_no_content_type_and_a_form_is_none(gate):
    instance, _, headers = gate
    body = json.dumps({**MACHINE, "region": "us-east-1"}).encode()
    assert raw(instance, "POST", "/api/cloud1/deploy", body, headers)[0] == 200
    form = {**headers, "Content-Type": "application/x-www-form-urlencoded"}
    assert raw(instance, "POST", "/api/cloud1/deploy", b"name=web&image=a", form)[0] == 422


def test_methods_and_slashes(gate):
    instance, _, headers = gate
    for method, _, path in ROUTES:
        for other in ("GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE" if method == "POST" else "POST"):
            status, _, answer = raw(instance, other, path, b"" if other in ("PUT", "PATCH", "POST") else None, headers)
            assert status == 405 and method in answer["Allow"], (other, path, status)
    status, _, answer = raw(instance, "POST", "/api/cloud1/deploy/", b"{}", headers)
    assert status == 307 and answer["Location"].endswith("/api/cloud1/deploy"), (status, answer)
    for path in ("/api/cloud1//deploy", "/api//cloud1/deploy", "/API/cloud1/deploy", "/api/cloud5/deploy"):
        assert raw(instance, "POST", path, b"{}", headers)[0] == 404, path


def test_an_ocid_may_hold_slashes_in_either_form(gate):
    instance, root, _ = gate
    names = set()
    for path in ("/api/cloud4/instances/ocid1.instance/a/b", "/api/oci/instances/ocid1.instance%2Fa%2Fb",
                 "/api/cloud4/instances/ocid1.instance%2fa/b"):
        answer = root.delete(path)
        assert answer.status == 200, (path, answer)
        names.add(root.get(f"/api/jobs/{answer.json['job_id']}").json["name"])
    assert names == {"ocid1.instance/a/b"}


@pytest.mark.parametrize("tail", ["..", "%2e%2e", "a/../b", "%00", "a%00b", "%ff", "a%0ab", "x" * 600, "%zz", "a\\b"])
def test_no_teardown_of_what_is_no_name(gate, tail):
    instance, root, headers = gate
    for prefix in ("/api/cloud1/instances/", "/api/cloud2/vms/", "/api/cloud4/instances/"):
        status, content, _ = raw(instance, "DELETE", prefix + tail, None, headers)
        assert status in (400, 404), (prefix, status, content)
    assert root.get("/api/jobs").json["total"] == 0


@pytest.mark.parametrize("size", ["p4d.24xlarge\u200b", "p4d. 24xlarge", "\u0440" + "4d.24xlarge", "p4d.24xlarge\uff0e", "\u017ftandard"])
def test_a_look_alike_of_a_blocked_size_is_no_size(gate, size):
    instance, root, _ = gate
    instance.set(admission_denied_instance_types="p4d.24xlarge, standard")
    assert root.post("/api/cloud1/deploy", {**MACHINE, "instance_type": size}).status == 400
    assert root.post("/api/databases", {"name": "d", "engine": "postgres", "tier": size}).status == 400
    assert root.get("/api/jobs").json["total"] == 0


def test_odd_questions_about_jobs(gate):
    instance, root, headers = gate
    job_id = root.post("/api/cloud1/deploy", {**MACHINE, "region": "us-east-1"}).json["job_id"]
    for query, status in (("page=1000000000&page_size=100", 200), ("page=9223372036854775807", 422), ("page=-1", 422), ("page_size=101", 422),
                          ("page=99999999999999999999", 422), ("page=1e400", 422), ("status=,,pending,", 200), ("status=%00", 400), ("status=%ff", 400),
                          ("workgroup=%27%20OR%201=1", 200), ("batch_id=%25", 200), ("status=queued", 200)):
        assert raw(instance, "GET", f"/api/jobs?{query}", None, headers)[0] == status, query
    for path in (f"/api/jobs/{job_id}%2F", "/api/jobs/%27", "/api/jobs/" + "x" * 3000, "/api/jobs/batches"):
        assert raw(instance, "GET", path, None, headers)[0] == 404, path
    assert raw(instance, "GET", "/api/jobs/%ff", None, headers)[0] == 400
    assert root.get(f"/api/jobs/{job_id}/logs?after=-9223372036854775808").json == {"logs": []}
    for body in (b"[]", b"{", b'{"run_at":1}', b'{"change_window_id":{}}'):
        assert raw(instance, "POST", f"/api/jobs/{job_id}/reschedule", body, headers)[0] == 422, body
        assert raw(instance, "POST", f"/api/jobs/{job_id}/reject", body, headers)[0] in (403, 422), body
    assert root.get(f"/api/jobs/{job_id}").json["status"] == "pending"


def test_odd_questions_to_the_gate(gate):
    instance, _, headers = gate
    for body in (b"", b"[]", b"{}", b'{"action":7}', b'{"action":"x","request":[]}', b'{"action":"x","request":"y"}',
                 b'{"action":"x","at":5}', b'{"action":"x","when":"yes"}', b'{"action":"x","action":"y"}'):
        assert raw(instance, "POST", "/api/admission/check", body, headers)[0] == 422, body
    assert raw(instance, "POST", "/api/admission/check", b'{"action":"x","at":"never"}', headers)[0] == 400
    for request in ({"region": None}, {"region": 5}, {"region": {"a": [1]}}, {"region": "\0"}, {"region": "\U0001f600"}, {"name": "x" * 9000},
                    {"instance_type": []}, {"typed": {"region": "us-east-1"}}, {"zone": 7}, {"region": 1e308}):
        body = json.dumps({"action": "cloud1:vm:deploy", "request": request}).encode()
        status, content, _ = raw(instance, "POST", "/api/admission/check", body, headers)
        assert status == 200, (request, content)
        if "region" in request:
            assert json.loads(content)["verdict"] == "deny", request


def test_odd_windows(gate):
    instance, root, headers = gate
    good = {"name": "nights", "start_at_local": "02:00", "duration_minutes": 60}
    for more in ({"name": ""}, {"name": 7}, {"name": "x" * 101}, {"start_at_local": "2:00"}, {"start_at_local": None}, {"start_at_local": "24:00"},
                 {"duration_minutes": 0}, {"duration_minutes": 10**18}, {"duration_minutes": 1.5}, {"duration_minutes": "60"},
                 {"timezone": "localtime"}, {"timezone": "../../etc/passwd"}, {"timezone": 1}, {"schedule_days": "0000000"},
                 {"schedule_days": "11111111"}, {"enabled": "yes"}, {"name": "a\0b"}):
        status, content, _ = raw(instance, "POST", "/api/change-windows", json.dumps({**good, **more}).encode(), headers)
        assert status in (400, 422), (more, status, content)
    assert root.get("/api/change-windows").json["windows"] == []


def test_a_token_passes_the_gate_as_its_owner_and_not_the_setup(gate):
    instance, _, _ = gate
    instance.add_user("alice", workgroups=["team-a"])
    headers = {"Authorization": f"Bearer {instance.token('alice')}"}
    good = {**MACHINE, "region": "us-east-1"}
    assert raw(instance, "POST", "/api/cloud1/deploy", json.dumps({**good, "workgroup": "team-a"}).encode(), headers)[0] == 200
    assert raw(instance, "POST", "/api/cloud1/deploy", json.dumps({**good, "workgroup": "team-b"}).encode(), headers)[0] in (400, 403)
    assert raw(instance, "DELETE", "/api/cloud1/instances/i-1", None, headers)[0] == 403
    assert raw(instance, "GET", "/api/setup/feature/admission_control", None, headers)[0] == 401
    for odd in ("Bearer ", "Bearer dash_", "Bearer x.y.z", "Basic YTpi", "bearer", "Bearer " + "a" * 5000):
        assert raw(instance, "POST", "/api/cloud1/deploy", b"{}", {"Authorization": odd})[0] == 401, odd
