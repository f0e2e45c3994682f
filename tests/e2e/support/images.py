"""The image hub as its users call it: what stands for an image, the jobs that place and promote, their ends."""
import os

from support.databases import rows
from support.wait import wait_until

FOOTER = b"conectix" + bytes(504)
QCOW2 = b"QFI\xfb" + (3).to_bytes(4, "big") + bytes(504)


def vhd(size):
    return os.urandom(size - 512) + FOOTER


def place(http, name, backend, key):
    return http.post("/api/images", {"name": name, "source": {"backend": backend, "key": key}})


def promote(http, name, cloud):
    return http.post(f"/api/images/{name}/promote", {"cloud": cloud})


def ended(http, answer):
    assert answer.status == 202, answer
    path = "/api/jobs/" + answer.json["job_id"]
    assert answer.headers["location"] == path
    final = ("completed", "failed", "cancelled")
    return wait_until(lambda: (job := http.get(path).json)["status"] in final and job, what="the end of the job")


def done(http, answer):
    job = ended(http, answer)
    assert job["status"] == "completed" and job["job_type"] == "storage:image", job
    return job["result"]


def items(http):
    answer = http.get("/api/images")
    assert answer.status == 200, answer
    return answer.json["items"]


def audited(instance):
    return [action for action, in rows(instance, "SELECT action FROM audit_log ORDER BY seq")]
