"""What storage does with names, targets and errors that somebody chose to mislead or to spy."""
import pytest

from support.ports import free_port
from support.storage import migrate, people, upload
from support.terminal import Terminal


@pytest.fixture
def actors(make_instance, bucket, scratch):
    """An instance on a bucket, with a folder as the other backend."""
    (scratch / "store").mkdir()
    return people(make_instance(start=False), bucket.settings | {"storage_local_path": str(scratch / "store")})


def test_a_folder_or_a_link_in_the_place_of_an_asset_is_failed_with_its_reason(actors, scratch):
    for name in ("dir.yml", "link.yml", "dangling.yml", "taken.yml", "free.yml"):
        assert upload(actors.ann, name, b"new").status == 201
    store = scratch / "store"
    (store / "dir.yml").mkdir()
    (scratch / "elsewhere.yml").write_bytes(b"mine")
    (store / "link.yml").symlink_to(scratch / "elsewhere.yml")
    (store / "dangling.yml").symlink_to(scratch / "nowhere")
    (store / "taken.yml").write_bytes(b"older")
    dry = migrate(actors.root, "s3", "local", dry_run=True).json
    assert dry["copied"] == ["free.yml"] and {f["name"] for f in dry["failed"]} == {"dir.yml", "link.yml", "dangling.yml"}
    for overwrite in (False, True):
        answer = migrate(actors.root, "s3", "local", overwrite=overwrite).json
        assert {item["name"] for item in answer["failed"]} == {"dir.yml", "link.yml", "dangling.yml"}, answer
        reasons = {item["name"]: item["error"] for item in answer["failed"]}
        assert "folder" in reasons["dir.yml"] and "link" in reasons["link.yml"] and "link" in reasons["dangling.yml"]
    assert (scratch / "elsewhere.yml").read_bytes() == b"mine" and (store / "link.yml").is_symlink()
    assert (store / "taken.yml").read_bytes() == b"new", "overwritten as asked"
    done = actors.instance.dashctl("storage", "migrate", "obj_cloud1", "local")
    assert done.code == 5 and "dir.yml" in done.err and "folder" in done.err, done
    (store / "dir.yml").rmdir()
    (store / "link.yml").unlink()
    (store / "dangling.yml").unlink()
    done = actors.instance.dashctl("storage", "migrate", "obj_cloud1", "local")
    assert done.code == 0 and (store / "dir.yml").read_bytes() == b"new", done


def test_a_backend_onto_itself_is_refused_before_any_store_is_asked(actors):
    actors.instance.set(storage_obj_cloud1_endpoint=f"http://127.0.0.1:{free_port()}")  # nobody answers there
    for source, target in (("obj_cloud1", "s3"), ("s3", "s3"), ("s3", "obj_cloud1"), ("local", "local"), ("gcs", "obj_cloud3")):
        answer = migrate(actors.root, source, target)
        assert answer.status == 400 and "differ" in answer.json["detail"], answer
        done = actors.instance.dashctl("storage", "migrate", source, target)
        assert done.code == 1 and "differ" in done.err, done
        assert actors.instance.dashctl("storage", "verify", source, target).code == 1
    assert migrate(actors.root, "obj_cloud1", "local").status == 502


def test_the_secret_scan_follows_its_setting_at_once(actors):
    text = b"password: correct-horse-battery\n"
    assert len(upload(actors.ann, "a.yml", text).json["secret_findings"]) == 1
    actors.instance.set(secret_scan_enabled="false")
    assert upload(actors.ann, "a.yml", text).json["secret_findings"] == []
    assert actors.root.put("/api/setup/config", {"secret_scan_enabled": "1"}).status == 200
    assert len(upload(actors.ann, "a.yml", text).json["secret_findings"]) == 1


@pytest.mark.parametrize("backend", ["obj_cloud1", "local"])
def test_no_answer_shows_the_address_of_a_store_to_who_is_no_admin(actors, backend, scratch):
    one = actors.instance
    begun = actors.ann.post("/api/storage/upload/begin", {"filename": "big.rpm", "size": 9_000_000}).json["handle"]
    port = free_port()
    if backend == "obj_cloud1":
        one.set(storage_obj_cloud1_endpoint=f"http://127.0.0.1:{port}")
        address = ["://", "127.0.0.1", str(port)]
    else:
        one.set(storage_active_backend="local")
        (scratch / "store").rename(scratch / "gone")
        address = ["://"]
    answers = [actors.ann.get("/api/storage/list"), actors.ann.get("/api/storage/fetch?name=a.yml"),
               actors.ann.get("/api/storage/fetch?name=a.yml&raw=1"),
               actors.ann.post("/api/storage/upload/begin", {"filename": "a.rpm", "size": 9_000_000}),
               actors.ann.request("GET", "/api/storage/upload/status", headers={"X-Upload-Handle": begun}),
               actors.ann.post("/api/storage/upload/commit", {"handle": begun, "parts": 2}),
               actors.ann.post("/api/storage/upload/abort", {"handle": begun}),
               actors.ann.delete("/api/storage/asset/a.yml"), actors.ann.get("/api/storage/list-all"),
               actors.ann.get("/api/storage/backends"), one.anonymous.get("/readyz"),
               actors.ann.post("/api/config-mgmt/run", {"asset": "a.yml", "target": "h"})]
    if backend == "obj_cloud1":
        answers.append(upload(actors.ann, "a.yml", b"x"))
    assert any(answer.status >= 500 for answer in answers)
    for answer in answers:
        for part in address:
            assert part not in answer.body.decode(), answer
    assert "://" in actors.root.get("/api/storage/list").json["detail"], "an admin reads it"


@pytest.mark.parametrize("code", [*range(0x202a, 0x202f), *range(0x2066, 0x206a)])
def test_names_that_turn_the_direction_of_writing_are_refused(actors, code):
    name = f"a{chr(code)}lmy.yml"
    assert upload(actors.ann, name, b"x").status == 400
    assert actors.ann.post("/api/storage/upload/begin", {"filename": name, "size": 5}).status == 400


def test_names_in_any_script_are_taken(actors):
    for name in ("שלום.yml", "日本.sh", "été.yml"):
        assert upload(actors.ann, name, b"x").status == 201


def test_text_output_escapes_what_others_put_into_a_bucket_or_a_log(actors, bucket, scratch):
    bucket.put("config-mgmt/a\u202egpj.yml", b"x")
    bucket.put("config-mgmt/b\u2066c.yml", b"x")
    listed = actors.instance.dashctl("storage", "list")
    assert listed.code == 0 and "a\\u202egpj.yml" in listed.out and "\u202e" not in listed.out + listed.err, listed
    assert [item["name"] for item in actors.instance.dashctl("storage", "list", "--output", "json").json["items"]] == [
        "a\u202egpj.yml", "b\u2066c.yml"]
    moved = actors.instance.dashctl("storage", "migrate", "obj_cloud1", "local")
    assert "\\u2066" in moved.out and "\u2066" not in moved.out + moved.err, moved
    missing = actors.instance.dashctl("storage", "fetch", "no\u202e\x1b]0;x\x07ne.yml")
    assert missing.code == 1 and "\u202e" not in missing.err and "\x1b" not in missing.err, missing
    actors.instance.set(demo_setting="\u202e\x9b31m\x1b]0;x\x07")
    shown = actors.instance.dashctl("config", "list").out
    assert not set("\u202e\x9b\x1b\x07") & set(shown), shown
    assert actors.instance.dashctl("config", "get", "demo_setting").out == "\u202e\x9b31m\x1b]0;x\x07\n", "data, as it is"


def test_a_terminal_is_not_driven_by_what_is_fetched_or_asked(actors, scratch):
    done = Terminal("storage", "fetch", "x\u202e\x1b]0;y\x07\x9b5n.yml", "-o", scratch / "out", "--data-dir", actors.instance.folder).end()
    assert done.code == 1 and "\x1b]0" not in done.err and "\u202e" not in done.err and "\x9b" not in done.err, done


@pytest.mark.parametrize("first", ["iac-state", "terraform-state", "images", ".dashctl-uploads", "dashctl-audit"])
def test_a_prefix_of_the_dashboards_own_is_refused_by_every_door(instance, root, first):
    for value in (first, f"{first}/x", f"/{first}/"):
        assert root.patch("/api/storage/config", {"storage_s3_prefix": value}).status == 400
        assert root.put("/api/setup/config", {"storage_obj_cloud2_prefix": value}).status == 400
        answer = root.post("/api/setup/import", {"config": {"storage_gcs_prefix": value, "app_url": "https://x.example"}})
        assert answer.status == 200 and answer.json["refused"] == {"storage_gcs_prefix": "prefix_reserved"}, answer
    done = instance.dashctl("config", "set", "storage_obj_cloud4_prefix", first)
    assert done.code == 1 and first in done.err, done
    assert root.put("/api/setup/config", {"storage_obj_cloud1_prefix": f"team/{first}"}).status == 200
