"""The gate and the change windows in the console."""
import json
import re
from datetime import datetime, time, timedelta, timezone

from support.console_fixtures import browser, console, width, world  # noqa: F401  pytest finds fixtures by their names
from support.jobs import MACHINE


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
    outcome.get_by_text("Not within the time").wait_for(timeout=60_000)  # many evaluations


def test_a_rule_that_never_evaluates_and_a_broken_one_are_named(world, console):
    stray, broken = (world.one.folder / "policy" / name for name in ("stray.rego", "broken.rego"))
    stray.write_text("package admission.other\nimport rego.v1\ndeny contains \"no\" if false\n")
    tab = console()
    page = tab.open("gate")
    row = page.get_by_role("table", name="Rules", exact=True).get_by_role("row").filter(has_text="stray.rego")
    row.get_by_text("never evaluates", exact=True).wait_for()
    assert "admission.other" in row.inner_text()
    broken.write_text("package admission.broken\n\ndeny contains\n")
    page.reload()
    tab.settle()
    page.get_by_text("Every gated action is refused.").wait_for()
    page.get_by_text(re.compile(r"broken\.rego:\d")).first.wait_for()
    tab.check("a gate that refuses everything")
    stray.unlink()
    broken.unlink()
    page.reload()
    tab.settle()
    assert page.get_by_text("never evaluates").count() == 0 and page.get_by_text("Every gated action is refused.").count() == 0


def test_the_next_time_that_is_admitted_is_named(world, console):
    today = datetime.now(timezone.utc)
    path = "/api/setup/feature/admission_control"
    assert world.root.patch(path, {"admission_prod_window": [today.strftime("%a").lower()]}).status == 200
    page = console("alice").open("gate/try")
    for label, value in (("Region", "us-east-1"), ("Instance type", "t3.large"), ("Workgroup", "web")):
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_role("button", name="When may I?").click()
    outcome = page.get_by_role("region", name="Outcome")
    outcome.get_by_text("Admitted from").wait_for(timeout=60_000)
    from_then = datetime.fromisoformat(outcome.get_by_text("Admitted from").locator("time").get_attribute("datetime"))
    assert timedelta(0) < from_then - today <= timedelta(days=1) and from_then.time() == time(0), from_then
    assert outcome.locator(".badge").all_inner_texts() == ["deny", "allow"]
    assert world.root.patch(path, {"admission_prod_window": []}).status == 200


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


def test_decisions_are_filtered_and_the_filters_are_in_the_address(world, console):
    assert world.alice.post("/api/cloud1/deploy", {**MACHINE, "instance_type": "p5.48xlarge", "workgroup": "web"}).status == 403
    world.finished_job("decided")
    tab = console()
    page = tab.open("gate/decisions")
    table = page.get_by_role("table", name="Decisions")
    total = world.root.get("/api/admission/decisions").json["total"]
    page.get_by_text(f"{total} decisions").wait_for()
    page.get_by_label("Verdict").select_option("deny")
    denied = world.root.get("/api/admission/decisions?verdict=deny").json["total"]
    page.get_by_text(f"{denied} decision{'' if denied == 1 else 's'}", exact=True).wait_for()
    tab.settle()
    assert set(table.locator("td .badge").all_inner_texts()) == {"deny"} and 0 < denied < total
    page.reload()
    tab.settle()
    assert page.get_by_label("Verdict").input_value() == "deny" and table.locator("tbody tr").count() == denied
    page.get_by_label("User").fill("nobody")
    page.get_by_label("User").press("Tab")
    page.get_by_text("No decision matches.").wait_for()
    page.get_by_label("User").fill("alice")
    page.get_by_label("User").press("Tab")
    table.get_by_text("alice").first.wait_for()
    page.get_by_label("Of", exact=True).select_option("true")
    tab.settle()
    tries = world.root.get("/api/admission/decisions?verdict=deny&actor=alice&dry_run=true").json["total"]
    page.get_by_text(f"{tries} decision{'' if tries == 1 else 's'}", exact=True).wait_for()


def test_what_a_pasted_rule_would_change_is_said_and_nothing_is_installed(world, console):
    world.finished_job("would-be-denied")
    tab = console()
    page = tab.open("gate/change")
    page.get_by_label("Rule", exact=True).fill("no_big")
    page.get_by_label("Text").fill('package admission.no_big\nimport rego.v1\ndeny contains "<b>too big</b>" if input.request.name == "would-be-denied"\n')
    page.get_by_role("button", name="Compare").click()
    outcome = page.get_by_role("region", name="Outcome")
    outcome.get_by_text("verdict would change").wait_for()
    changed = outcome.get_by_role("table", name="Verdicts that change")
    assert changed.locator("tbody tr").count() == 1
    for word in ("allow", "deny", "<b>too big</b>"):
        changed.get_by_text(word, exact=True).wait_for()
    tab.check("a comparison of rules")
    assert "no_big" not in [r["rule"] for r in world.root.get("/api/settings/admission").json["rules"]]
    page.get_by_label("Text").fill("package admission.no_big\n\ndeny contains")
    page.get_by_role("button", name="Compare").click()
    outcome.get_by_role("alert").get_by_text("line 3").wait_for()


def test_a_comparison_of_rules_can_be_stopped(world, console):
    page = console().open("gate/change")
    page.route("**/api/admission/diff", lambda route: None)
    page.get_by_label("Rule", exact=True).fill("slow")
    page.get_by_label("Text").fill("package admission.slow")
    page.get_by_role("button", name="Compare").click()
    outcome = page.get_by_role("region", name="Outcome")
    outcome.get_by_role("progressbar").wait_for()
    outcome.get_by_role("button", name="Cancel").click()
    outcome.get_by_text("Cancelled.").wait_for()
