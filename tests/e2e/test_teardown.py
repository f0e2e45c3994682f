"""A teardown names one machine, and only its owner tears it down: on every cloud, in both spellings."""
import json
import urllib.parse

import pytest

from support.jobs import executor, wait_for
from support.wait import wait_until

CLOUDS = {
    "cloud1": {"also": "aws", "path": "instances", "deploy": "cloud1-vm-deploy", "destroy": "cloud1-vm-destroy",
               "ids": ("i-0aa1", "i-0bb2"), "places": ({"region": "us-east-1"}, {"region": "eu-west-1"}), "ask": "region=US-EAST-1"},
    "cloud2": {"also": "azure", "path": "vms", "deploy": "cloud2-vm-deploy", "destroy": "cloud2-vm-destroy",
               "ids": ("/subscriptions/s/vm/1", "/subscriptions/s/vm/2"), "places": ({"location": "East US"}, {"region": "westeurope"}),
               "ask": "region=East%20US"},
    "cloud3": {"also": "gcp", "path": "instances", "deploy": "cloud3-vm-deploy", "destroy": "cloud3-vm-destroy",
               "ids": ("projects/p/zones/a/instances/1", "projects/p/zones/b/instances/1"),
               "places": ({"zone": "us-central1-a"}, {"zone": "us-central1-b"}), "ask": "zone=us-central1-a"},
    "cloud4": {"also": "oci", "path": "instances", "deploy": "cloud4-compute-deploy", "destroy": "cloud4-compute-destroy",
               "ids": ("ocid1.instance.oc1..aaa", "ocid1.instance.oc1..bbb"),
               "places": ({"region": "us-ashburn-1"}, {"region": "uk-london-1"}), "ask": "region=us-ashburn-1"},
}


@pytest.fixture(params=CLOUDS)
def cloud(request):
    return {"name": request.param, **CLOUDS[request.param]}


@pytest.fixture
def teams(make_instance, cloud):
    """An instance with vera of the victim's workgroup, mallory of another one and bo of both; its executors tell ids by image."""
    one = make_instance(start=False)
    one.start("--workers", "1")
    executor(one, cloud["deploy"],
             """image=$(sed 's/.*"image":"\\([^"]*\\)".*/\\1/'); echo "{\\"resource_id\\": \\"$image\\"}\"""")
    for name, groups in {"vera": ["team-v"], "mallory": ["team-m"], "bo": ["team-v", "team-m"]}.items():
        one.add_user(name, workgroups=groups)
    return {"instance": one, **{name: one.login(name) for name in ("root", "vera", "mallory", "bo")}}


def stands(http, cloud, which, name="web-1", spelling=None):
    """A machine that is deployed in the cloud's first or second place, and its job."""
    body = {"name": name, "image": cloud["ids"][which], **cloud["places"][which]}
    made = http.post(f"/api/{spelling or cloud['name']}/deploy", body)
    assert made.status == 200, made
    job_id = made.json["job_id"]
    return wait_for(http, job_id, "completed")


def tear_down(http, cloud, target, query="", spelling=None):
    path = f"/api/{spelling or cloud['name']}/{cloud['path']}/{urllib.parse.quote(target, safe='')}"
    return http.delete(path + (f"?{query}" if query else ""))


def test_somebody_elses_machine_of_the_same_name_is_out_of_reach(teams, cloud):
    stands(teams["vera"], cloud, 0)
    stands(teams["mallory"], cloud, 1)
    audited = len(teams["root"].get("/api/audit").json["entries"])
    for spelling in (cloud["name"], cloud["also"]):
        for query in (cloud["ask"], "", "zone=nowhere-1-z" if cloud["name"] == "cloud3" else "region=nowhere-1"):
            refused = tear_down(teams["mallory"], cloud, "web-1", query, spelling)
            assert refused.status == 403 and "resource id" in refused.json["detail"], (query, refused)
        assert tear_down(teams["mallory"], cloud, cloud["ids"][0], "", spelling).status == 403
        for query in ("zone=nonsense%20x", "region=..%2Fetc"):
            nonsense = tear_down(teams["mallory"], cloud, "web-1", query, spelling)
            assert nonsense.status == 422 and nonsense.json["detail"][0]["loc"] == ["query", query.split("=")[0]], nonsense
    assert len(teams["root"].get("/api/audit").json["entries"]) == audited
    own = tear_down(teams["mallory"], cloud, cloud["ids"][1])
    assert own.status == 200, own
    assert teams["mallory"].get(f"/api/jobs/{own.json['job_id']}").json["resource_id"] == cloud["ids"][1]
    assert tear_down(teams["vera"], cloud, "web-1", cloud["ask"]).status == 200


def test_the_executor_gets_what_was_judged_and_recorded(teams, cloud):
    one, vera = teams["instance"], teams["vera"]
    first = stands(vera, cloud, 0)
    stands(vera, cloud, 1, spelling=cloud["also"])
    executor(one, cloud["destroy"], f"cat > {one.folder}/given.$$; mv {one.folder}/given.$$ {one.folder}/given")
    asked = tear_down(vera, cloud, "web-1", cloud["ask"])
    assert asked.status == 200, asked
    given = json.loads(wait_until(lambda: (one.folder / "given").exists() and (one.folder / "given").read_text(), what="the run"))
    shown = vera.get(f"/api/jobs/{asked.json['job_id']}").json
    assert given["resource_id"] == given["request"]["resource_id"] == given["parameters"]["resource_id"] == cloud["ids"][0]
    assert shown["resource_id"] == cloud["ids"][0] and shown["request"] == given["request"]
    assert given["region"] == shown["region"] == given["request"]["region"] == first["region"]
    assert given["zone"] == given["request"].get("zone") == first["request"].get("zone")
    assert given["parameters"]["deploy_job_id"] == first["id"]
    wait_until(lambda: vera.get(f"/api/jobs/{asked.json['job_id']}").json["status"] == "completed", what="its end")
    second = tear_down(vera, cloud, "web-1")
    assert vera.get(f"/api/jobs/{second.json['job_id']}").json["resource_id"] == cloud["ids"][1], "the other one stands on"


def test_several_machines_are_a_conflict_that_names_them(teams, cloud):
    stands(teams["vera"], cloud, 0)
    stands(teams["mallory"], cloud, 1)
    for http in (teams["root"], teams["bo"]):
        refused = tear_down(http, cloud, "web-1")
        assert refused.status == 409 and all(i in refused.json["detail"] for i in cloud["ids"]), refused
        assert tear_down(http, cloud, "web-1", cloud["ask"]).status == 200


def test_a_machine_that_no_deploy_made_is_for_admins_and_judged_as_asked(teams, cloud):
    teams["instance"].set(cloud1_region="eu-central-1", cloud3_zone="europe-west1-b")
    assert tear_down(teams["vera"], cloud, "stranger").status == 403
    for query, region, zone in (("", "", None), (cloud["ask"], None, None)):
        done = tear_down(teams["root"], cloud, "stranger", query)
        assert done.status == 200, done
        request = teams["root"].get(f"/api/jobs/{done.json['job_id']}").json["request"]
        assert request["has_deploy_job"] is False and request["workgroup"] is None
        if not query:
            assert request["region"] == "" and not request.get("zone")
        else:
            assert request["region"] == {"cloud1": "us-east-1", "cloud2": "eastus", "cloud3": "us-central1",
                                         "cloud4": "us-ashburn-1"}[cloud["name"]]
            assert request.get("zone") == ("us-central1-a" if cloud["name"] == "cloud3" else None)


def test_no_machine_is_named_like_a_resource_id(teams, cloud):
    for spelling in (cloud["name"], cloud["also"]):
        for name in (cloud["ids"][0], cloud["ids"][0].upper() if cloud["name"] != "cloud3" else cloud["ids"][0]):
            one = teams["mallory"].post(f"/api/{spelling}/deploy", {"name": name, "image": "i"})
            assert one.status == 422 and one.json["detail"][0]["loc"] == ["body", "name"], one
            bulk = teams["mallory"].post(f"/api/{spelling}/bulk-deploy", {"image": "i", "items": [{"name": name}]})
            assert bulk.status == 422 and bulk.json["detail"][0]["loc"] == ["body", "items", 0, "name"], bulk
    assert teams["mallory"].post(f"/api/{cloud['name']}/deploy", {"name": "i-web", "image": "i"}).status == 200


def test_a_second_teardown_does_not_run_on_a_newer_machine(teams, cloud):
    one, vera = teams["instance"], teams["vera"]
    stands(vera, cloud, 0)
    first = tear_down(vera, cloud, "web-1").json["job_id"]
    second = tear_down(vera, cloud, "web-1").json["job_id"]
    executor(one, cloud["destroy"], "echo gone")
    wait_until(lambda: vera.get(f"/api/jobs/{first}").json["status"] == "completed", what="the first")
    late = wait_until(lambda: (lambda j: j if j["status"] not in ("pending", "running") else None)(vera.get(f"/api/jobs/{second}").json),
                      what="the second")
    assert late["status"] == "cancelled" and late["reason"] == "already_removed", late
