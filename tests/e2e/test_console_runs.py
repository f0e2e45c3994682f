"""Runs, hosts and agents in the console."""
import re

from support.agents import ScriptedAgent
from support.console_fixtures import browser, console, width, world  # noqa: F401  pytest finds fixtures by their names
from support.jobs import wait_for
from support.working_agents import AgentProcess, agent_row


def test_an_asset_runs_on_a_host(world, console):
    page = console().open("runs?asset=hello.sh&backend=obj_cloud1")
    assert page.get_by_label("Asset").input_value() == "obj_cloud1/hello.sh"
    page.get_by_label("here (127.0.0.1)").check()
    page.get_by_role("button", name="Run", exact=True).click()
    started = page.get_by_role("region", name="Outcome").get_by_role("link").first
    started.wait_for()
    job_id = started.get_attribute("href").rsplit("/", 1)[1]
    done = wait_for(world.root, job_id, "completed", "failed")
    assert done["status"] == "completed", (done["error_message"], done["progress_message"])
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


def test_a_host_that_answers_is_said_to(world, console):
    tab = console()
    page = tab.open("runs/hosts")
    page.get_by_role("row", name=re.compile("here")).get_by_role("button", name="Test").click()
    dialog = page.get_by_role("dialog", name="Test of here")
    dialog.get_by_text("Connected and signed in.").wait_for()
    tab.check("a test that passed")


def add_agent_on(page, name):
    """Adds an agent by the page's form; returns the enrolment code of the dialog, which stays open."""
    page.get_by_role("button", name="Add an agent…").click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Granted job types").fill("agent_storage")
    page.get_by_role("button", name="Add", exact=True).click()
    return page.get_by_role("dialog").locator("pre").first.inner_text()


def test_an_agent_is_added_enrolled_and_seen_online_without_reload(world, console):
    tab = console()
    page = tab.open("runs/agents")
    code = add_agent_on(page, "site-one")
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
    page.get_by_role("button", name="Revoke", exact=True).click()
    row.get_by_text("revoked").wait_for()
    assert agent.lease().status == 401


def test_a_bulk_run_makes_a_job_for_each_host_in_one_batch(world, console):
    assert world.root.post("/api/hosts", {"name": "there", "address": "127.0.0.1", "connection": "local"}).status == 201
    page = console().open("runs?asset=hello.sh&backend=obj_cloud1")
    for name in ("here", "there"):
        page.get_by_label(f"{name} (127.0.0.1)", exact=True).check()
    page.get_by_label("A job for each host").check()
    page.get_by_role("button", name="Run", exact=True).click()
    outcome = page.get_by_role("region", name="Outcome")
    outcome.locator(".badge", has_text="completed").nth(1).wait_for()
    outcome.get_by_role("link", name="All jobs of this batch").click()
    page.get_by_text("Jobs of batch").wait_for()
    rows = page.get_by_role("table", name="Jobs").locator("tbody tr")
    page.wait_for_function("() => document.querySelectorAll('tbody tr').length === 2")
    assert rows.get_by_text("completed").count() == 2
    assert world.root.delete("/api/hosts/there").status in (200, 204)


def test_a_real_agent_enrols_with_the_code_of_the_page_and_ends_when_it_is_revoked(world, console):
    tab = console()
    page = tab.open("runs/agents")
    code = add_agent_on(page, "site-two")
    page.get_by_role("button", name="Close").click()
    row = page.get_by_role("row", name=re.compile("site-two"))
    row.get_by_text("enrolling").wait_for()
    agent = AgentProcess(world.one, world.root, world.folder / "site-two", "site-two", code=code).enroll()
    try:
        agent.start()
        row.get_by_text("online").wait_for()
        row.get_by_text(agent_row(world.root, agent.id)["agent_version"], exact=True).wait_for()
        row.get_by_role("button", name="Revoke…").click()
        page.get_by_label("Type site-two to go on").fill("site-two")
        page.get_by_role("button", name="Revoke", exact=True).click()
        row.get_by_text("revoked").wait_for()
        assert agent.process.wait(timeout=60) != 0, "an agent without a key has nothing to do"
        agent.process = None
    finally:
        agent.kill()
