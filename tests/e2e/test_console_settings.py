"""The audit log, the settings and the accounts in the console."""
import json
import re
import shutil
from pathlib import Path

from support.browser import DROP
from support.console_fixtures import browser, console, width, world  # noqa: F401  pytest finds fixtures by their names
from support.instance import PASSWORD
from support.program import run


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
    page = tab.open("audit?username=root")
    page.get_by_label("Action").fill("config.*")
    page.get_by_label("Action").press("Tab")
    page.wait_for_function("() => location.hash.includes('action=config.*')")
    tab.settle()
    table = page.get_by_role("table", name="Entries")
    assert {one.split(".")[0] for one in table.locator("td:nth-child(4) code").all_inner_texts()} == {"config"}
    assert set(table.locator("td:nth-child(3)").all_inner_texts()) == {"root"}
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


def test_a_secret_is_hidden_and_stays_unless_it_is_written_anew(world, console):
    assert world.root.patch("/api/storage/config", {"storage_local_password": "hunter2hunter2"}).status == 200
    tab = console()
    page = tab.open("settings/storage")
    secret = page.get_by_label("storage_local_password")
    assert (secret.get_attribute("type"), secret.input_value(), secret.get_attribute("placeholder")) == ("password", "", "kept, hidden")
    assert "hunter2" not in page.content()
    page.get_by_label("storage_local_username").fill("filer")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("1 setting saved.").wait_for()
    tab.settle()
    revealed = world.one.dashctl("config", "get", "storage_local_password", "--reveal")
    assert revealed.out.strip() == "hunter2hunter2", "what was left blank stays"
    secret.fill("-")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("1 setting saved.").nth(1).wait_for()
    assert world.one.dashctl("config", "get", "storage_local_password", "--reveal").out.strip() == ""


def test_a_bundle_is_compared_and_none_of_its_values_is_kept(world, console, tmp_path):
    bundle = tmp_path / "bundle.json"
    assert world.one.dashctl("migrate", "export", "--out", bundle).code == 0
    text = json.loads(bundle.read_text(encoding="utf-8"))
    text["config"]["cloud1_region"] = "eu-planted-1"
    bundle.write_text(json.dumps(text), encoding="utf-8")
    tab = console()
    page = tab.open("settings/migration")
    page.evaluate(DROP, [bundle.name, bundle.read_text(encoding="utf-8")])
    outcome = page.get_by_role("region", name="Outcome")
    outcome.get_by_role("heading", name="Comparison with bundle.json").wait_for()
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
