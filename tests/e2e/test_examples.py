"""The examples of the description are bodies that an instance takes."""

import pytest

from support.gate import ALL

POSTED = ["/api/tokens", "/api/notifications/endpoints", "/api/change-windows", "/api/workgroups", "/api/cloud1/deploy", "/api/cloud3/deploy",
          "/api/cloud1/bulk-deploy", "/api/databases", "/api/k8s/clusters/provision", "/api/storage/upload", "/api/config-mgmt/upload",
          "/api/storage/upload/begin", "/api/images/upload/begin", "/api/storage/bulk-delete"]


def resolved(description, node):
    while "$ref" in node:
        target = description
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node


@pytest.fixture
def description(instance, root, bucket):
    instance.set(**bucket.settings, admission_control_enabled="true", admission_gated_actions=ALL)
    return root.get("/api/openapi.json").json


@pytest.mark.parametrize("path", POSTED)
def test_an_example_is_taken(description, root, path):
    if path != "/api/workgroups":
        assert root.post("/api/workgroups", {"name": "team-a"}).status == 201
    body = resolved(description, description["paths"][path]["post"]["requestBody"])["content"]["application/json"]
    taken = root.post(path, body["example"])
    assert 200 <= taken.status < 300, (body["example"], taken)
