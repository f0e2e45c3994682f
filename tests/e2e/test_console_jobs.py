"""Jobs in the console: what waits, what was decided, the log, and the windows that a job moves to."""
import re
import uuid
from pathlib import Path

from support.console_fixtures import browser, console, width, world  # noqa: F401  pytest finds fixtures by their names
from support.console_world import HOSTILE
from support.jobs import MACHINE, executor, job, wait_for


def test_the_overview_says_what_waits_and_in_what_state_everything_is(world, console):
    held = world.held_job()
    page = console("bob").page
    assert page.get_by_role("link", name="web").first.get_attribute("href").startswith("#/jobs/")
    assert page.locator(f"a[href='#/jobs/{held}']").count() == 1
    root = console().page
    state = root.locator(".state")
    for word in ("intact", "AWS S3", "ready"):
        state.get_by_text(word).first.wait_for()


def test_the_overview_lists_what_failed_and_runs_and_what_the_doctor_found(world, console):
    executor(world.one, "cloud3-vm-deploy", "exit 3")
    executor(world.one, "cloud2-vm-deploy", "exec sleep 600")
    jobs = {name: world.root.post(f"/api/{cloud}/deploy", {**MACHINE, "name": name}).json["job_id"]
            for cloud, name in (("cloud3", "broken-1"), ("cloud2", "busy-1"))}
    wait_for(world.root, jobs["broken-1"], "failed")
    wait_for(world.root, jobs["busy-1"], "running")
    tab = console()
    page = tab.page
    page.get_by_role("table", name="Failed").locator(f"a[href='#/jobs/{jobs['broken-1']}']").wait_for()
    page.get_by_role("table", name="Running").locator(f"a[href='#/jobs/{jobs['busy-1']}']").wait_for()
    state = page.locator(".state")
    for row, words in (("Gate", "on engine ready"), ("Agents", "None is enrolled."), ("Stores", "active AWS S3")):
        assert words in state.locator("div", has=page.get_by_role("link", name=row, exact=True)).first.inner_text().replace("\n", " "), row
    found = {c["check"]: c for c in world.root.get("/api/doctor").json["checks"]}
    findings = page.get_by_role("heading", name="Findings").locator("..")
    for check in (c for c in found.values() if c["state"] != "good"):
        findings.get_by_text(check["message"], exact=False).wait_for()
    passed = [c for c in found.values() if c["state"] == "good"]
    findings.get_by_text(f"{len(passed)} checks passed").click()
    findings.get_by_text(passed[0]["message"], exact=False).first.wait_for()
    tab.check("the overview")
    assert world.root.delete(f"/api/jobs/{jobs['busy-1']}").status == 200
    page.get_by_role("table", name="Running").locator(f"a[href='#/jobs/{jobs['busy-1']}']").wait_for(state="detached")


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


def test_a_log_is_followed_while_the_job_runs(world, console):
    go = world.folder / f"go-{uuid.uuid4().hex}"
    executor(world.one, "cloud2-vm-deploy", f"echo first word; while [ ! -e {go} ]; do sleep 0.05; done; echo last word")
    job_id = world.root.post("/api/cloud2/deploy", {**MACHINE, "name": "slow-1"}).json["job_id"]
    page = console().open(f"jobs/{job_id}")
    log = page.get_by_role("log")
    log.get_by_text("first word").wait_for()
    page.get_by_text("1 line, following").wait_for()
    assert log.get_by_text("last word").count() == 0
    go.touch()
    log.get_by_text("last word").wait_for()
    page.locator("header.title .badge", has_text="completed").wait_for()
    page.get_by_text("2 lines, completed").wait_for()


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
