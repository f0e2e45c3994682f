"""Uploads in the console: refused at the pick, sent in one request or in parts, taken up again, and what their scan found."""
import re

from support.browser import DROP
from support.console_fixtures import browser, console, width, world  # noqa: F401  pytest finds fixtures by their names
from support.instance import PASSWORD
from support.storage import PART, b64, p8
from support.wait import wait_until


def row_of(page, name):
    return page.get_by_role("list", name="Uploads").get_by_role("listitem").filter(has_text=name)


def test_files_are_refused_at_the_pick_with_the_reason_and_the_others_are_uploaded(world, console, tmp_path):
    tab = console("alice")
    page = tab.open("storage")
    for name, data in (("tool.exe", b"MZ"), ("first.yml", b"- hosts: all\n"), ("key.sh", b"AWS_SECRET=AKIAIOSFODNN7EXAMPLE\n")):
        (tmp_path / name).write_bytes(data)
    page.locator("input[type=file]").set_input_files([tmp_path / n for n in ("tool.exe", "first.yml", "key.sh")])
    rows = page.get_by_role("list", name="Uploads").get_by_role("listitem")
    rows.filter(has_text="tool.exe").get_by_text("This type is not taken").wait_for()
    rows.filter(has_text="first.yml").get_by_text("completed").wait_for()
    rows.filter(has_text="key.sh").get_by_text("line 1: aws access key id AKI").wait_for()
    page.get_by_role("cell", name=re.compile(r"^(Name )?first\.yml")).wait_for()
    tab.check("after uploads")
    assert world.alice.get("/api/storage/fetch?name=tool.exe").status == 404
    assert world.alice.get("/api/storage/fetch?name=first.yml").status == 200


def test_found_secrets_are_named_with_the_asset_and_before_its_scope_changes(world, console, tmp_path):
    key = "AKIA" + "Q7" * 8
    (tmp_path / "leak.sh").write_text(f"echo one\nexport KEY={key}\n")
    tab = console()
    page = tab.open("storage")
    page.locator("input[type=file]").set_input_files(tmp_path / "leak.sh")
    row = page.get_by_role("row").filter(has_text="leak.sh")
    row.get_by_text("1 possible secret").click()
    row.get_by_text("line 2: aws access key id").wait_for()
    page.reload()
    tab.settle()
    row.get_by_text("1 possible secret").click()
    row.get_by_text("line 2: aws access key id").wait_for()
    row.get_by_label("Choose leak.sh").check()
    page.get_by_role("button", name="Change scope…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("leak.sh may hold secrets.").wait_for()
    dialog.get_by_text("line 2: aws access key id").wait_for()
    tab.check("the dialog of a scope")
    assert key not in page.content() + page.evaluate("() => JSON.stringify(sessionStorage)")
    dialog.get_by_role("button", name="Cancel").click()
    # another content under the same name is another asset
    assert world.root.post("/api/storage/upload", {"filename": "leak.sh", "content_b64": b64(b"echo clean\n")}).status == 201
    page.reload()
    tab.settle()
    row.get_by_text("11 B").wait_for()
    assert row.get_by_text("possible secret").count() == 0


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
    row = row_of(page, "big.deb")
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
    row = row_of(page, "never.deb")
    with page.expect_response("**/upload/abort") as aborted:
        row.get_by_role("button", name="Cancel").click()
    assert aborted.value.status == 200
    row.get_by_text("cancelled").wait_for()


def test_an_upload_that_is_cancelled_while_it_begins_is_aborted_too(world, console, tmp_path):
    (tmp_path / "early.deb").write_bytes(b"x" * (2 * PART))
    page = console("alice").open("storage")
    begins = []
    page.route("**/upload/begin", lambda route: begins.append(route))
    with page.expect_request("**/upload/begin"):
        page.locator("input[type=file]").set_input_files(tmp_path / "early.deb")
    row_of(page, "early.deb").get_by_role("button", name="Cancel").click()
    row_of(page, "early.deb").get_by_text("cancelled").wait_for()
    with page.expect_response("**/upload/abort") as aborted:
        begins[0].continue_()
    assert aborted.value.status == 200 and world.bucket.open_uploads() == []
    assert page.evaluate("() => Object.keys(sessionStorage).filter(k => k.startsWith('upload:'))") == []


def test_files_that_are_dropped_take_the_lane_that_fits_them(world, console):
    page = console("alice").open("storage")
    for name, size, lane in (("dropped.yml", 1000, "in one request"), ("dropped.rpm", PART, "in parts")):
        page.evaluate(DROP, [name, "x" * size])
        row_of(page, name).get_by_text("completed").wait_for()
        row_of(page, name).get_by_text(lane).wait_for()
    items = {item["name"]: item for item in world.root.get("/api/storage/list").json["items"]}
    assert items["dropped.yml"]["digest"] == p8(b"x" * 1000) and items["dropped.rpm"]["digest"] == p8(b"x" * PART)


def test_an_upload_goes_on_after_its_session_ended_in_the_middle(world, console, tmp_path):
    data = bytes(range(256)) * (3 * PART // 256)
    (tmp_path / "long.deb").write_bytes(data)
    tab = console("alice")
    page = tab.open("storage")
    token = page.evaluate("() => JSON.parse(sessionStorage.session).token")

    def end_the_session(route):
        if route.request.url.endswith("/2"):
            world.one.anonymous.post("/api/auth/logout", headers={"Authorization": f"Bearer {token}"})
        route.continue_()

    page.route("**/upload/part/*", end_the_session)
    page.locator("input[type=file]").set_input_files(tmp_path / "long.deb")
    dialog = page.get_by_role("dialog", name="Your session has ended")
    dialog.get_by_label("Password").fill(PASSWORD)
    page.unroute("**/upload/part/*")
    dialog.get_by_role("button", name="Sign in").click()
    dialog.wait_for(state="detached")
    parts = []
    page.on("request", lambda request: parts.append(request.url.rsplit("/", 1)[1]) if "/upload/part/" in request.url else None)
    row_of(page, "long.deb").get_by_role("button", name="Resume").click()
    row_of(page, "long.deb").get_by_text("completed").wait_for()
    assert parts == ["2", "3"], "the first part is not sent again"
    items = {item["name"]: item for item in world.root.get("/api/storage/list").json["items"]}
    assert items["long.deb"]["digest"] == p8(data)
