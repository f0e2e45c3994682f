"""Storage in the console: backends, many assets at once, migration, the switch."""
import json
import shutil
from pathlib import Path

from support.console_fixtures import browser, console, width, world  # noqa: F401  pytest finds fixtures by their names
from support.jobs import MACHINE, executor, wait_for
from support.storage import p8


def test_assets_are_given_moved_and_deleted_many_at_once(world, console):
    for name in ("bulk1.yml", "bulk2.yml"):
        world.upload(name, b"- hosts: all\n")
    tab = console()
    page = tab.open("storage?q=bulk")

    def choose():
        tab.settle()
        page.get_by_label("Choose all").check()
        page.get_by_text("2 chosen").wait_for()

    choose()
    page.get_by_role("button", name="Change scope…").click()
    page.get_by_label("Who may use them").select_option("web")
    page.get_by_role("button", name="Change scope", exact=True).click()
    page.get_by_text("2 of 2 done").wait_for()
    choose()
    page.get_by_role("button", name="Move…").click()
    page.get_by_label("To", exact=True).select_option("local")
    page.get_by_role("button", name="Move", exact=True).click()
    page.get_by_role("cell", name="Local folder").first.wait_for()
    found = {i["name"]: i for i in world.root.get("/api/storage/list-all").json["items"] if i["name"].startswith("bulk")}
    assert {(i["backend"], i["workgroup"]) for i in found.values()} == {("local", "web")}
    choose()
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_text("No asset matches.").wait_for()
    assert not [i for i in world.root.get("/api/storage/list-all").json["items"] if i["name"].startswith("bulk")]


def test_a_migration_is_previewed_followed_and_ends(world, console):
    page = console().open("storage/migrate")
    page.get_by_label("From").select_option("obj_cloud1")
    page.get_by_label("To", exact=True).select_option("local")
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("Would be copied").wait_for()
    page.get_by_role("button", name="Copy", exact=True).click()
    page.get_by_role("region", name="Outcome").locator(".badge", has_text="completed").wait_for()
    names = {i["name"] for i in world.root.get("/api/storage/list/local").json["items"]}
    assert {"site.yml", "hello.sh"} <= names


def test_what_each_backend_can_do_is_said_and_tested(world, console):
    tab = console()
    page = tab.open("storage/backends")
    cards = page.locator("section.card")
    objects, folder = (cards.filter(has=page.get_by_role("heading", name=name)) for name in ("AWS S3", "Local folder"))
    for card, words in ((objects, ("active", "5.0 GiB", "in parts of 8.0 MiB, resumable", "durable")), (folder, ("configured", "64.0 MiB", "in one request", "not durable"))):
        for word in words:
            assert word in card.inner_text(), (word, card.inner_text())
    objects.get_by_role("button", name="Test", exact=True).click()
    dialog = page.get_by_role("dialog", name="Test of AWS S3")
    dialog.get_by_role("table", name="Checks").locator(".badge", has_text="ok").first.wait_for()
    assert dialog.locator(".badge", has_text="failed").count() == 0, dialog.inner_text()
    tab.check("the test of a backend")


def test_an_asset_is_listed_with_scope_type_size_and_digest(world, console):
    world.upload("listed.yml", b"- hosts: all\n")
    assert world.root.put("/api/storage/scope", {"backend": "", "name": "listed.yml", "workgroup": "web"}).status == 200
    tab = console("alice")
    row = tab.open("storage").get_by_role("row").filter(has_text="listed.yml")
    for words in ("playbook", "web", "13 B", p8(b"- hosts: all\n")[:15]):
        assert words in row.inner_text(), (words, row.inner_text())
    with tab.page.expect_download() as saved:
        row.get_by_role("button", name="Download").click()
    assert Path(saved.value.path()).read_bytes() == b"- hosts: all\n"


def test_the_switch_names_running_deploys_locks_and_the_state_that_is_copied(world, console):
    world.bucket.put("iac-state/j7/terraform.tfstate", json.dumps({"version": 4, "serial": 1, "lineage": "l-7", "outputs": {}, "resources": []}).encode())
    world.bucket.put("iac-state/j7/terraform.tfstate.tflock", json.dumps({"ID": "id-7", "Who": "ann@host", "Operation": "OperationTypeApply", "Created": "2026-01-01T00:00:00Z"}).encode())
    executor(world.one, "cloud2-vm-deploy", "exec sleep 600")
    busy = world.root.post("/api/cloud2/deploy", {**MACHINE, "name": "busy-7"}).json["job_id"]
    wait_for(world.root, busy, "running")
    tab = console()
    page = tab.open("storage/backends")
    page.get_by_role("button", name="Make active…").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("1 deploy running.").wait_for()
    dialog.get_by_role("link", name="busy-7").wait_for()
    dialog.get_by_text("1 lock held.").wait_for()
    assert "j7 by ann@host" in dialog.inner_text()
    dialog.get_by_role("table", name="Infrastructure state that will be copied").get_by_text("j7").wait_for()
    tab.check("the dialog of a switch that is refused")
    dialog.get_by_label("Type local to go on").fill("local")
    dialog.get_by_role("button", name="Switch").click()
    dialog.get_by_role("alert").wait_for()
    assert world.root.get("/api/storage/backends").json["active"] == "obj_cloud1", dialog.get_by_role("alert").inner_text()
    dialog.get_by_role("button", name="Cancel").click()
    assert world.root.delete(f"/api/jobs/{busy}").status == 200
    wait_for(world.root, busy, "cancelled")
    assert world.root.delete("/api/storage/state/j7/lock?id=id-7").status == 200
    page.get_by_role("button", name="Make active…").first.click()
    dialog.get_by_role("table", name="Infrastructure state that will be copied").get_by_text("j7").wait_for()
    dialog.get_by_label("Type local to go on").fill("local")
    dialog.get_by_role("button", name="Switch").click()
    page.get_by_role("dialog", name="Originals that stay").get_by_text("iac-state/j7/terraform.tfstate").wait_for()
    page.get_by_role("status").get_by_text("1 state copied.").wait_for()
    assert (world.one.folder / "deploy/j7/terraform.tfstate").exists()
    assert world.root.patch("/api/storage/config", {"storage_active_backend": "obj_cloud1", "migrate_iac_state": True, "overwrite_iac_state": ["j7"]}).status == 200
    shutil.rmtree(world.one.folder / "deploy/j7")
    world.bucket.delete("iac-state/j7/terraform.tfstate")


def test_the_switch_shows_what_the_guard_knows_and_asks_for_the_name(world, console):
    tab = console()
    page = tab.open("storage/backends")
    page.get_by_role("button", name="Make active…").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("State there is not durable").wait_for()
    tab.check("the dialog of a switch")
    dialog.get_by_role("button", name="Switch").click()
    assert world.root.get("/api/storage/backends").json["active"] == "obj_cloud1"
    dialog.get_by_label("Type local to go on").fill("local")
    dialog.get_by_role("button", name="Switch").click()
    dialog.wait_for(state="detached")
    assert world.root.get("/api/storage/backends").json["active"] == "local"
    tab.open("").get_by_text("Infrastructure state is not durable.").wait_for()
    assert world.root.patch("/api/storage/config", {"storage_active_backend": "obj_cloud1"}).status == 200
