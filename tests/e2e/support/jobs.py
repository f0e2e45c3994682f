"""Jobs as their users see them, and the programs that run them."""
from support.wait import wait_until

MACHINE = {"region": "us-east-1", "instance_type": "t3.large", "image": "ami-1", "name": "web"}

HELD = 'package admission.held\nimport rego.v1\nneeds_approval contains "look twice" if input.request.name == "web"\n'


def executor(instance, name, script):
    folder = instance.folder / "deploy"
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n" + script + "\n")
    path.chmod(0o755)


def job(http, job_id):
    return http.get(f"/api/jobs/{job_id}").json


def wait_for(http, job_id, *states):
    return wait_until(lambda: (lambda j: j if j["status"] in states else None)(job(http, job_id)), what=f"{states}")
