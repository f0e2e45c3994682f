"""Two workgroups with machines of one name: nobody tears down what is not his, whatever he writes into the query."""
import itertools
import json
import urllib.parse

import pytest

from support.jobs import executor, wait_for
from support.wait import wait_until

pytestmark = pytest.mark.attack
CLOUDS = {"cloud1": ("instances", "cloud1-vm"), "cloud2": ("vms", "cloud2-vm"), "cloud3": ("instances", "cloud3-vm"),
          "cloud4": ("instances", "cloud4-compute")}
RESOURCE = {"cloud1": "i-00000000000000a{}", "cloud2": "web-{}", "cloud3": "web-{}", "cloud4": "ocid1.instance.oc1..a{}"}
ZONES = ["", "us-central1-a", "us-central1-b", "US-CENTRAL1-A ", "nonsense x", "us-east1-b", "%00", "a" * 300]


def deploy(instance, http, cloud, workgroup, zone, resource):
    executor(instance, CLOUDS[cloud][1] + "-deploy", f"""cat >/dev/null; echo '{{"resource_id": "{resource}"}}'""")
    body = {"name": "web-1", "image": "img", "workgroup": workgroup}
    body |= {"zone": zone} if cloud == "cloud3" else {"region": zone.rsplit("-", 1)[0]}
    answer = http.post(f"/api/{cloud}/deploy", body)
    assert answer.status == 200, answer
    done = wait_for(http, answer.json["job_id"], "completed", "failed")
    assert done["status"] == "completed" and done["resource_id"] == resource, done


@pytest.mark.parametrize("cloud", CLOUDS)
def test_nobody_tears_down_the_machine_of_another_workgroup(make_instance, scratch, database, cloud):
    instance = make_instance(start=False, env=database)
    instance.add_user("ann", workgroups=["web"])
    instance.add_user("bob", workgroups=["data"])
    instance.start()
    ann, bob = instance.login("ann"), instance.login("bob")
    hers, his = RESOURCE[cloud].format(1), RESOURCE[cloud].format(2)
    deploy(instance, ann, cloud, "web", "us-central1-a", hers)
    deploy(instance, bob, cloud, "data", "us-central1-b", his)
    torn = scratch / "torn"
    executor(instance, CLOUDS[cloud][1] + "-destroy", f"cat >>{torn}; echo >>{torn}")
    path = f"/api/{cloud}/{CLOUDS[cloud][0]}/"
    admitted = []
    for target, zone, member in itertools.product(["web-1", hers], ZONES, ["zone", "region"]):
        query = f"?{member}=" + (zone if zone == "%00" else urllib.parse.quote(zone))
        answer = bob.delete(path + urllib.parse.quote(target) + query)
        # A NUL ends in the parser of the target, before any route.
        assert answer.status in ((400,) if zone == "%00" else (200, 403, 409, 422)), (target, query, answer)
        if answer.status == 200:
            admitted.append((target, query, answer.json["job_id"]))
    wait_until(lambda: all(bob.get(f"/api/jobs/{job}").json["status"] in ("completed", "failed") for *_, job in admitted),
               what="the teardowns")
    documents = [json.loads(line) for line in torn.read_text().splitlines() if line] if torn.exists() else []
    for document in documents:
        assert hers not in json.dumps(document), document
    assert ann.delete(path + urllib.parse.quote(hers)).status == 200, "its own workgroup still may"
