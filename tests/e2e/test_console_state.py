"""What lies beneath the assets, in the console: infrastructure state, uploads that were given up, the image hub."""
import json
import os
import re
import time

from support.console_fixtures import browser, console, width, world  # noqa: F401  pytest finds fixtures by their names
from support.images import vhd
from support.s3_bucket import Bucket
from support.storage import PART, p8
from support.wait import wait_until

STATE = {"version": 4, "serial": 3, "lineage": "l-1", "outputs": {"ip": {"value": "10.0.0.1"}, "key": {"value": "hidden-1", "sensitive": True}},
         "resources": [{"mode": "managed", "type": "terraform_data", "name": "x", "instances": [{"attributes": {"password": "hidden-2"}}]}]}
LOCK = {"ID": "id-1", "Who": "ann@host", "Operation": "OperationTypeApply", "Created": "2026-01-01T00:00:00Z"}


def test_state_is_listed_shown_with_its_versions_and_unlocked(world, console):
    world.bucket.put("iac-state/j1/terraform.tfstate", json.dumps(STATE).encode())
    world.bucket.put("iac-state/j1/terraform.tfstate.tflock", json.dumps(LOCK).encode())
    tab = console()
    page = tab.open("storage/state")
    row = page.get_by_role("row").filter(has_text="j1")
    row.get_by_text("ann@host").wait_for()
    row.get_by_role("button", name="Show", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("terraform_data.x").wait_for()
    assert "10.0.0.1" in dialog.inner_text() and "hidden" not in dialog.inner_text()
    tab.check("the dialog of a state")
    dialog.get_by_role("button", name="Close").click()
    row.get_by_role("button", name="History").click()
    dialog.get_by_text("Versioning").wait_for()
    dialog.get_by_role("button", name="Close").click()
    row.get_by_role("button", name="Unlock…").click()
    page.get_by_label("Type j1 to go on").fill("j1")
    page.get_by_role("button", name="Unlock", exact=True).click()
    row.get_by_text("none").wait_for()
    assert world.root.get("/api/storage/state").json["items"][0]["lock"] is None


def test_uploads_that_were_given_up_are_listed_and_dropped_when_asked(world, console):
    staged = world.folder / "assets/.dashctl-uploads" / ("b" * 32)
    staged.mkdir(parents=True)
    (staged / "data").write_bytes(b"x" * 7)
    began = time.time() - 30 * 3600
    os.utime(staged, (began, began))
    page = console().open("storage/backends")
    page.get_by_role("button", name="Look for them").click()
    outcome = page.get_by_role("region", name="Outcome")
    outcome.get_by_text("b" * 32).wait_for()
    assert staged.exists(), "to look drops nothing"
    outcome.get_by_role("button", name="Drop them…").click()
    page.get_by_role("button", name="Drop", exact=True).click()
    outcome.get_by_text("1 upload dropped").wait_for()
    assert not staged.exists()


def staging_place(world, s3_server):
    place = Bucket(s3_server)
    world.one.set(promote_runner_aws_staging_bucket=place.name, promote_runner_aws_staging_prefix="/in/", promote_runner_image="runner:1")
    return place


def place_on_the_hub(page, backend, key, name):
    page.get_by_label("Backend", exact=True).select_option(backend)
    page.get_by_label("Key", exact=True).fill(key)
    page.get_by_label("Name on the hub").fill(name)
    page.get_by_role("button", name="Place it").click()


def test_a_builds_image_is_placed_on_the_hub_and_promoted(world, console, s3_server):
    staging, data = staging_place(world, s3_server), vhd(PART + 512)
    world.bucket.put("exports/out.vhd", data)
    tab = console()
    page = tab.open("storage/images")
    place_on_the_hub(page, "obj_cloud1", "exports/none.vhd", "built.vhd")
    page.get_by_role("alert").get_by_text("exports/none.vhd").wait_for()
    place_on_the_hub(page, "obj_cloud1", "exports/out.vhd", "built.vhd")
    row = page.get_by_role("row").filter(has_text="built.vhd")
    row.get_by_role("button", name="Promote…").click()
    assert world.bucket.get("exports/out.vhd") is None and world.bucket.get("images/built.vhd") == data
    assert [item["digest"] for item in world.root.get("/api/images").json["items"]] == [p8(data)]
    page.get_by_label("Cloud", exact=True).select_option("cloud1")
    page.get_by_role("button", name="Copy to the cloud").click()
    page.get_by_role("heading", name="Next step").wait_for()
    assert staging.get("in/built.vhd") == data
    tab.check("an image that was placed and promoted")
    assert world.root.delete("/api/images/built.vhd").status == 200


def test_placing_an_image_shows_its_progress_and_is_cancelled(world, console):
    source = world.folder / "assets" / "exports"
    source.mkdir()
    with open(source / "a.raw", "wb") as file:
        file.truncate(128 * PART)
    tab = console()
    page = tab.open("storage/images")
    place_on_the_hub(page, "local", "exports/a.raw", "a.raw")
    page.get_by_text(re.compile(r"[1-9]\S* MiB of 1\.0 GiB .*left")).wait_for()
    tab.check("an image on its way")
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Stop the job").click()
    page.locator(".badge", has_text="cancelled").wait_for()
    wait_until(lambda: not world.bucket.open_uploads(), what="the end of the upload")
    assert "images/a.raw" not in world.bucket.keys() and (source / "a.raw").exists()


def test_an_image_is_uploaded_promoted_and_deleted(world, console, tmp_path, s3_server):
    other, data = staging_place(world, s3_server), vhd(PART + 512)
    (tmp_path / "base.vhd").write_bytes(data)
    tab = console()
    page = tab.open("storage/images")
    page.locator("input[type=file]").set_input_files(tmp_path / "base.vhd")
    row = page.get_by_role("row").filter(has_text="base.vhd")
    row.get_by_role("button", name="Promote…").click()
    page.get_by_label("Cloud", exact=True).select_option("cloud1")
    page.get_by_role("button", name="Copy to the cloud").click()
    page.get_by_role("heading", name="Next step").wait_for()
    assert other.get("in/base.vhd") == data
    tab.check("a promotion that ended")
    row.get_by_role("button", name="Delete…").click()
    page.get_by_label("Type base.vhd to go on").fill("base.vhd")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_text("The hub has no images.").wait_for()
    assert world.root.get("/api/images").json["items"] == []
