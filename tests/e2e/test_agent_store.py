"""The share of a remote agent as the active store, with `dashctl agent run` behind it, and with an agent as the
deployed ones are."""
import base64
import hashlib
import json
import threading

import pytest

from support.agents import add_agent
from support.databases import rows
from support.instance import Instance
from support.program import run
from support.s3_bucket import Bucket
from support.storage import fetch, migrate, names, p8, people, scope, upload
from support.wait import wait_until
from support.working_agents import STORAGE, AgentProcess, DeployedAgent

CEILING = 196_608
WHOLE = 196_566  # what an agent without ranges sends


def use_share(root, agent_id, share="lab", **more):
    patch = {"storage_agent_id": agent_id, "storage_agent_share": share, "storage_active_backend": "agent_local", **more}
    answer = root.patch("/api/storage/config", patch)
    assert answer.status == 200, answer


def backend(http, name="agent_local"):
    return next(row for row in http.get("/api/storage/backends").json["backends"] if row["id"] == name)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """An instance with accounts and one agent whose share `lab` is active; `read` is a share without write."""
    folder = tmp_path_factory.mktemp("agents")
    instance = Instance(folder / "one")
    instance.add_user("root", admin=True)
    who = people(instance, {"remote_agents_enabled": "true"})
    who.folder = folder / "share"
    (who.folder / "web").mkdir(parents=True)
    who.agent = AgentProcess(instance, who.root, folder / "agent", "edge")
    who.agent.write_policy(shares=[("lab", True), ("read", False)])
    who.agent.write_shares([{"name": "lab", "path": str(who.folder)}, {"name": "read", "path": str(who.folder)}])
    who.agent.enroll().start()
    use_share(who.root, who.agent.id)
    yield who
    who.agent.stop()
    instance.stop()


@pytest.fixture
def share(world):
    """The world with an empty share, whose kept listing is forgotten."""
    for path in world.folder.iterdir():
        if path.is_file():
            path.unlink()
    use_share(world.root, world.agent.id, storage_agent_subpath="")
    assert world.root.post("/api/storage/test", {"backend": "agent_local"}).json["ok"]
    return world


def test_an_asset_goes_there_and_back(share):
    data = b"- hosts: all\n" * 100
    made = upload(share.ann, "site.yml", data)
    assert made.status == 201 and made.json["size"] == len(data) and made.json["digest"] == p8(data), made
    assert (share.folder / "site.yml").read_bytes() == data
    listed = share.ann.get("/api/storage/list").json
    assert listed["backend"] == "agent_local"
    assert [(i["name"], i["size"], i["digest"]) for i in listed["items"]] == [("site.yml", len(data), p8(data))]
    got = fetch(share.ann, "site.yml").json
    assert base64.b64decode(got["content_b64"]) == data and got["digest"] == p8(data)
    raw = share.ann.get("/api/storage/fetch?name=site.yml&raw=1", headers={"Range": "bytes=2-6"})
    assert raw.status == 206 and raw.body == data[2:7]
    assert share.root.delete("/api/storage/asset/site.yml").status == 200
    assert not (share.folder / "site.yml").exists()
    assert fetch(share.ann, "site.yml").status == 404
    assert share.root.delete("/api/storage/asset/site.yml").status == 404


def test_the_largest_file_is_taken_and_read_back_and_one_byte_more_is_413(share):
    row = backend(share.ann)
    assert row["max_upload_bytes"] == row["inline_upload_bytes"] == CEILING
    assert row["chunked_upload"] is False and row["via_agent"] is True and row["active"] is True
    assert "use a cloud backend" in row["upload_limit_reason"]
    data = bytes(range(256)) * (CEILING // 256)
    assert upload(share.ann, "most.deb", data).status == 201
    assert base64.b64decode(fetch(share.ann, "most.deb").json["content_b64"]) == data
    refused = upload(share.ann, "more.deb", data + b"x")
    assert refused.status == 413 and str(CEILING) in refused.json["detail"] and "cloud backend" in refused.json["detail"]
    assert not (share.folder / "more.deb").exists()
    assert upload(share.ann, "empty.sh", b"").status == 201
    assert fetch(share.ann, "empty.sh").json["content_b64"] == ""


def test_a_listing_is_kept_until_a_change_and_a_test_goes_past_it(share):
    upload(share.ann, "a.yml", b"1")
    assert names(share.ann) == ["a.yml"]
    (share.folder / "placed.yml").write_bytes(b"by another program")
    assert names(share.ann) == ["a.yml"]
    assert share.root.post("/api/storage/test", {"backend": "agent_local"}).json == {"ok": True, "count": 2}
    assert names(share.ann) == ["a.yml", "placed.yml"]
    (share.folder / "again.yml").write_bytes(b"x")
    upload(share.ann, "b.yml", b"2")
    assert names(share.ann) == ["a.yml", "again.yml", "b.yml", "placed.yml"]
    share.root.delete("/api/storage/asset/a.yml")
    assert names(share.ann) == ["again.yml", "b.yml", "placed.yml"]


def test_the_kept_listing_is_sealed_and_each_caller_sees_his_own_part_of_it(share):
    upload(share.ann, "for-web-alone.yml", b"1")
    upload(share.ann, "for-all.yml", b"1")
    assert scope(share.root, "for-web-alone.yml", "web").status == 200
    assert names(share.root) == ["for-all.yml", "for-web-alone.yml"]
    assert names(share.bob) == ["for-all.yml"]
    assert names(share.ann) == ["for-all.yml", "for-web-alone.yml"]
    assert fetch(share.bob, "for-web-alone.yml").status == 404
    assert upload(share.bob, "for-web-alone.yml", b"2").status == 409
    kept = [listing for listing, in rows(share.instance, "SELECT listing FROM agent_listings WHERE listing IS NOT NULL")]
    assert kept and not any(b"for-web" in listing for listing in kept)


def test_secrets_are_found_in_what_is_uploaded_there(share):
    made = upload(share.ann, "leak.yml", b"password: hunter2hunter2\n")
    assert made.status == 201 and made.json["secret_findings"][0]["rule"] == "generic_secret_assignment"


def test_the_subpath_is_a_folder_of_the_share(share):
    use_share(share.root, share.agent.id, storage_agent_subpath="web")
    assert upload(share.ann, "inside.yml", b"x").status == 201
    assert (share.folder / "web" / "inside.yml").read_bytes() == b"x"
    assert names(share.ann) == ["inside.yml"]
    assert share.root.delete("/api/storage/asset/inside.yml").status == 200
    for bad in ("/abs", "..", "a/../../b", "C:/x", ".hidden", "a//b"):
        refused = share.root.patch("/api/storage/config", {"storage_agent_subpath": bad})
        assert refused.status == 400 and "storage_agent_subpath" in refused.json["detail"], bad
    assert share.root.patch("/api/storage/config", {"storage_agent_share": "../lab"}).status == 400


def test_what_the_agents_policy_refuses_comes_back_as_502_with_its_text(share):
    use_share(share.root, share.agent.id, share="read")
    (share.folder / "a.yml").write_bytes(b"x")
    assert names(share.ann) == ["a.yml"]
    for refused in (upload(share.ann, "b.yml", b"x"), share.root.delete("/api/storage/asset/a.yml")):
        assert refused.status == 502 and "read-only" in refused.json["detail"], refused
    assert sorted(p.name for p in share.folder.iterdir() if p.is_file()) == ["a.yml"]
    use_share(share.root, share.agent.id, share="unnamed")
    for refused in (share.ann.get("/api/storage/list"), upload(share.ann, "b.yml", b"x")):
        assert refused.status == 502 and "unnamed" in refused.json["detail"], refused
    tested = share.root.post("/api/storage/test", {"backend": "agent_local"})
    assert tested.status == 200 and tested.json["ok"] is False and "unnamed" in tested.json["error"]


def test_a_symlink_on_the_share_leads_nowhere(share):
    secret = share.folder.parent / "outside.yml"
    secret.write_bytes(b"secret of the agent's machine")
    (share.folder / "link.yml").symlink_to(secret)
    assert names(share.ann) == []
    assert b"secret of the agent" not in fetch(share.ann, "link.yml").body


def test_a_subpath_that_is_no_folder_is_named_and_is_no_empty_list(share):
    outside = share.folder.parent / "outside"
    outside.mkdir()
    (outside / "a.yml").write_bytes(b"x")
    (share.folder / "link").symlink_to(outside)
    (share.folder / "file").write_bytes(b"x")
    for subpath in ("link", "link/deeper", "file"):
        use_share(share.root, share.agent.id, storage_agent_subpath=subpath)
        refused = share.ann.get("/api/storage/list")
        assert refused.status == 502 and "is no folder of the share" in refused.json["detail"], (subpath, refused)
    use_share(share.root, share.agent.id, storage_agent_subpath="not-yet/there")
    assert names(share.ann) == []


def test_it_is_no_hub_takes_no_chunks_and_holds_no_state(share):
    hub = share.root.patch("/api/storage/config", {"storage_hub_backend": "agent_local"})
    assert hub.status == 400 and "hub" in hub.json["detail"]
    chunked = share.ann.post("/api/storage/upload/begin", {"filename": "a.deb", "size": 1 << 20})
    assert chunked.status == 400 and "agent_local" in chunked.json["detail"]
    row = backend(share.root)
    assert row["durable_state"] is False and "deploy/" in row["durable_state_reason"]
    assert share.root.get("/api/storage/backends").json["durable_state"] is False
    assert not (share.folder / "iac-state").exists()
    deep = share.root.post("/api/storage/test", {"backend": "agent_local", "deep": True}).json
    assert deep["ok"] is True, deep
    assert {"multipart", "abort"}.isdisjoint(check["name"] for check in deep["checks"])
    assert names(share.ann) == []


def test_assets_migrate_to_it_and_from_it_and_verify(share, s3_server):
    bucket = Bucket(s3_server)
    share.instance.set(**{**bucket.settings, "storage_active_backend": "agent_local"})
    upload(share.ann, "one.yml", b"1" * 1000)
    upload(share.ann, "two.deb", b"2" * CEILING)
    scope(share.root, "one.yml", "web")
    done = migrate(share.root, "agent_local", "obj_cloud1")
    assert done.status == 200 and done.json["copied"] == ["one.yml", "two.deb"] and not done.json["failed"], done
    bucket.put("config-mgmt/large.deb", b"3" * (CEILING + 1))
    bucket.put("config-mgmt/three.yml", b"3")
    back = migrate(share.root, "obj_cloud1", "agent_local")
    assert back.json["copied"] == ["three.yml"] and back.json["skipped"] == ["one.yml", "two.deb"], back
    assert [item["name"] for item in back.json["failed"]] == ["large.deb"]
    assert str(CEILING) in back.json["failed"][0]["error"]
    assert names(share.root) == ["one.yml", "three.yml", "two.deb"]
    same = share.root.post("/api/storage/verify", {"source": "agent_local", "target": "obj_cloud1", "download": True})
    assert same.status == 200, same
    (share.folder / "one.yml").write_bytes(b"x" * 1000)
    other = share.root.post("/api/storage/verify", {"source": "agent_local", "target": "obj_cloud1", "download": True})
    assert "one.yml" in json.dumps(other.json) and other.json != same.json


def test_the_command_line_uses_it_through_the_api_and_on_the_data_folder(share, tmp_path):
    token = tmp_path / "token"
    token.write_text(share.instance.token("root", name="cli-" + tmp_path.name))
    file = tmp_path / "cli.yml"
    file.write_bytes(b"by hand")
    done = run("storage", "upload", file, "--target", share.instance.url, "--token-file", token)
    assert done.code == 0, done
    assert share.instance.dashctl("storage", "fetch", "cli.yml", "-o", "-").out == "by hand"
    large = tmp_path / "large.deb"
    large.write_bytes(b"x" * (CEILING + 1))
    for where in (("--target", share.instance.url, "--token-file", token), ("--data-dir", share.instance.folder)):
        refused = run("storage", "upload", large, *where)
        assert refused.code == 1 and str(CEILING) in refused.err, refused
    assert share.instance.dashctl("storage", "delete", "cli.yml").code == 0
    assert names(share.ann) == []


def test_many_callers_at_once_each_get_their_own_file(share):
    files = {f"f{i}.yml": hashlib.sha256(bytes([i])).digest() * 100 for i in range(12)}
    answers = {}

    def work(name, data):
        answers[name] = (upload(share.ann, name, data).status, fetch(share.ann, name).json["content_b64"])

    threads = [threading.Thread(target=work, args=item) for item in files.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {name: (201, base64.b64encode(data).decode()) for name, data in files.items()}
    assert names(share.ann) == sorted(files)


# An agent without ranges and pages, as the deployed ones are.

@pytest.fixture
def deployed(make_instance):
    """deployed(VERSION, …): an instance whose active store is the share of such an agent."""
    made = []

    def make(version="2.5.0", **more):
        who = people(make_instance(start=False), {"remote_agents_enabled": "true"})
        who.agent = DeployedAgent(who.instance, who.root, "old", version, **more)
        who.agent.start()
        made.append(who.agent)
        use_share(who.root, who.agent.id)
        return who

    yield make
    for agent in made:
        agent.stop()


def jobs_made(instance):
    return rows(instance, "SELECT count(*) FROM agent_jobs")[0][0]


def test_an_agent_without_ranges_keeps_files_up_to_what_it_sends_whole(deployed):
    who = deployed()
    assert upload(who.ann, "a.yml", b"hello").status == 201
    assert who.agent.files == {"a.yml": b"hello"}
    assert names(who.ann) == ["a.yml"]
    assert base64.b64decode(fetch(who.ann, "a.yml").json["content_b64"]) == b"hello"
    who.agent.files["whole.deb"] = b"w" * WHOLE
    assert len(who.ann.get("/api/storage/fetch?name=whole.deb&raw=1").body) == WHOLE
    who.agent.files["large.deb"] = b"l" * CEILING
    refused = who.ann.get("/api/storage/fetch?name=large.deb&raw=1")
    assert refused.status == 413 and str(WHOLE) in refused.json["detail"], refused
    assert fetch(who.ann, "absent.yml").status == 404
    assert who.root.delete("/api/storage/asset/a.yml").status == 200
    assert "a.yml" not in who.agent.files
    payloads = [job["payload"] for job in who.agent.jobs]
    assert not any({"offset", "length", "cursor"} & set(payload) for payload in payloads)
    assert {key for payload in payloads for key in payload} <= {"op", "share", "subpath", "name", "content_b64"}


def test_an_old_agent_is_refused_by_its_version_before_a_job_exists(deployed):
    who = deployed(version="2.4.9")
    for refused in (who.ann.get("/api/storage/list"), upload(who.ann, "a.yml", b"x")):
        assert refused.status == 502 and "2.5.0" in refused.json["detail"], refused
    assert jobs_made(who.instance) == 0


def test_a_password_needs_a_newer_agent_and_is_never_shown(deployed):
    who = deployed(version="2.6.9")
    assert who.root.patch("/api/storage/config", {"storage_agent_password": "s3cret-of-share"}).status == 200
    refused = who.ann.get("/api/storage/list")
    assert refused.status == 502 and "2.7" in refused.json["detail"] and "nothing was queued" in refused.json["detail"]
    assert jobs_made(who.instance) == 0
    config = who.root.get("/api/storage/config")
    assert config.json["storage_agent_password"] == "\u2022" * 8 and "s3cret" not in config.text
    keep = who.root.patch("/api/storage/config", {"storage_agent_password": "\u2022" * 8})
    assert keep.status == 200 and keep.json["updated"] == []
    assert who.root.patch("/api/storage/config", {"storage_agent_password": ""}).status == 200
    assert who.ann.get("/api/storage/list").status == 200


def test_an_agent_that_may_not_is_refused_by_name(deployed):
    who = deployed()
    root = who.root
    none = add_agent(root, "other", types=())
    use_share(root, none["id"])
    assert "other" in who.ann.get("/api/storage/list").json["detail"]  # not enrolled
    use_share(root, "no-such-agent")
    assert "no-such-agent" in who.ann.get("/api/storage/list").json["detail"]
    use_share(root, who.agent.id)
    assert names(who.ann) == []
    before = jobs_made(who.instance)
    assert root.patch(f"/api/agents/{who.agent.id}", {"allowed_job_types": []}).status == 200
    ungranted = who.ann.get("/api/storage/list")
    assert ungranted.status == 502 and STORAGE in ungranted.json["detail"]
    assert root.patch(f"/api/agents/{who.agent.id}", {"allowed_job_types": [STORAGE]}).status == 200
    assert names(who.ann) == []
    who.agent.stop()
    assert root.delete(f"/api/agents/{who.agent.id}").status == 200
    revoked = who.ann.get("/api/storage/list")
    assert revoked.status == 502 and "revoked" in revoked.json["detail"]
    assert jobs_made(who.instance) == before


def test_an_agent_that_breaks_is_not_believed(deployed):
    who = deployed()
    for answer in (({}, ""), ({"assets": [{"name": "a.yml"}]}, ""), ({"assets": [{"name": "a.yml", "size": -1}]}, "")):
        who.agent.answer = lambda payload, answer=answer: answer
        assert who.ann.get("/api/storage/list").status == 502
    who.agent.answer = lambda payload: ({"assets": [{"name": "../x.yml", "size": 1}, {"name": "a.yml", "size": 1}]}, "")
    assert names(who.ann) == ["a.yml"]
    who.agent.answer = lambda payload: ({}, "the disk \u0007 is full at \\\\nas\\secret")
    refused = upload(who.ann, "a.yml", b"x")
    assert refused.status == 502 and "the disk" in refused.json["detail"] and "nas" not in refused.json["detail"]


def test_content_is_gone_from_the_database_when_the_answer_was_given(deployed):
    who = deployed()
    marker = b"MARKER-OF-THE-CONTENT"
    upload(who.ann, "a.yml", marker)
    fetch(who.ann, "a.yml")
    kept = rows(who.instance, "SELECT payload, result, summary FROM agent_jobs")
    assert kept and all(payload is None and result is None for payload, result, _ in kept)
    assert not any(base64.b64encode(marker).decode()[:20] in summary for _, _, summary in kept)


@pytest.mark.long
def test_a_job_that_nobody_fetches_ends_after_ninety_seconds_and_says_so(deployed):
    who = deployed()
    who.agent.paused.set()
    keep_alive = threading.Event()

    def poll():  # heard, but given nothing: another type of job is all that it may have
        while not keep_alive.wait(5):
            who.agent.heartbeat({"job_id": "none"})

    thread = threading.Thread(target=poll, daemon=True)
    thread.start()
    refused = who.ann.request("POST", "/api/storage/upload", {"filename": "a.yml", "content_b64": ""}, timeout=150)
    keep_alive.set()
    thread.join()
    assert refused.status == 502 and "in time" in refused.json["detail"], refused
    who.agent.paused.clear()
    assert wait_until(lambda: names(who.ann) == [], what="the agent answers again")
    assert who.agent.files == {}, "the cancelled upload was handed out"
