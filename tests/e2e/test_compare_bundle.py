"""POST /api/setup/compare with a whole bundle: four categories, and no value."""
import json

from support.databases import rows
from support.http_client import Http


def bundle(**config):
    return {"config": config, "regions": {}, "excluded": {}, "annotations": {}}


def compare(client, content, **more):
    return client.post("/api/setup/compare", {"bundle": content, **more})


def test_every_key_has_its_category_and_no_value_is_shown(instance, root):
    instance.set(epml_pat="the secret here", cloud2_tenant_id="tenant", demo="kept")
    instance.set(**{"cloud1_region.us-east-1.vpc_id": "vpc-1"})
    mine = bundle(cloud2_tenant_id="tenant", epml_pat="another secret", cloud1_access_key_id="AKIANEW", demo="")
    mine["regions"] = {"cloud1": {"us-east-1": {"vpc_id": "vpc-2", "subnet_id": "s-1"}}}
    answer = compare(root, mine)
    assert answer.status == 200, answer
    found = answer.json
    rows = {entry["key"]: entry for entry in found["entries"]}
    assert {key: row["category"] for key, row in rows.items()} == {
        "cloud2_tenant_id": "SAME", "epml_pat": "CHANGE", "cloud1_access_key_id": "ADD",
        "cloud1_region.us-east-1.vpc_id": "CHANGE", "cloud1_region.us-east-1.subnet_id": "ADD"}
    assert found["counts"] == {"ADD": 2, "CHANGE": 2, "UNKNOWN": 0, "SAME": 1} and found["kept"] == ["demo"]
    assert rows["epml_pat"]["chars"] == len("another secret") and len(rows["epml_pat"]["fingerprint"]) == 8
    for value in ("another secret", "the secret here", "AKIANEW", "vpc-2"):
        assert value not in answer.text
    entry = root.get("/api/audit?limit=1").json["entries"][0]
    assert (entry["action"], entry["username"], entry["details"]) == ("config.compare", "root", {"keys": 6})
    # Nothing was written.
    assert root.get("/api/setup/config").json["demo"] == "kept" and "cloud1_access_key_id" not in root.get("/api/setup/config").json
    assert {e["key"] for e in compare(root, mine, only=["cloud1_"]).json["entries"]} == {
        "cloud1_access_key_id", "cloud1_region.us-east-1.vpc_id", "cloud1_region.us-east-1.subnet_id"}


def test_it_agrees_with_the_command(filled):
    path = filled.export()
    content = json.loads(path.read_text())
    target = filled.target.login("root")
    assert target.put("/api/setup/config", {"some_new_setting": "other", "cloud2_tenant_id": "tenant"}).status == 200
    printed = json.loads(filled.diff(path, "--output", "json").out)
    answered = compare(target, content).json
    assert answered["counts"] == printed["counts"] and answered["entries"] == printed["entries"]
    assert {row["category"] for row in answered["entries"]} == {"ADD", "CHANGE", "SAME"}


def test_a_setting_that_this_instance_cannot_open_is_unknown(instance, root):
    instance.set(epml_pat="hidden", demo="1")
    rows(instance, "UPDATE config SET value = ? WHERE key = 'epml_pat'", b"\0")
    found = compare(root, bundle(epml_pat="hidden", demo="1")).json
    assert {entry["key"]: entry["category"] for entry in found["entries"]} == {"epml_pat": "UNKNOWN", "demo": "SAME"}


def test_what_is_no_bundle_is_refused_and_only_an_admins_session_compares(instance, root):
    for content in ([], {"config": []}, {"schema": 99, **bundle(demo="1")}, bundle(), {"sealed": "x"}):
        assert compare(root, content).status == 422, content
    assert compare(root, bundle(demo="1"), regions="mix").status == 422
    assert compare(root, bundle(demo="1"), only="demo").status == 422
    instance.add_user("eve")
    assert compare(instance.login("eve"), bundle(demo="1")).status == 403
    assert compare(Http(instance.port, instance.token("root")), bundle(demo="1")).status == 401
    assert compare(instance.anonymous, bundle(demo="1")).status == 401
