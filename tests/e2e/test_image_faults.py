"""Images between two states: what changes while a job waits, processes that die at counted bytes, handles of others, and whose
network the bytes take."""
import os
import random
import subprocess
import urllib.parse

import pytest

from support.holding_relay import HoldingRelay
from support.images import FOOTER, audited, done, ended, items, place, promote, vhd
from support.program import BINARY, clean_environment, run
from support.s3_bucket import Bucket
from support.storage import PART, p8, people
from support.wait import wait_until

SEED = int(os.environ.get("CRASH_SEED", "1"))
ROUNDS = [pytest.param(4), pytest.param(50, marks=pytest.mark.long)]


class Waiting:
    """An instance where no worker runs jobs until serve() says so."""

    def __init__(self, make_instance, settings):
        self.instance = make_instance(start=False)
        self.instance.set(**settings)
        self.instance.start("--workers", "0")
        self.root = self.instance.login("root")

    def serve(self):
        self.instance.restart()
        self.root = self.instance.login("root")

    def failure(self, answer):
        job = ended(self.root, answer)
        assert job["status"] == "failed", job
        return job["error_message"]


@pytest.fixture
def waiting(make_instance, bucket):
    return Waiting(make_instance, bucket.settings)


@pytest.fixture
def relay(s3_server):
    made = HoldingRelay(int(s3_server["S3_ENDPOINT"].rsplit(":", 1)[1]))
    yield made
    made.close()


def test_jobs_fail_when_the_hub_became_another_one_while_they_waited(waiting, bucket, s3_server):
    other = Bucket(s3_server)
    for key in ("a.vhd", "images/b.vhd"):
        bucket.put(key, vhd(1024))
    waits = [place(waiting.root, "a.vhd", "s3", "a.vhd"), promote(waiting.root, "b.vhd", "aws")]
    waiting.instance.set(storage_obj_cloud1_bucket=other.name)
    waiting.serve()
    for answer in waits:
        assert "settings changed" in waiting.failure(answer)
    assert bucket.keys() == ["a.vhd", "images/b.vhd"] and other.keys() == []


def test_a_promotion_fails_when_image_or_staging_place_changed_while_it_waited(waiting, bucket):
    for name in ("a.vhd", "b.vhd"):
        bucket.put("images/" + name, vhd(1024))
    replaced, moved = promote(waiting.root, "a.vhd", "aws"), promote(waiting.root, "b.vhd", "aws")
    bucket.put("images/a.vhd", vhd(2048))
    waiting.serve()
    assert "replaced" in waiting.failure(replaced)
    assert done(waiting.root, moved)["staged"]["key"] == "promote-staging/b.vhd"
    assert bucket.keys() == ["images/a.vhd", "images/b.vhd", "promote-staging/b.vhd"]


def test_a_job_fails_when_its_staging_place_changed_while_it_waited(waiting, bucket):
    bucket.put("images/a.vhd", vhd(1024))
    answer = promote(waiting.root, "a.vhd", "aws")
    waiting.instance.set(promote_runner_aws_staging_prefix="elsewhere")
    waiting.serve()
    assert "settings changed" in waiting.failure(answer) and bucket.keys() == ["images/a.vhd"]


def test_a_job_is_not_completed_by_the_image_of_another(waiting, bucket):
    """What was to be placed is gone, and something else got its name meanwhile."""
    bucket.put("a.vhd", vhd(1024))
    answer = place(waiting.root, "a.vhd", "s3", "a.vhd")
    bucket.delete("a.vhd")
    path = waiting.instance.folder.parent / "a.vhd"
    path.write_bytes(vhd(2048))
    assert run("storage", "hub", "put", path, "--data-dir", waiting.instance.folder).code == 0
    waiting.serve()
    assert "'a.vhd'" in waiting.failure(answer)
    assert [item["size"] for item in items(waiting.root)] == [2048]


def test_a_name_that_was_taken_while_the_job_waited_is_kept(waiting, bucket):
    bucket.put("a.vhd", vhd(1024))
    answer = place(waiting.root, "a.vhd", "s3", "a.vhd")
    taken = vhd(1024)
    bucket.put("images/a.vhd", taken)
    waiting.serve()
    assert "already has" in waiting.failure(answer)
    assert bucket.get("images/a.vhd") == taken and bucket.keys() == ["a.vhd", "images/a.vhd"]


def test_a_job_of_an_admin_who_is_one_no_more_does_nothing(waiting, bucket):
    waiting.instance.add_user("eve", admin=True)
    bucket.put("a.vhd", vhd(1024))
    answer = place(waiting.instance.login("eve"), "a.vhd", "s3", "a.vhd")
    assert waiting.root.delete("/api/users/eve").status == 200
    waiting.serve()
    assert "'eve'" in waiting.failure(answer) and bucket.keys() == ["a.vhd"]


def test_the_same_request_again_says_what_became_of_it(make_instance, bucket):
    root = people(make_instance(start=False), bucket.settings).root
    data = vhd(1024)
    bucket.put("a.vhd", data)
    done(root, place(root, "a.vhd", "s3", "a.vhd"))
    assert place(root, "a.vhd", "s3", "a.vhd").status == 404  # it was moved
    bucket.put("a.vhd", data)
    assert place(root, "a.vhd", "s3", "a.vhd").status == 409
    assert bucket.keys() == ["a.vhd", "images/a.vhd"]


def test_the_handle_of_another_admin_is_worth_nothing(make_instance, bucket):
    who = people(make_instance(start=False), bucket.settings)
    who.instance.add_user("eve", admin=True)
    eve = who.instance.login("eve")
    data = vhd(1024)
    handle = who.root.post("/api/images/upload/begin", {"filename": "a.vhd", "size": len(data)}).json["handle"]

    def put(http):
        return http.put("/api/images/upload/part/1", data, headers={"X-Upload-Handle": handle})

    def commit(http, refs):
        return http.post("/api/images/upload/commit", {"handle": handle, "parts": refs})

    assert put(eve).status == 400
    refs = [{"part": 1, "ref": put(who.root).json["ref"]}]
    assert commit(eve, refs).status == 400
    assert eve.post("/api/images/upload/abort", {"handle": handle}).json["aborted"] is False
    assert commit(who.root, refs).status == 201
    assert commit(who.root, refs).status in (200, 201)  # its answer may have been lost
    assert bucket.get("images/a.vhd") == data and audited(who.instance).count("image.upload") == 1


def test_an_upload_ends_with_the_hub_that_it_began_on(make_instance, bucket, s3_server):
    root = (who := people(make_instance(start=False), bucket.settings)).root
    other, data = Bucket(s3_server), vhd(1024)
    handle = root.post("/api/images/upload/begin", {"filename": "a.vhd", "size": len(data)}).json["handle"]
    part = root.put("/api/images/upload/part/1", data, headers={"X-Upload-Handle": handle})
    who.instance.set(storage_obj_cloud1_bucket=other.name)
    wait_until(lambda: root.get("/api/setup/config").json.get("storage_obj_cloud1_bucket") != bucket.name, what="the new bucket")
    answer = root.post("/api/images/upload/commit", {"handle": handle, "parts": [{"part": 1, "ref": part.json["ref"]}]})
    assert answer.status == 400 and "image hub changed" in answer.json["detail"], answer
    assert bucket.keys() == other.keys() == []


@pytest.mark.parametrize("name", ["..", "../a.vhd", "b/a.vhd", "images/a.vhd", ".", "a.vhd/"])
def test_names_that_lead_elsewhere_are_no_images(make_instance, bucket, name):
    root = people(make_instance(start=False), bucket.settings).root
    for key in ("a.vhd", "images/a.vhd", "images/b/a.vhd"):
        bucket.put(key, vhd(512))
    before = bucket.keys()
    quoted = urllib.parse.quote(name, safe="").replace(".", "%2E")
    for answer in (root.delete("/api/images/" + quoted), promote(root, quoted, "aws")):
        assert answer.status in (400, 404), answer  # 400: the path itself leads elsewhere
    assert bucket.keys() == before


def test_a_staging_account_that_nothing_opens_names_its_setting(make_instance, bucket):
    root = people(make_instance(start=False), bucket.settings | {"promote_runner_azure_staging_account": "stagingaccount"}).root
    bucket.put("images/a.vhd", vhd(512))
    answer = promote(root, "a.vhd", "azure")
    assert answer.status == 400 and "storage_obj_cloud2_" in answer.json["detail"] + "promote_runner_azure", answer
    assert [job for job in root.get("/api/jobs").json["jobs"] if job["job_type"] == "storage:image"] == []


def test_bytes_within_an_account_take_the_stores_own_way(make_instance, bucket, s3_server, relay):
    """The copy is read back, so its bytes come in; none go out."""
    other, data = Bucket(s3_server), vhd(4 * PART)
    who = people(make_instance(start=False), bucket.settings | {
        "storage_obj_cloud1_endpoint": relay.url, "promote_runner_aws_staging_bucket": other.name})
    bucket.put("exports/a.vhd", data)

    def passed(ask):
        sent, received = relay.sent, relay.received
        done(who.root, ask())
        return relay.sent - sent, relay.received - received

    sent, received = passed(lambda: place(who.root, "a.vhd", "s3", "exports/a.vhd"))
    assert sent < 128 << 10 and received < 2 * len(data) + (1 << 20), (sent, received)
    print(f"placed {len(data)} bytes: sent {sent}, received {received}")
    sent, received = passed(lambda: promote(who.root, "a.vhd", "aws"))
    assert sent < 128 << 10 and received < len(data) + (1 << 20), (sent, received)
    print(f"promoted {len(data)} bytes: sent {sent}, received {received}")
    assert bucket.get("images/a.vhd") == other.get("promote-staging/a.vhd") == data


@pytest.mark.parametrize("rounds", ROUNDS)
def test_killed_anywhere_the_image_is_whole_on_one_side(make_instance, bucket, scratch, relay, rounds):
    """Killed at counted bytes, the command leaves the build's object until the hub has the whole image; the same command ends it."""
    one = make_instance(start=False)
    (scratch / "store").mkdir()
    file = scratch / "store/a.vhd"
    one.set(storage_local_path=str(scratch / "store"), **bucket.settings)
    one.set(storage_obj_cloud1_endpoint=relay.url)
    data, chance = os.urandom(PART) + bytes(512) + FOOTER, random.Random(SEED)
    words = ["storage", "hub", "put", "local:a.vhd", "--data-dir", str(one.folder)]

    file.write_bytes(data)
    sent, received = relay.sent, relay.received
    assert run(*words, timeout=120).code == 0
    sent, received = relay.sent - sent, relay.received - received
    for round_ in range(rounds):
        bucket.delete("images/a.vhd")
        file.write_bytes(data)
        if chance.random() < 0.5:
            relay.hold_after(chance.randrange(sent))
        else:
            relay.hold_after_answers(chance.randrange(received))
        process = subprocess.Popen([BINARY, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment(one.env))
        wait_until(lambda: relay.is_held or process.poll() is not None, seconds=120, what="the point or the end")
        process.kill()
        process.wait()
        relay.sever()
        there = bucket.get("images/a.vhd")
        assert there in (None, data), round_
        assert there == data or file.read_bytes() == data, round_
        if file.exists():
            again = run(*words, timeout=120)
            assert again.code == 0 and again.err.count("already has") == 0, (round_, again)
        assert bucket.get("images/a.vhd") == data and not file.exists(), round_
