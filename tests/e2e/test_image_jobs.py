"""Images of a build: placed on the hub from any store, promoted from it to a cloud's staging place."""
import os
import signal
import subprocess

import pytest

from support.cloud_stores import CLOUDS, store_settings
from support.images import QCOW2, audited, done, ended, items, place, promote, vhd
from support.memory import peak_kib
from support.program import BINARY, clean_environment, run
from support.s3_bucket import Bucket
from support.storage import PART, p8, people
from support.wait import wait_until


@pytest.fixture
def actors(make_instance, bucket):
    instance = make_instance(start=False)
    return people(instance, bucket.settings | {"job_lease_seconds": "2"})


def with_hub(bucket, settings):
    """The settings of both, with the second one active; it is chosen last, when it is configured."""
    settings = bucket.settings | settings
    backend = settings.pop("storage_active_backend")
    return settings | {"storage_active_backend": backend}, backend


def test_an_image_of_the_hubs_own_store_is_moved_by_the_store(actors, bucket):
    data = vhd(2 * PART + 1024)
    bucket.put("exports/out.vhd", data)
    result = done(actors.root, place(actors.root, "box.vhd", "obj_cloud1", "exports/out.vhd"))
    assert bucket.keys() == ["images/box.vhd"] and bucket.get("images/box.vhd") == data
    assert result["digest"] == p8(data) and result["size"] == len(data) and result["source_deleted"] is True
    assert result["source"] == {"backend": "obj_cloud1", "key": "exports/out.vhd"} and result["hub"] == "obj_cloud1"
    assert items(actors.root) == [{"name": "box.vhd", "format": "vhd", "size": len(data), "digest": p8(data)}]
    actions = audited(actors.instance)
    assert [a for a in actions if a.startswith("image.")] == ["image.place.begin", "image.place", "image.source_delete"]


@pytest.mark.parametrize("kind", list(CLOUDS))
def test_an_image_moves_from_s3_to_a_hub_of_any_kind_and_back(make_instance, bucket, scratch, kind):
    if not os.environ.get(CLOUDS[kind][0]):
        pytest.skip(f"no {kind} server")
    settings, backend = with_hub(bucket, store_settings(kind, scratch))
    http = people(make_instance(start=False), settings).root
    data = vhd(2 * PART + 512)
    bucket.put("exports/out.vhd", data)
    result = done(http, place(http, "box.vhd", "s3", "exports/out.vhd"))
    assert (result["digest"], result["source_deleted"], bucket.keys()) == (p8(data), True, [])
    # A copy inside of the store: the hub's own place is never deleted.
    result = done(http, place(http, "twin.vhd", backend, "images/box.vhd"))
    assert (result["digest"], result["source_deleted"]) == (p8(data), False)
    assert [item["name"] for item in items(http)] == ["box.vhd", "twin.vhd"]
    # And to the other cloud's staging place.
    staged = done(http, promote(http, "twin.vhd", "aws"))["staged"]
    assert staged["key"] == "promote-staging/twin.vhd" and bucket.get(staged["key"]) == data
    again = done(http, promote(http, "twin.vhd", backend.replace("obj_", "")))
    assert again["staged"]["backend"] == backend and again["digest"] == p8(data)
    assert [item["digest"] for item in items(http)] == [p8(data)] * 2


def test_a_folder_can_be_the_store_of_a_build(make_instance, bucket, scratch):
    (scratch / "store/exports").mkdir(parents=True)
    (scratch / "store/exports/a.raw").write_bytes(bytes(PART + 512))
    settings = {"storage_local_path": str(scratch / "store"), **bucket.settings}
    http = people(make_instance(start=False), settings).root
    assert done(http, place(http, "a.raw", "local", "exports/a.raw"))["copied"] is True
    assert bucket.get("images/a.raw") == bytes(PART + 512) and not (scratch / "store/exports/a.raw").exists()


def test_what_lies_on_the_hub_already_is_checked_and_kept(actors, bucket):
    data = vhd(1024)
    bucket.put("images/box.vhd", data)
    result = done(actors.root, place(actors.root, "box.vhd", "s3", "images/box.vhd"))
    assert (result["copied"], result["source_deleted"], result["digest"]) == (False, False, p8(data))
    assert bucket.keys() == ["images/box.vhd"]
    assert items(actors.root)[0]["digest"] == p8(data)


def test_refusals_make_no_job_and_change_nothing(actors, bucket):
    http = actors.root
    for key, data in (("a.vhd", vhd(1024)), ("a.qcow2", QCOW2), ("backed.qcow2", QCOW2[:8] + (4096).to_bytes(8, "big") + bytes(496)),
                      ("text", b"x" * 513), ("iac-state/j/x", bytes(512)), ("config-mgmt/a.yml", bytes(512)),
                      ("images/taken.vhd", vhd(512)), (".dashctl-uploads/x", bytes(512)), ("empty.raw", b"")):
        bucket.put(key, data)
    before = bucket.keys()
    for name, backend, key, status in (
            ("b.vhd", "s3", "none.vhd", 404), ("b.vhd", "nosuch", "a.vhd", 400), ("b.vhd", "gcs", "a.vhd", 400),
            ("b.qcow2", "s3", "a.vhd", 400), ("b.vhd", "s3", "a.qcow2", 400), ("b.qcow2", "s3", "backed.qcow2", 400),
            ("b.raw", "s3", "text", 400), ("b.raw", "s3", "a.vhd", 400), ("b.txt", "s3", "a.vhd", 400),
            ("../b.vhd", "s3", "a.vhd", 400), ("b/b.vhd", "s3", "a.vhd", 400), ("", "s3", "a.vhd", 400),
            ("b.vhd", "s3", "../a.vhd", 400), ("b.vhd", "s3", "", 400), ("b.vhd", "s3", "/a.vhd", 400),
            ("b.raw", "s3", "iac-state/j/x", 400), ("b.raw", "s3", "config-mgmt/a.yml", 400),
            ("b.raw", "s3", ".dashctl-uploads/x", 400), ("b.raw", "s3", "empty.raw", 400),
            ("taken.vhd", "s3", "a.vhd", 409)):
        answer = place(http, name, backend, key)
        assert answer.status == status and isinstance(answer.json["detail"], str), (name, backend, key, answer)
    for body in ({}, {"name": "b.vhd"}, {"name": "b.vhd", "source": "s3:a.vhd"}, {"name": 1, "source": {}},
                 {"name": "b.vhd", "source": {"backend": "s3"}}, {"name": "b.vhd", "source": {"backend": "s3", "key": 1}}):
        assert http.post("/api/images", body).status == 422, body
    assert promote(http, "none.vhd", "aws").status == 404
    assert promote(http, "taken.vhd", "cloud9").status == 400
    assert http.post("/api/images/taken.vhd/promote", {}).status == 422
    for refused in (place(actors.ann, "b.vhd", "s3", "a.vhd"), promote(actors.ann, "taken.vhd", "aws")):
        assert refused.status == 403, refused
    assert bucket.keys() == before
    assert [job for job in http.get("/api/jobs").json["jobs"] if job["job_type"] == "storage:image"] == []


def test_without_a_hub_both_are_refused(make_instance, bucket, scratch):
    settings, _ = with_hub(bucket, store_settings("local", scratch))
    root = people(make_instance(start=False), settings).root
    bucket.put("a.vhd", vhd(512))
    for answer in (place(root, "a.vhd", "s3", "a.vhd"), promote(root, "a.vhd", "aws")):
        assert answer.status == 400 and "storage_hub_backend" in answer.json["detail"], answer


def test_a_cloud_without_a_staging_place_names_the_setting(actors, bucket):
    bucket.put("images/a.vhd", vhd(512))
    for cloud, word in (("azure", "azure_staging_account"), ("cloud3", "gcp_staging_bucket"), ("oci", "oci_staging_bucket")):
        answer = promote(actors.root, "a.vhd", cloud)
        assert answer.status == 400 and "promote_runner_" + word in answer.json["detail"], answer
    actors.instance.set(promote_runner_aws_staging_prefix="images")
    answer = promote(actors.root, "a.vhd", "aws")
    assert answer.status == 400 and "promote_runner_aws_staging_prefix" in answer.json["detail"], answer


def test_a_promotion_goes_to_the_clouds_own_bucket_and_starts_nothing(actors, bucket, s3_server):
    other = Bucket(s3_server)
    data = vhd(PART + 512)
    bucket.put("images/a.vhd", data)
    actors.instance.set(promote_runner_aws_staging_bucket=other.name, promote_runner_aws_staging_prefix="/in/",
                        promote_runner_image="runner:1", promote_runner_ecs_cluster="c1", promote_runner_gcp_cpu="4")
    for cloud in ("cloud1", "AWS"):
        result = done(actors.root, promote(actors.root, "a.vhd", cloud))
        assert result["cloud"] == "cloud1" and result["digest"] == p8(data)
        assert result["staged"] == {"backend": "obj_cloud1", "bucket": other.name, "key": "in/a.vhd"}
    step = result["next_step"]
    assert step["started"] is False and step["runner_image"] == "runner:1"
    assert step["settings"]["promote_runner_ecs_cluster"] == "c1" and "promote_runner_gcp_cpu" not in step["settings"]
    assert other.keys() == ["in/a.vhd"] and other.get("in/a.vhd") == data and bucket.keys() == ["images/a.vhd"]
    assert audited(actors.instance).count("image.promote") == 2


def test_a_waiting_job_keeps_its_name_and_fails_when_its_object_was_replaced(make_instance, bucket):
    instance = make_instance(start=False)
    instance.set(**bucket.settings)
    instance.start("--workers", "0")
    root = instance.login("root")
    bucket.put("a.vhd", vhd(1024))
    first = place(root, "a.vhd", "s3", "a.vhd")
    for answer in (place(root, "a.vhd", "obj_cloud1", "a.vhd"),):
        assert answer.status == 409 and first.json["job_id"] in answer.json["detail"], answer
    local = run("storage", "hub", "put", "s3:a.vhd", "--data-dir", instance.folder)
    assert local.code == 12 and first.json["job_id"] in local.err, local
    command = run("storage", "hub", "put", "s3:a.vhd", "--target", instance.url, "--token-file", "-", stdin=root.token)
    assert command.code == 12 and "--workers" in command.err, command
    replaced = vhd(2048)
    bucket.put("a.vhd", replaced)
    instance.stop()
    instance.start()
    root = instance.login("root")
    job = wait_until(lambda: (j := root.get("/api/jobs/" + first.json["job_id"]).json)["status"] == "failed" and j, what="the failure")
    assert "replaced" in job["error_message"] and bucket.keys() == ["a.vhd"]
    assert done(root, place(root, "a.vhd", "s3", "a.vhd"))["digest"] == p8(replaced)


def test_a_killed_worker_leaves_a_job_that_another_one_ends(make_instance, bucket, scratch):
    settings = bucket.settings | {"storage_local_path": str(scratch / "store"), "job_lease_seconds": "2"}
    (scratch / "store").mkdir()
    data = vhd(24 * PART)
    (scratch / "store/a.vhd").write_bytes(data)
    who = people(make_instance(start=False), settings)
    answer = place(who.root, "a.vhd", "local", "a.vhd")
    wait_until(lambda: bucket.open_uploads() or bucket.keys(), what="the first part")
    who.instance.kill()
    assert bucket.keys() in ([], ["images/a.vhd"])
    who.instance.start()
    root = who.instance.login("root")
    assert done(root, answer)["digest"] == p8(data)
    assert bucket.get("images/a.vhd") == data and not (scratch / "store/a.vhd").exists()


def test_a_cancelled_job_leaves_nothing_on_the_hub(make_instance, bucket, scratch):
    (scratch / "store").mkdir()
    with open(scratch / "store/a.raw", "wb") as file:
        file.truncate(128 * PART)
    who = people(make_instance(start=False), bucket.settings | {"storage_local_path": str(scratch / "store")})
    answer = place(who.root, "a.raw", "local", "a.raw")
    wait_until(lambda: bucket.open_uploads(), what="the first part")
    assert who.root.delete("/api/jobs/" + answer.json["job_id"]).status == 200
    assert ended(who.root, answer)["status"] == "cancelled"
    assert bucket.keys() == [] and bucket.open_uploads() == [] and (scratch / "store/a.raw").exists()


@pytest.mark.parametrize("where", ["--data-dir", "--target"])
def test_the_command_places_and_promotes(actors, bucket, where):
    instance = actors.instance
    words = ["--data-dir", str(instance.folder)]
    if where == "--target":
        words = ["--target", instance.url, "--token", instance.token("root")]
    data = vhd(PART + 512)
    bucket.put("exports/box.vhd", data)
    placed = run("storage", "hub", "put", "s3:exports/box.vhd", "--output", "json", *words)
    assert placed.code == 0 and placed.json["digest"] == p8(data), placed
    assert bucket.keys() == ["images/box.vhd"]
    bucket.put("again.vhd", data)
    taken = run("storage", "hub", "put", "s3:again.vhd", "--name", "box.vhd", *words)
    assert taken.code == 12 and "box.vhd" in taken.err, taken
    promoted = run("storage", "hub", "promote", "box.vhd", "--cloud", "aws", *words)
    assert promoted.code == 0 and "promote-staging/box.vhd" in promoted.out and "next" in promoted.err, promoted
    assert run("storage", "hub", "promote", "none.vhd", "--cloud", "aws", *words).code == 1
    assert run("storage", "hub", "put", "s3:none.vhd", *words).code == 1
    assert bucket.keys() == ["again.vhd", "images/box.vhd", "promote-staging/box.vhd"]


def test_the_command_refuses_words_that_do_not_fit(actors, tmp_path):
    where = ["--data-dir", str(actors.instance.folder)]
    for words in (["put"], ["put", "s3:"], ["promote", "a.vhd"], ["promote"], ["list", "--cloud", "aws"],
                  ["promote", "a.vhd", "--cloud", "aws", "--name", "b"], ["delete"]):
        assert run("storage", "hub", *words, *where).code == 2, words


def test_ctrl_c_cancels_the_job_of_the_command(make_instance, bucket, scratch):
    (scratch / "store").mkdir()
    with open(scratch / "store/a.raw", "wb") as file:
        file.truncate(256 * PART)
    who = people(make_instance(start=False), bucket.settings | {"storage_local_path": str(scratch / "store")})
    with subprocess.Popen([BINARY, "storage", "hub", "put", "local:a.raw", "--data-dir", str(who.instance.folder)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment(who.instance.env), text=True) as process:
        wait_until(lambda: bucket.open_uploads(), what="the first part")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130 and "nothing half-written" in err, err
    jobs = [job for job in who.root.get("/api/jobs").json["jobs"] if job["job_type"] == "storage:image"]
    assert [job["status"] for job in jobs] == ["cancelled"] and bucket.keys() == [] and bucket.open_uploads() == []


@pytest.mark.long
def test_three_gigabytes_pass_with_little_memory(make_instance, bucket, scratch):
    (scratch / "store").mkdir()
    with open(scratch / "store/a.raw", "wb") as file:
        file.truncate(3 << 30)
    who = people(make_instance(start=False), bucket.settings | {"storage_local_path": str(scratch / "store")})
    http, pid = who.root, who.instance.process.pid
    target = ["--target", who.instance.url, "--token", http.token]
    idle = peak_kib(pid)
    for words in (["put", str(scratch / "store/a.raw"), "--name", "file.raw"], ["put", "local:a.raw"],
                  ["promote", "a.raw", "--cloud", "aws"], ["put", "s3:promote-staging/a.raw", "--name", "again.raw"]):
        done = run("storage", "hub", *words, *target, timeout=900)
        assert done.code == 0, done
        assert peak_kib(pid) - idle < 64 << 10, words
    print(f"idle peak {idle >> 10} MiB; serve over idle: {(peak_kib(pid) - idle) >> 10} MiB")
    assert sorted(item["size"] for item in items(http)) == [3 << 30] * 3
