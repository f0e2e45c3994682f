"""The examples of the description are bodies that fit it, and that an instance takes."""
from pathlib import Path

import jsonschema
import pytest
import yaml

from support.agents import enrolled
from support.gate import ALL

DESCRIPTION = yaml.safe_load((Path(__file__).parents[2] / "daemon/openapi.yaml").read_text(encoding="utf-8"))
# What these name must be there first, and so must what a path with a parameter names.
NAMES_SOMETHING = ["/api/setup/rollback", "/api/agent/enroll", "/api/agent/lease", "/api/storage/move", "/api/storage/scope", "/api/images",
                   *(f"/api/{area}/upload/{step}" for area in ("storage", "images") for step in ("commit", "abort")),
                   "/api/config-mgmt/run", "/api/config-mgmt/run-bulk", "/api/config-mgmt/compose-deploy"]


def resolved(node):
    while "$ref" in node:
        target = DESCRIPTION
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node


def json_bodies():
    """The JSON body of each operation that has one, by method and path."""
    found = {}
    for path, item in DESCRIPTION["paths"].items():
        for method in item.keys() & {"put", "post", "patch", "delete"}:
            content = resolved(item[method].get("requestBody", {"content": {}}))["content"]
            if "application/json" in content:
                found[method.upper(), path] = content["application/json"]
    return found


BODIES = json_bodies()
SENT = sorted(operation for operation in BODIES if "{" not in operation[1] and operation[1] not in NAMES_SOMETHING)


MADE = sorted(operation for operation in BODIES if ("POST", operation[1].rsplit("/{", 1)[0]) in SENT and operation[1].endswith("}"))
REST = sorted(BODIES.keys() - {*SENT, *MADE})


@pytest.fixture
def ready(instance, root, bucket):
    assets = instance.folder.with_name("assets")
    assets.mkdir()
    instance.set(**bucket.settings, storage_local_path=str(assets), remote_agents_enabled="true", admission_control_enabled="true",
                 admission_gated_actions=ALL)
    return root


def send(http, method, pattern, path=None):
    """The answer to the example, once the workgroup that examples name is there."""
    if pattern != "/api/workgroups":
        assert http.post("/api/workgroups", {"name": "team-a"}).status in (201, 409)
    return http.request(method, path or pattern, BODIES[method, pattern]["example"])


def test_every_json_body_has_an_example_that_fits_its_schema():
    assert len(BODIES) > 60 and {path for _, path in BODIES} >= set(NAMES_SOMETHING)
    for operation, body in BODIES.items():
        assert "example" in body, operation
        schema = {**body["schema"], "components": DESCRIPTION["components"]}
        errors = list(jsonschema.Draft202012Validator(schema).iter_errors(body["example"]))
        assert not errors, (operation, errors)


@pytest.mark.parametrize("method, path", SENT)
def test_an_example_is_taken(ready, method, path):
    taken = send(ready, method, path)
    assert 200 <= taken.status < 300, taken


@pytest.mark.parametrize("method, path", MADE)
def test_an_example_changes_what_another_example_made(ready, method, path):
    collection, parameter = path.rstrip("}").rsplit("/{", 1)
    made = send(ready, "POST", collection)
    assert made.status in (200, 201), made
    name = made.json.get(parameter) or made.json["username"]
    changed = send(ready, method, path, f"{collection}/{name}")
    assert changed.status == 200, changed


def test_the_other_examples_have_the_right_shape(instance, ready):
    """What they name is not there, and nothing else is wrong with them."""
    agent = enrolled(ready, instance.port, "dc-1")
    for method, pattern in REST:
        path = pattern.replace("{id}", "7").replace("{name}", "team-a").replace("{panel}", "admission_control")
        if path.startswith("/api/agent/"):
            answer = agent.send(path, BODIES[method, pattern]["example"])
        else:
            answer = send(ready, method, pattern, path)
        absent = answer.status in (404, 409) or (answer.status == 400 and ("upload handle" in answer.text or "enrolment code" in answer.text))
        assert absent or answer.status == 200, (method, path, answer)
