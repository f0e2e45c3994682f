"""The console in a real Chromium against a real instance with a real S3 server and policy engine."""
import json
import re
import shutil
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from support.agents import ScriptedAgent
from support.browser import WIDTHS, Console, chromium
from support.console_world import HOSTILE, ConsoleWorld
from support.instance import PASSWORD
from support.jobs import job, wait_for
from support.program import run
from support.s3_bucket import Bucket
from support.storage import PART, p8
from support.wait import wait_until

VIEWS = ["", "jobs", "storage", "storage/backends", "storage/migrate", "storage/images", "gate", "gate/settings", "gate/try", "gate/decisions",
         "gate/change", "windows", "runs", "runs/hosts", "runs/agents", "audit", "audit/verify", "settings", "settings/panels/ansible",
         "settings/storage", "settings/history", "settings/migration", "settings/accounts", "settings/workgroups"]


@pytest.fixture(scope="module")
def world(tmp_path_factory, s3_server):
    folder = tmp_path_factory.mktemp("console")
    for path in (folder, *folder.parents):
        if path != Path("/") and path.stat().st_uid == 0:
            path.chmod(path.stat().st_mode | 0o055)
    made = ConsoleWorld(folder, Bucket(s3_server))
    yield made
    made.one.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture
def console(world, browser):
    """Opens tabs, each with its own user; at the end none may have violated the policy of the page."""
    opened = []

    def make(user="root", **options):
        opened.append(Console(browser, world.one, **options))
        return opened[-1].sign_in(user)

    yield make
    for tab in opened:
        tab.check_policy()
        tab.close()


def test_every_view_fits_three_widths_and_is_accessible_in_both_themes(world, console):
    tab = console()
    job_id, held = world.finished_job(), world.held_job()
    for path in [*VIEWS, f"jobs/{job_id}", f"jobs/{held}"]:
        tab.open(path)
        for width in WIDTHS:
            tab.resize(width)
            assert tab.overflow() == [], (path, width)
            if width == WIDTHS[0]:
                assert tab.axe() == [], (path, width)
        tab.page.emulate_media(color_scheme="dark")
        assert tab.axe() == [], (path, "dark")
        tab.page.emulate_media(color_scheme="light")
        assert tab.page.get_by_role("heading", level=1).count() == 1, path
        assert tab.page.get_by_text("failed to show the answer").count() == 0, path


def test_the_overview_says_what_waits_and_in_what_state_everything_is(world, console):
    held = world.held_job()
    page = console("bob").page
    assert page.get_by_role("link", name="web").first.get_attribute("href").startswith("#/jobs/")
    assert page.locator(f"a[href='#/jobs/{held}']").count() == 1
    root = console().page
    state = root.locator(".state")
    for word in ("intact", "AWS S3", "ready"):
        state.get_by_text(word).first.wait_for()


def test_an_approval_appears_to_another_user_without_reload_and_names_what_is_approved(world, console):
    alice, bob = console("alice"), console("bob")
    bob.open("jobs?status=awaiting_approval")
    before = bob.page.locator("tbody tr").count()
    held = world.held_job()
    bob.page.locator(f"a[href='#/jobs/{held}']").wait_for()
    assert bob.page.locator("tbody tr").count() == before + 1
    alice.open(f"jobs/{held}")
    assert alice.page.get_by_role("button", name="Approve…").count() == 0
    page = bob.open(f"jobs/{held}")
    page.get_by_role("button", name="Approve…").click()
    dialog = page.get_by_role("dialog")
    shown = job(world.root, held)
    for text in (shown["approval_digest"], "alice", "look twice <b>at it</b>", "t3.large"):
        assert text in dialog.inner_text()
    bob.check("the dialog of an approval")
    dialog.get_by_role("button", name="Approve", exact=True).click()
    alice.page.locator("header.title .badge", has_text="completed").wait_for()
    assert job(world.root, held)["approved_by"] == "bob"


def test_a_rejection_and_a_cancellation(world, console):
    held = world.held_job()
    page = console("bob").open(f"jobs/{held}")
    page.get_by_role("button", name="Reject…").click()
    page.get_by_label("Reason").fill("not today")
    page.get_by_role("button", name="Reject", exact=True).click()
    page.locator("header.title .badge", has_text="rejected").wait_for()
    assert job(world.root, held)["progress_message"] == "not today"
    other = world.held_job()
    page = console("alice").open(f"jobs/{other}")
    page.get_by_role("button", name="Cancel…").click()
    page.get_by_role("button", name="Cancel the job").click()
    page.locator("header.title .badge", has_text="cancelled").wait_for()
    assert job(world.root, other)["status"] == "cancelled"


def test_a_job_moves_to_a_free_window(world, console):
    held = world.held_job()
    page = console("alice").open(f"jobs/{held}")
    page.get_by_role("button", name="Reschedule…").click()
    slot = page.get_by_role("dialog").get_by_role("button", name=re.compile("^Nightly")).first
    slot.click()
    page.get_by_role("dialog").wait_for(state="detached")
    moved = job(world.root, held)
    assert moved["change_window_name"] == "Nightly" and moved["scheduled_for"]
    world.root.delete(f"/api/jobs/{held}")


def test_a_log_is_followed_searched_and_saved_and_its_lines_are_text(world, console):
    job_id = world.finished_job()
    page = console().open(f"jobs/{job_id}")
    log = page.get_by_role("log")
    log.get_by_text(f"making {HOSTILE}").wait_for()
    page.get_by_role("searchbox", name="Find in the log").fill("SECOND")
    log.locator("mark", has_text="second").wait_for()
    assert log.get_by_text("making").count() == 0
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download", exact=True).click()
    assert f"making {HOSTILE}" in Path(saved.value.path()).read_text(encoding="utf-8")


def test_filters_of_jobs_are_in_the_address(world, console):
    world.finished_job()
    tab = console()
    page = tab.open("jobs")
    page.get_by_label("Status").select_option(label="Completed")
    page.wait_for_function("() => location.hash.includes('status=completed')")
    tab.settle()
    assert set(page.locator("tbody .badge").all_inner_texts()) == {"completed"}
    page.reload()
    tab.settle()
    assert page.get_by_label("Status").input_value() == "completed"
    assert set(page.locator("tbody .badge").all_inner_texts()) == {"completed"}


def test_names_and_texts_of_others_are_shown_as_text(world, console):
    tab = console()
    world.finished_job(HOSTILE)
    for path in ("jobs", "storage", "windows", "runs", "audit"):
        page = tab.open(path)
        assert HOSTILE[:20] in page.locator("#main").inner_text(), path
        assert page.locator("#main img").count() == 0, path
        tab.check_policy(path)


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
    page.get_by_role("cell", name=re.compile("^first.yml")).wait_for()
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
    page.get_by_role("cell", name=re.compile("^big.deb")).wait_for()
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


def test_the_gate_shows_rules_tries_requests_and_says_when(world, console):
    page = console().open("gate")
    page.get_by_role("row", name=re.compile("held.*evaluates")).wait_for()
    page = console("alice").open("gate/try")
    page.get_by_label("Region").fill("us-east-1")
    page.get_by_label("Instance type").fill("p5.48xlarge")
    page.get_by_label("Workgroup").fill("web")
    page.get_by_role("button", name="Try it").click()
    outcome = page.get_by_role("region", name="Outcome")
    outcome.get_by_text("deny").first.wait_for()
    assert re.search(r"instance_size_caps\.rego:\d+", outcome.inner_text())
    outcome.get_by_text("Input document").click()
    assert '"region": "us-east-1"' in outcome.inner_text()
    page.get_by_role("button", name="When may I?").click()
    outcome.get_by_text("Not within the time").wait_for()


def test_settings_of_the_gate_are_checked_as_they_are_typed(world, console):
    page = console().open("gate/settings")
    field = page.get_by_label("Frozen days")
    field.fill("mon, someday")
    page.get_by_text("someday is none of").wait_for()
    page.get_by_role("button", name="Save").click()
    frozen = (datetime.now(timezone.utc) + timedelta(days=3)).strftime("%a").lower()
    field.fill(frozen)
    with page.expect_response("**/api/setup/feature/admission_control") as saved:
        page.get_by_role("button", name="Save").click()
    assert saved.value.status == 200
    assert json.loads(world.root.get("/api/setup/feature/admission_control").json["admission_prod_window"]) == [frozen]


def test_a_deploy_outside_of_the_window_is_booked_from_its_refusal(world, console):
    late = world.root.post("/api/change-windows", {"name": "Late", "start_at_local": "03:00", "duration_minutes": 1, "timezone": "UTC", "schedule_days": "0000001"}).json
    assert world.root.post("/api/workgroups", {"name": "slow"}).status == 201
    assert world.root.patch("/api/workgroups/slow", {"change_window_id": late["id"], "require_change_window": True}).status == 200
    assert world.root.post("/api/workgroups/slow/members/alice").status == 204
    page = console("alice").open("gate/try")
    for label, value in (("Region", "us-east-1"), ("Instance type", "t3.large"), ("Image", "ami-1"), ("Name", "later"), ("Workgroup", "slow")):
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_role("button", name="Submit it…").click()
    page.get_by_role("dialog").get_by_role("button", name="Submit", exact=True).click()
    page.get_by_text("Outside of the change window").wait_for()
    page.get_by_role("button", name=re.compile("^Late")).first.click()
    page.get_by_role("heading", name="Submitted").wait_for()
    booked = [j for j in world.root.get("/api/jobs?scheduled=true").json["jobs"] if j["name"] == "later"]
    assert [j["change_window_name"] for j in booked] == ["Late"]


def test_windows_are_added_shown_in_two_zones_and_their_overlap_is_said(world, console):
    tab = console("bob")
    page = tab.open("windows?week=2026-10-25")
    page.get_by_text("The clock of Europe/London moves back 60 min").wait_for()
    page.get_by_text("overlaps").wait_for()
    assert "America/New_York" in page.get_by_role("table", name="Openings of this week").inner_text()
    page.get_by_role("button", name="Add a window…").click()
    tab.check("the dialog of a window")
    page.get_by_label("Name").fill("Lunch")
    page.reload()
    tab.settle()
    page.get_by_role("button", name="Add a window…").click()
    assert page.get_by_label("Name").input_value() == "Lunch"
    page.get_by_label("Zone").fill("Asia/Tokyo")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("table", name="Change windows").get_by_text("Asia/Tokyo").wait_for()
    mine = next(w for w in world.root.get("/api/change-windows").json["windows"] if w["name"] == "Lunch")
    assert (mine["start_at_local"], mine["timezone"], mine["created_by"]) == ("22:00", "Asia/Tokyo", "bob")


def test_an_asset_runs_on_a_host(world, console):
    page = console().open("runs?asset=hello.sh&backend=obj_cloud1")
    assert page.get_by_label("Asset").input_value() == "obj_cloud1/hello.sh"
    page.get_by_label("here (127.0.0.1)").check()
    page.get_by_role("button", name="Run", exact=True).click()
    started = page.get_by_role("region", name="Outcome").get_by_role("link").first
    started.wait_for()
    job_id = started.get_attribute("href").rsplit("/", 1)[1]
    done = wait_for(world.root, job_id, "completed", "failed")
    assert done["status"] == "completed", done
    page.goto(f"/console/#/jobs/{job_id}")
    page.get_by_role("table", name="Outcome by host").get_by_text("here").wait_for()


def test_a_host_is_kept_and_tested_and_its_secret_is_not_drafted(world, console):
    tab = console()
    page = tab.open("runs/hosts")
    page.get_by_role("button", name="Add a host…").click()
    page.get_by_label("Name").fill("closed")
    page.get_by_label("Address").fill("127.0.0.1")
    page.get_by_label("Port").fill("1")
    page.get_by_label("Password or private key").fill("hunter2hunter2")
    assert "hunter2" not in page.evaluate("() => JSON.stringify(sessionStorage)")
    tab.check("the dialog of a host")
    page.get_by_role("button", name="Save").click()
    row = page.get_by_role("row", name=re.compile("closed"))
    row.get_by_role("button", name="Test").click()
    page.get_by_role("dialog").get_by_text("failed").wait_for()
    page.get_by_role("button", name="Close").click()
    row.get_by_role("button", name="Remove…").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    row.wait_for(state="detached")


def test_an_agent_is_added_enrolled_and_seen_online_without_reload(world, console):
    tab = console()
    page = tab.open("runs/agents")
    page.get_by_role("button", name="Add an agent…").click()
    page.get_by_label("Name").fill("site-one")
    page.get_by_label("Granted job types").fill("agent_storage")
    page.get_by_role("button", name="Add", exact=True).click()
    code = page.get_by_role("dialog").locator("pre").first.inner_text()
    tab.check("the dialog of an enrolment")
    page.get_by_role("button", name="Close").click()
    page.get_by_role("dialog").wait_for(state="detached")
    assert code.startswith("agte_") and code not in page.content()
    row = page.get_by_role("row", name=re.compile("site-one"))
    row.get_by_text("enrolling").wait_for()
    agent = ScriptedAgent(world.one.port)
    assert agent.enroll(code).status == 200
    assert agent.leased() is None
    row.get_by_text("online").wait_for()
    row.get_by_text("2.3.0").wait_for()
    row.get_by_role("button", name="Revoke…").click()
    page.get_by_label("Type site-one to go on").fill("site-one")
    page.get_by_role("button", name="Go on").click()
    row.get_by_text("revoked").wait_for()
    assert agent.lease().status == 401


def test_the_log_is_proved_in_the_page_and_a_forged_entry_is_found(world, console):
    tab = console()
    page = tab.open("audit/verify")
    page.get_by_role("button", name="Verify in this page").click()
    outcome = page.get_by_role("region", name="Outcome")
    outcome.get_by_text("proved").wait_for()
    # the root that was computed here is the one that the instance signed
    proof = world.root.get("/api/audit/prove?from=0").json
    assert proof["checkpoint"].splitlines()[2] in outcome.inner_text() or world.root.get("/api/audit/verify").json["count"] > int(proof["size"])
    page.get_by_label("Kept checkpoint").fill(proof["checkpoint"])
    page.get_by_label("Kept public key").fill(proof["public_key"])
    page.get_by_role("button", name="Verify in this page").click()
    outcome.get_by_text("whatever the instance says").wait_for()

    def forge(route):
        answer = route.fetch()
        page_of = answer.json()
        if len(page_of["entries"]) > 2:
            page_of["entries"][2]["username"] = "somebody else"
        route.fulfill(response=answer, body=json.dumps(page_of))

    page.route("**/api/audit?*", forge)
    page.get_by_role("button", name="Verify in this page").click()
    outcome.get_by_text("Entry 3 was altered").wait_for()
    page.unroute("**/api/audit?*")
    page.get_by_label("Kept checkpoint").fill(proof["checkpoint"].replace(proof["checkpoint"].splitlines()[1], "1", 1))
    page.get_by_role("button", name="Verify in this page").click()
    outcome.get_by_text("The signature of the checkpoint is wrong.").wait_for()


def test_entries_are_filtered_exported_and_proved_one_by_one(world, console, tmp_path):
    tab = console()
    page = tab.open("audit?action=config.*")
    page.locator("summary").first.click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download its proof").first.click()
    proof = json.loads(Path(saved.value.path()).read_text(encoding="utf-8"))
    assert proof["kind"] == "inclusion" and proof["entry"]["seq"] == proof["seq"]
    page = tab.open("audit")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Export").click()
    exported = tmp_path / "audit.jsonl"
    shutil.copy(saved.value.path(), exported)
    now = world.root.get("/api/audit/prove?from=0").json
    (tmp_path / "note").write_text(proof["checkpoint"], encoding="utf-8")
    (tmp_path / "key").write_text(now["public_key"], encoding="utf-8")
    checked = run("audit", "verify", "--file", exported, "--checkpoint", tmp_path / "note", "--public-key", tmp_path / "key")
    assert "entries: ok" in checked.out, checked


def test_settings_are_masked_saved_and_undone(world, console):
    page = console().open("settings/panels/ansible")
    page.get_by_label("ansible_default_user").fill("deployer")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("1 setting saved.").wait_for()
    assert world.root.get("/api/setup/feature/ansible").json["ansible_default_user"] == "deployer"
    page.goto("/console/#/settings/history")
    page.get_by_role("row", name=re.compile("ansible_default_user")).get_by_role("button", name="Undo…").click()
    page.get_by_role("button", name="Undo", exact=True).click()
    page.get_by_text("1 key restored.").wait_for()
    assert world.root.get("/api/setup/feature/ansible").json["ansible_default_user"] == ""
    page.goto("/console/#/settings/storage")
    page.get_by_label("storage_obj_cloud1_bucket").wait_for()
    assert "hunter2" not in page.content()


def test_a_bundle_is_compared_and_none_of_its_values_is_kept(world, console, tmp_path):
    bundle = tmp_path / "bundle.json"
    assert world.one.dashctl("migrate", "export", "--out", bundle).code == 0
    text = json.loads(bundle.read_text(encoding="utf-8"))
    text["config"]["cloud1_region"] = "eu-planted-1"
    bundle.write_text(json.dumps(text), encoding="utf-8")
    tab = console()
    page = tab.open("settings/migration")
    page.locator("input[type=file]").set_input_files(bundle)
    outcome = page.get_by_role("region", name="Outcome")
    outcome.get_by_text("cloud1_region", exact=True).wait_for()
    tab.check("a comparison")
    for place in (page.content(), page.evaluate("() => JSON.stringify([sessionStorage, localStorage])")):
        assert "eu-planted-1" not in place


def test_accounts_workgroups_and_tokens(world, console):
    tab = console()
    page = tab.open("settings/accounts")
    page.get_by_role("button", name="Add an account…").click()
    page.get_by_label("User").fill("carol")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("change_windows:use").check()
    tab.check("the dialog of an account")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("row", name=re.compile("carol.*change_windows:use")).wait_for()
    assert world.one.login("carol")
    page = tab.open("settings/workgroups")
    page.get_by_role("button", name="Add a workgroup…").click()
    page.get_by_label("Name").fill("night")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("row", name=re.compile("night")).wait_for()
    page = tab.open("settings")
    page.get_by_label("Name").fill("script")
    page.get_by_role("button", name="Issue a token").click()
    token = page.get_by_role("dialog").locator("pre").inner_text()
    assert token.startswith("dash_")
    page.get_by_role("button", name="Close").click()
    page.get_by_role("dialog").wait_for(state="detached")
    assert token not in page.content()


def test_the_session_is_in_the_tab_alone_and_goes_with_the_sign_out(world, console):
    tab = console("bob")
    page = tab.page
    stored = "() => [sessionStorage.length, localStorage.length, document.cookie]"
    assert page.evaluate(stored)[1:] == [0, ""]
    token = page.evaluate("() => JSON.parse(sessionStorage.session).token")
    assert token not in page.url
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="Sign in").wait_for()
    assert page.evaluate(stored) == [0, 0, ""]
    headers = {"Authorization": f"Bearer {token}"}
    assert world.one.anonymous.get("/api/auth/me", headers=headers).status == 401


def test_a_session_that_ends_is_said_and_what_was_typed_stays(world, console):
    tab = console("bob")
    page = tab.open("gate/try")
    page.get_by_label("Region").fill("half filled")
    page.evaluate("() => { const s = JSON.parse(sessionStorage.session); sessionStorage.session = JSON.stringify({...s, expires: Date.now() + 120000}); }")
    page.reload()
    tab.settle()
    page.get_by_role("alert").get_by_text("Your session ends in 2 min.").wait_for()
    tab.check("the warning")
    token = page.evaluate("() => JSON.parse(sessionStorage.session).token")
    world.one.anonymous.post("/api/auth/logout", headers={"Authorization": f"Bearer {token}"})
    page.get_by_role("button", name="Try it").click()
    page.get_by_role("dialog", name="Your session has ended").wait_for()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("dialog").get_by_role("button", name="Sign in").click()
    page.get_by_role("dialog").wait_for(state="detached")
    assert page.get_by_label("Region").input_value() == "half filled"
    page.get_by_role("button", name="Try it").click()
    page.get_by_role("region", name="Outcome").get_by_role("heading", name="Verdict").wait_for()


def test_an_error_is_a_sentence_with_the_next_step_and_the_request_id(world, console):
    page = console().open("jobs/11111111-2222-3333-4444-555555555555")
    box = page.get_by_role("alert").first
    assert "It may have been removed" in box.inner_text()
    request = box.locator("code").inner_text()
    assert any(line.get("request_id") == request and line.get("status") == 404 for line in world.one.events("request"))


def test_everything_is_reached_with_the_keyboard(world, console):
    tab = console("alice")
    page = tab.page
    page.reload()
    tab.settle()
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "main"
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keyboard shortcuts").wait_for()
    tab.check("the shortcuts")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("j")
    page.get_by_role("heading", name="Jobs", level=1).wait_for()
    tab.settle()
    page.keyboard.press("/")
    assert page.evaluate("() => document.activeElement.type") == "search"


def test_without_the_stream_of_events_the_page_asks(world, console):
    tab = console("bob")
    tab.page.route("**/api/events*", lambda route: route.fulfill(status=503, body="{}"))
    tab.page.reload()
    page = tab.open("jobs?status=awaiting_approval")
    held = world.held_job()
    page.locator(f"a[href='#/jobs/{held}']").wait_for()
