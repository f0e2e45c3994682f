"""Assets and infrastructure state from one backend to another, and runs of assets, between a real S3 server and a folder."""
import base64
import os
from pathlib import Path

import pytest

from support.hosts import add_hosts
from support.program import run
from support.storage import PART, migrate, people, upload
from support.wait import wait_until


@pytest.fixture
def actors(make_instance, bucket, scratch):
    """An instance with a folder as the active backend and a bucket beside it."""
    folder = scratch / "store"
    folder.mkdir()
    return people(make_instance(start=False), {"storage_local_path": str(folder)} | bucket.settings |
                  {"storage_active_backend": "local", "ansible_enabled": "true"})


def test_migration_copies_skips_and_overwrites(actors, bucket):
    big = os.urandom(2 * PART + 5)
    for name, data in (("a.yml", b"A"), ("empty.sh", b""), ("big.rpm", big)):
        assert upload(actors.ann, name, data).status == 201
    first = migrate(actors.root, "local", "s3")
    assert first.status == 200, first
    job_id = first.json["job_id"]
    assert actors.root.get("/api/jobs/" + job_id).json["result"] == first.json
    assert first.json == {"source": "local", "target": "obj_cloud1", "copied": ["a.yml", "big.rpm", "empty.sh"],
                          "skipped": [], "failed": [], "summary": "3 copied, 0 skipped (already in target), 0 failed", "job_id": job_id}
    assert bucket.get("config-mgmt/big.rpm") == big and bucket.get("config-mgmt/empty.sh") == b""
    assert actors.root.get("/api/storage/list/local").json["count"] == 3, "the source keeps its assets"
    assert actors.root.get("/api/storage/backends").json["active"] == "local"
    upload(actors.ann, "a.yml", b"changed")
    assert migrate(actors.root, "local", "obj_cloud1").json["skipped"] == ["a.yml", "big.rpm", "empty.sh"]
    assert bucket.get("config-mgmt/a.yml") == b"A"
    assert migrate(actors.root, "local", "obj_cloud1", overwrite=True).json["copied"] == ["a.yml", "big.rpm", "empty.sh"]
    assert bucket.get("config-mgmt/a.yml") == b"changed"


def test_scope_travels_with_a_migrated_and_a_moved_asset(actors):
    for name in ("a.yml", "b.yml"):
        upload(actors.ann, name, b"x")
        actors.root.put("/api/storage/scope", {"backend": "", "name": name, "workgroup": "web"})
    assert migrate(actors.root, "local", "s3").status == 200
    assert actors.ann.get("/api/storage/fetch/s3/a.yml").status == 200
    assert actors.bob.get("/api/storage/fetch/s3/a.yml").status == 404
    assert actors.root.delete("/api/storage/asset-in/s3/b.yml").json == {"ok": True, "deleted": "b.yml", "backend": "s3"}
    move = {"name": "b.yml", "from_backend": "local", "to_backend": "s3"}
    assert actors.root.post("/api/storage/move", move).json == {"ok": True, "moved": "b.yml", "from": "local",
                                                                "to": "obj_cloud1"}
    assert actors.root.post("/api/storage/move", move).status == 404
    assert actors.bob.get("/api/storage/fetch/s3/b.yml").status == 404


def test_migration_is_refused_by_whom_and_where_the_table_says(actors):
    assert migrate(actors.ann, "local", "s3").status == 403
    for source, target in (("local", "local"), ("local", "ftp"), ("gcs", "local"), ("local", "gcs")):
        assert migrate(actors.root, source, target).status == 400, (source, target)
    assert actors.root.post("/api/storage/migrate", {"source": "local"}).status == 422
    assert actors.root.post("/api/storage/bulk-delete", {"items": []}).status == 400


def test_the_command_prints_the_report_of_the_api(actors):
    upload(actors.ann, "a.yml", b"A")
    data = ("--data-dir", actors.instance.folder)
    dry = run("storage", "migrate", "local", "s3", "--dry-run", "--output", "json", *data)
    assert dry.code == 0 and dry.json["copied"] == ["a.yml"] and dry.json["dry_run"] is True
    done = run("storage", "migrate", "local", "s3", "--target", actors.instance.url, "--token-file", "-", "--output",
               "json", stdin=actors.root.token)
    assert done.code == 0 and done.json["copied"] == ["a.yml"], done
    assert run("storage", "migrate", "local", "s3", *data).out == "skipped    a.yml\n"
    assert run("storage", "migrate", "local", "gcs", *data).code == 1
    assert run("storage", "verify", "local", "s3", *data).out == "same       a.yml\n"
    upload(actors.ann, "b.yml", b"B")
    differs = run("storage", "verify", "local", "s3", "--target", actors.instance.url, "--token-file", "-", "--output",
                  "json", stdin=actors.root.token)
    assert differs.code == 6 and differs.json["only_source"] == ["b.yml"], differs


def test_verify_reads_both_sides_on_request(actors, bucket, scratch):
    upload(actors.ann, "a.yml", b"AAAA")
    assert migrate(actors.root, "local", "s3").status == 200
    path = scratch / "store/a.yml"
    before = path.stat()
    with path.open("r+b") as file:  # as a bad disk does it: neither name nor size nor time changes
        file.write(b"AAAB")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    data = ("--data-dir", actors.instance.folder)
    target = ("--target", actors.instance.url, "--token", actors.root.token)
    body = {"source": "local", "target": "s3"}
    documents = [run("storage", "verify", "local", "s3", "--download", "--output", "json", *where) for where in (data, target)]
    assert [done.code for done in documents] == [6, 6], documents
    assert documents[0].json == documents[1].json and documents[0].json["different"][0]["name"] == "a.yml"
    answer = actors.root.post("/api/storage/verify", body | {"download": True})
    assert answer.status == 200 and answer.json["ok"] is False and answer.json["different"] == documents[0].json["different"]
    assert actors.root.post("/api/storage/verify", body | {"download": "yes"}).status == 422
    assert actors.ann.post("/api/storage/verify", body | {"download": True}).status == 403
    path.write_bytes(b"AAAA")
    done = run("storage", "verify", "local", "s3", "--download", *data)
    assert done.code == 0 and done.out == "same       a.yml\n", done


def test_a_switch_waits_until_the_state_may_be_copied(actors, bucket):
    def switch(to, **more):
        return actors.root.patch("/api/storage/config", {"storage_active_backend": to, **more})

    assert switch("s3").json == {"ok": True, "updated": ["storage_active_backend"], "iac_state_migrated": 0,
                                   "iac_state_left": []}
    bucket.put("iac-state/j1/terraform.tfstate", b"{}")
    bucket.put("iac-state/j1/terraform.tfstate.tflock", b"{}")
    locked = switch("local", migrate_iac_state=True)
    assert locked.status == 409 and "migrate_iac_state=true" not in locked.json["detail"]
    assert bucket.call("DELETE", f"/{bucket.name}/iac-state/j1/terraform.tfstate.tflock").status == 204
    refused = switch("local")
    assert refused.status == 409 and "migrate_terraform_state=true" in refused.json["detail"]
    assert actors.root.get("/api/storage/backends").json["active"] == "obj_cloud1"
    switched = switch("local", migrate_terraform_state=True).json
    assert switched["iac_state_migrated"] == 1
    assert switched["iac_state_left"] == [{"backend": "obj_cloud1", "key": "iac-state/j1/terraform.tfstate"}]
    deploy = Path(actors.instance.folder) / "deploy/j1"
    assert [f.name for f in deploy.iterdir()] == ["terraform.tfstate"]
    assert switch("s3").status == 409
    assert switch("s3", migrate_iac_state=True).json["iac_state_migrated"] == 1


def put_runner(actors, name="config-mgmt-run"):
    executor = Path(actors.instance.folder) / "deploy" / name
    executor.parent.mkdir(exist_ok=True)
    executor.write_text("#!/bin/sh\ncat\n")
    executor.chmod(0o755)


def test_an_asset_is_run_by_those_who_see_it(actors):
    add_hosts(actors, "web1")
    upload(actors.ann, "site.yml", b"- hosts: all\n")
    actors.root.put("/api/storage/scope", {"backend": "", "name": "site.yml", "workgroup": "web"})
    put_runner(actors)
    body = {"asset": "site.yml", "target": "web1", "secret_vars": {"p": "hunter2"}}
    started = actors.ann.post("/api/config-mgmt/run", body)
    assert started.status == 200 and started.json["status"] == "pending", started
    path = "/api/jobs/" + started.json["job_id"]
    wait_until(lambda: actors.ann.get(path).json["status"] == "completed", what="the run")
    assert b"hunter2" not in actors.ann.get(path).body
    assert actors.bob.post("/api/config-mgmt/run", body).status == 404
    assert actors.bob.post("/api/config-mgmt/run-bulk", body | {"inventory_ids": ["1"]}).status == 404
    assert actors.ann.post("/api/config-mgmt/run", {"asset": "none.yml"}).status == 404
    assert actors.ann.post("/api/config-mgmt/run", {}).status == 422
    # A workgroup's run uses global assets and its own.
    assert actors.root.post("/api/config-mgmt/run", body | {"workgroup": "data"}).status == 404


def test_a_bulk_run_is_a_job_for_each_target(actors):
    add_hosts(actors, "web1", "web2")
    put_runner(actors)
    upload(actors.ann, "site.yml", b"- hosts: all\n")
    bulk = actors.ann.post("/api/config-mgmt/run-bulk", {"asset": "site.yml", "inventory_ids": ["web1", "web2"]})
    assert bulk.status == 200 and bulk.json["count"] == 2 and bulk.json["failed"] == []
    assert [j["inventory_id"] for j in bulk.json["jobs"]] == ["web1", "web2"]
    assert actors.ann.get("/api/jobs?batch_id=" + bulk.json["batch_id"]).json["total"] == 2
    actors.instance.set(automation_max_targets="1")
    for ids, status in ([], 400), (["web1", "web2"], 400), (["web1", "web1"], 400), (["web1", "web3"], 404):
        assert actors.ann.post("/api/config-mgmt/run-bulk", {"asset": "site.yml", "inventory_ids": ids}).status == status, ids
    assert actors.ann.get("/api/config-mgmt/playbooks").json == ["site.yml"]
    assert actors.ann.get("/api/config-mgmt/assets").json[0]["backend"] == "local"


def test_a_run_in_a_cloud_cannot_read_a_folder(actors):
    upload(actors.ann, "site.yml", base64.b64decode("eA=="))
    actors.instance.set(storage_active_backend="s3", automation_runner="ecs")
    add_hosts(actors, "web1")
    body = {"asset": "site.yml", "asset_backend": "local", "target": "web1"}
    assert actors.ann.post("/api/config-mgmt/run", body).status == 400
