"""Every member of any body that names an asset passes the one scope function: whoever may not use an asset gets the answer of
one that does not exist. A route with a body that is in none of the lists below fails the first test, so that none is forgotten."""

import pytest

from support.program import ROOT
from support.storage import b64, people, scope, upload

SCOPED, ABSENT = "scoped.yml", "absent.yml"
MACHINE = {"region": "eu-west-1", "instance_type": "t3.large", "image": "ami-1", "name": "web"}
AFTER = {"host_output": "address"}
ITEM = "/api/storage/bulk-delete"


def run(name):
    return {"asset": name, "hosts": ["box"], "project": "shop"}


def deploy(name):
    return {**MACHINE, "post_deploy": [{"asset": name, **AFTER}]}


def deploys(name):
    return {"items": [deploy(name)], "instances": [deploy(name)]}


# member: (method, path, body that names an asset by it)
READS = {
    "config-mgmt/run asset": ("POST", "/api/config-mgmt/run", run),
    "config-mgmt/run-bulk asset": ("POST", "/api/config-mgmt/run-bulk",
                                   lambda name: {"asset": name, "inventory_ids": ["box"]}),
    "config-mgmt/compose-deploy asset": ("POST", "/api/config-mgmt/compose-deploy", run),
    "storage/bulk-delete items[].name": ("POST", ITEM, lambda name: {"items": [{"backend": "obj_cloud1", "name": name}]}),
}
# Only admins may, so that the answer does not depend on the asset at all.
FOR_ADMINS = {
    "storage/scope name": ("PUT", "/api/storage/scope", lambda name: {"name": name, "workgroup": None}),
    "storage/move name": ("POST", "/api/storage/move",
                          lambda name: {"name": name, "from_backend": "obj_cloud1", "to_backend": "local"}),
}
# They name what is to be replaced: the name is taken, which is 409.
REPLACES = {
    "storage/upload filename": ("POST", "/api/storage/upload", lambda name: {"filename": name, "content_b64": b64(b"x: 1\n")}),
    "config-mgmt/upload filename": ("POST", "/api/config-mgmt/upload",
                                    lambda name: {"filename": name, "content_b64": b64(b"x: 1\n")}),
    "storage/upload/begin filename": ("POST", "/api/storage/upload/begin", lambda name: {"filename": name, "size": 5}),
}
CLOUDS = ["cloud1", "cloud2", "cloud3", "cloud4", "aws", "azure", "gcp", "oci"]
DEPLOYS = {("POST", f"/api/{cloud}/{kind}") for cloud in CLOUDS for kind in ("deploy", "bulk-deploy")}
DEPLOYS |= {("POST", "/api/databases"), ("POST", "/api/k8s/clusters/provision")}  # post_deploy[].asset
# The handle of an open upload names its asset; it is sealed, and its holder was checked when it was made.
BY_HANDLE = {("PUT", "/api/storage/upload/part/{n}"), ("POST", "/api/storage/upload/commit"), ("POST", "/api/storage/upload/abort")}
# Backends, images, hosts, settings, accounts, jobs, windows: no asset.
WITHOUT = ("/api/setup/", "/api/auth/", "/api/users", "/api/tokens", "/api/admission/", "/api/secrets/", "/api/hosts",
           "/api/notifications/", "/api/jobs/", "/api/change-windows", "/api/workgroups", "/api/storage/config",
           "/api/storage/test", "/api/storage/migrate", "/api/storage/verify", "/api/storage/gc", "/api/images", "/api/agent")


def routes_with_a_body(http):
    paths = http.get("/api/openapi.json").json["paths"]
    return {(method.upper(), path) for path, item in paths.items() for method in item if "requestBody" in item[method]}


def test_every_route_with_a_body_is_in_one_of_the_lists(make_instance):
    named = {(method, path) for method, path, _ in [*READS.values(), *FOR_ADMINS.values(), *REPLACES.values()]}
    named |= DEPLOYS | BY_HANDLE
    served = routes_with_a_body(make_instance().login("root"))
    assert named <= served, named - served
    forgotten = {route for route in served - named if not route[1].startswith(WITHOUT)}
    assert not forgotten, forgotten


def test_one_file_reads_the_scopes():
    readers = {str(path.relative_to(ROOT)) for path in (ROOT / "core").rglob("*.cpp")
               if "asset_scopes" in path.read_text(encoding="utf-8")}
    # The other only counts those of a workgroup that is to go.
    assert readers == {"core/storage/assets/scope.cpp", "core/windows/workgroups.cpp"}


@pytest.fixture
def actors(make_instance, bucket):
    who = people(make_instance(start=False), {**bucket.settings, "ansible_enabled": "1"})
    assert upload(who.root, SCOPED, b"hello: world\n").status == 201
    assert scope(who.root, SCOPED, "web").status == 200
    return who


def ask(http, row, name):
    method, path, body = row
    return http.request(method, path, body=body(name))


def test_an_asset_of_another_workgroup_is_as_absent_as_one_that_does_not_exist(actors):
    for member, row in READS.items():
        there, absent = ask(actors.bob, row, SCOPED), ask(actors.bob, row, ABSENT)
        if row[1] == ITEM:
            assert there.json["deleted"] == [] and "not found" in there.json["failed"][0]["error"], (member, there)
        else:
            assert there.status == 404 and f"Asset '{SCOPED}' not found" in there.text, (member, there)
        assert (there.status, there.text.replace(SCOPED, ABSENT)) == (absent.status, absent.text), member
    assert actors.ann.get(f"/api/storage/fetch?name={SCOPED}").status == 200


def test_a_member_of_its_workgroup_passes_the_same_check(actors):
    for member, row in READS.items():
        if row[1] != ITEM:
            answer = ask(actors.ann, row, SCOPED)
            assert "Asset" not in answer.text, (member, answer)


def test_a_name_that_is_taken_by_another_workgroup_cannot_be_replaced(actors):
    for member, row in REPLACES.items():
        assert ask(actors.bob, row, SCOPED).status == 409, member
        assert ask(actors.bob, row, ABSENT).status == 201, member
        actors.root.delete(f"/api/storage/asset/{ABSENT}")


def test_what_only_admins_may_do_tells_nothing_of_an_asset(actors):
    for member, row in FOR_ADMINS.items():
        there, absent = ask(actors.bob, row, SCOPED), ask(actors.bob, row, ABSENT)
        assert there.status == absent.status == 403 and there.body == absent.body, member


def test_a_run_after_a_deploy_names_its_asset_by_the_same_rule(actors):
    for method, path in sorted(DEPLOYS):
        body = deploys if path.endswith("bulk-deploy") else deploy
        there, absent = (actors.bob.request(method, path, body=body(name)) for name in (SCOPED, ABSENT))
        assert there.status == 404 and f"Asset '{SCOPED}' not found" in there.text, (path, there)
        assert (there.status, there.text.replace(SCOPED, ABSENT)) == (absent.status, absent.text), path
