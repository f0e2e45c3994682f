"""Plans that wait for another person, in the console: what would change is shown, then approved or rejected, and both see it without a reload."""
import pytest

from support.console_fixtures import browser, console, width, world  # noqa: F401  pytest finds fixtures by their names
from support.deploys import VARIABLES, log_of, put_module
from support.jobs import job, wait_for

MODULE = VARIABLES + 'resource "terraform_data" "machine" { input = var.name }\noutput "resource_id" { value = "i-${var.name}" }\n'


@pytest.fixture
def planned(world):
    """Makes a deploy of alice's whose plan waits; returns the job."""
    assert world.root.put("/api/setup/config", {"deploy_plan_approval": "always"}).status == 200
    put_module(world.one.folder / "deploy", world.folder / "marks", name="cloud3-vm-deploy", text=MODULE)

    def make(name):
        answer = world.alice.post("/api/cloud3/deploy", {"region": "europe-west3-a", "instance_type": "e2-medium", "image": "debian-12", "name": name, "workgroup": "web"})
        assert answer.status == 200, answer
        held = wait_for(world.root, answer.json["job_id"], "awaiting_approval", "failed", "completed")
        assert held["status"] == "awaiting_approval", (held["error_message"], log_of(world.root, held["id"]))
        return held

    yield make
    assert world.root.put("/api/setup/config", {"deploy_plan_approval": None}).status == 200


def open_from_the_overview(tab, held):
    """An approver finds what waits on the page that stays open."""
    tab.page.locator(f"a[href='#/jobs/{held['id']}']").first.click()
    tab.settle()
    return tab.page


def test_a_plan_appears_to_the_approver_who_sees_exactly_what_is_approved(planned, world, console):
    bob, alice = console("bob"), console("alice")
    held = planned("exact-1")
    page = open_from_the_overview(bob, held)
    plan = page.get_by_role("heading", name="Plan").locator("..")
    assert "+1 to add, ~0 to change, −0 to destroy" in plan.inner_text() and held["plan"]["digest"] in plan.inner_text()
    page.get_by_role("log").get_by_text("terraform_data.machine").first.wait_for()
    assert page.get_by_role("button", name="Reschedule…").count() == 0, "a plan cannot be put off"
    page.get_by_role("button", name="Approve…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("You approve exactly this.").wait_for()
    words = dialog.inner_text()
    for word in ("cloud3:vm:deploy", "exact-1", "alice", "as soon as it is approved", "+1 to add, ~0 to change, −0 to destroy",
                 held["plan"]["digest"], held["approval_digest"], '"instance_type": "e2-medium"', "Expires"):
        assert word in words, (word, words)
    bob.check("the dialog of a plan")
    alice.open(f"jobs/{held['id']}")
    assert alice.page.get_by_role("button", name="Approve…").count() == 0, "nobody approves his own"
    assert job(world.root, held["id"])["status"] == "awaiting_approval", "to look approves nothing"
    dialog.get_by_role("button", name="Approve", exact=True).click()
    for tab in (alice, bob):
        tab.page.locator("header.title .badge", has_text="completed").wait_for(timeout=60_000)
    alice.page.get_by_role("row").filter(has_text="plan").get_by_text("bob").wait_for()
    made = job(world.root, held["id"])
    assert made["plan"] == held["plan"] and made["approvals"]["plan"]["by"] == "bob" and made["resource_id"] == "i-exact-1"


def test_a_plan_is_rejected_and_its_requester_reads_why_without_reload(planned, world, console):
    held = planned("unwanted")
    alice, bob = console("alice"), console("bob")
    alice.open(f"jobs/{held['id']}")
    page = open_from_the_overview(bob, held)
    page.get_by_role("button", name="Reject…").click()
    page.get_by_label("Reason").fill("not in this region")
    page.get_by_role("button", name="Reject", exact=True).click()
    alice.page.locator("header.title .badge", has_text="rejected").wait_for()
    alice.page.get_by_text("not in this region").wait_for()
    assert job(world.root, held["id"])["resource_id"] is None
    bob.open("")
    assert bob.page.locator(f"a[href='#/jobs/{held['id']}']").count() == 0, "it waits no more"


def test_an_approval_of_a_plan_that_ended_meanwhile_is_refused_with_a_sentence(planned, world, console):
    held = planned("gone")
    bob = console("bob")
    page = bob.open(f"jobs/{held['id']}")
    page.get_by_role("button", name="Approve…").click()
    dialog = page.get_by_role("dialog")
    assert world.alice.delete(f"/api/jobs/{held['id']}").status == 200
    dialog.get_by_role("button", name="Approve", exact=True).click()
    dialog.get_by_role("alert").get_by_text("Reload to see what changed").wait_for()
    page.locator("header.title .badge", has_text="cancelled").wait_for()
    assert job(world.root, held["id"])["approvals"]["plan"]["by"] is None
