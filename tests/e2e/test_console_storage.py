"""Storage in the console: uploads, many assets at once, migration, the switch."""
import re

import pytest

from support.browser import WIDTHS
from support.console_fixtures import browser, console, world  # noqa: F401  pytest finds fixtures by their names
from support.storage import PART, p8
from support.wait import wait_until


@pytest.fixture(scope="module", params=WIDTHS[1:])
def width(request):
    return request.param


def test_files_are_refused_at_the_pick_with_the_reason_and_the_others_are_uploaded(world, console, tmp_path):
    tab = console("alice")
    page = tab.open("storage")
    for name, data in (("tool.exe", b"MZ"), ("first.yml", b"- hosts: all\n"), ("key.sh", b"AWS_SECRET=AKIAIOSFODNN7EXAMPLE\n")):
        (tmp_path / name).write_bytes(data)
    page.locator("input[type=file]").set_input_files([tmp_path / n for n in ("tool.exe", "first.yml", "key.sh")])
    rows = page.get_by_role("list", name="Uploads").get_by_role("listitem")
    rows.filter(has_text="tool.exe").get_by_text("This type is not taken").wait_for()
    rows.filter(has_text="first.yml").get_by_text("completed").wait_for()
    rows.filter(has_text="key.sh").get_by_text("possible secret").wait_for()
    page.get_by_role("cell", name=re.compile(r"^(Name )?first\.yml")).wait_for()
    tab.check("after uploads")
    assert world.alice.get("/api/storage/fetch?name=tool.exe").status == 404
    assert world.alice.get("/api/storage/fetch?name=first.yml").status == 200


def test_a_large_upload_survives_a_reload_and_takes_only_the_same_file(world, console, tmp_path):
    data = bytes(range(256)) * (3 * PART // 256)
    big, other = tmp_path / "big.deb", tmp_path / "other" / "big.deb"
    other.parent.mkdir()
    big.write_bytes(data)
    other.write_bytes(b"x" + data[1:])
    tab = console("alice")
    page = tab.open("storage")
    sent = []

    def cut(route):
        sent.append(route.request.url)
        route.abort() if route.request.url.endswith("/2") else route.continue_()

    page.route("**/upload/part/*", cut)
    page.locator("input[type=file]").first.set_input_files(big)
    wait_until(lambda: page.evaluate("() => Object.keys(sessionStorage).some(k => k.startsWith('upload:'))") and len(sent) > 1, what="a part that does not arrive")
    page.unroute("**/upload/part/*")
    page.reload()
    tab.settle()
    row = page.get_by_role("list", name="Uploads").get_by_role("listitem").filter(has_text="big.deb")
    row.get_by_text("unfinished").wait_for()
    row.locator("input[type=file]").set_input_files(other)
    row.get_by_text("is not what was uploaded").wait_for()
    page.reload()
    tab.settle()
    parts = []
    page.on("request", lambda request: parts.append(request.url.rsplit("/", 1)[1]) if "/upload/part/" in request.url else None)
    row.locator("input[type=file]").set_input_files(big)
    page.get_by_role("cell", name=re.compile(r"^(Name )?big\.deb")).wait_for()
    assert parts == ["2", "3"]
    items = {item["name"]: item for item in world.root.get("/api/storage/list").json["items"]}
    assert items["big.deb"]["digest"] == p8(data)
    assert page.evaluate("() => Object.keys(sessionStorage).filter(k => k.startsWith('upload:'))") == []


def test_an_upload_is_cancelled(world, console, tmp_path):
    (tmp_path / "never.deb").write_bytes(b"x" * (2 * PART))
    page = console("alice").open("storage")
    page.route("**/upload/part/*", lambda route: None)
    page.locator("input[type=file]").set_input_files(tmp_path / "never.deb")
    row = page.get_by_role("list", name="Uploads").get_by_role("listitem").filter(has_text="never.deb")
    with page.expect_response("**/upload/abort") as aborted:
        row.get_by_role("button", name="Cancel").click()
    assert aborted.value.status == 200
    row.get_by_text("cancelled").wait_for()


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
