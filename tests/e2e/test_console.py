"""The shell of the console: sessions, errors, keys, the stream of events, and an instance without an administrator."""
from support.browser import Console
from support.console_fixtures import browser, console, width, world  # noqa: F401  pytest finds fixtures by their names
from support.instance import PASSWORD, Instance
from support.jobs import job


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


def test_the_order_of_the_focus_is_that_of_the_page(world, console):
    page = console("alice").page
    page.reload()
    page.get_by_role("link", name="Overview", include_hidden=True).wait_for(state="attached")
    menu = page.get_by_role("button", name="Menu")
    if menu.is_visible():
        menu.click()
    page.evaluate("() => document.activeElement.blur()")
    order = []
    for _ in range(14):
        page.keyboard.press("Tab")
        order.append(page.evaluate("() => document.activeElement.textContent"))
    wanted = ["dashctl", "alice", "?", "Sign out", "Overview", "Jobs", "Storage", "Gate", "Windows", "Runs", "Audit", "Settings"]
    assert [one for one in order if one in wanted] == wanted, order


def test_a_rejection_by_the_keyboard_alone_is_said_to_screen_readers(world, console):
    held = world.held_job()
    tab = console("bob")
    page = tab.open(f"jobs/{held}")
    for place in ("banner", "main", "status"):
        assert page.get_by_role(place).count() >= 1, place
    assert page.get_by_role("navigation", name="Views", include_hidden=True).count() == 1

    def press_until(name):
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("() => document.activeElement.textContent") == name:
                return page.keyboard.press("Enter")
        raise AssertionError(f"{name} is not reached")

    press_until("Reject…")
    dialog = page.get_by_role("dialog", name="Reject")
    dialog.wait_for()
    page.keyboard.press("Tab")
    page.keyboard.type("by keyboard")
    press_until("Reject")
    dialog.wait_for(state="detached")
    page.get_by_role("status").get_by_text("Rejected.", exact=True).wait_for()
    page.locator("header.title .badge", has_text="rejected").wait_for()
    assert job(world.root, held)["progress_message"] == "by keyboard"


def test_a_deep_link_leads_to_its_view_through_the_sign_in(world, browser, width):
    job_id = world.finished_job("linked")
    tab = Console(browser, world.one, width)
    page = tab.page
    page.goto(f"/console/#/jobs/{job_id}")
    page.get_by_label("User").fill("alice")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="linked", level=1).wait_for()
    tab.check("a job behind a sign-in")
    tab.close()


def test_without_the_stream_of_events_the_page_asks(world, console):
    tab = console("bob")
    tab.page.route("**/api/events*", lambda route: route.fulfill(status=503, body="{}"))
    tab.page.reload()
    page = tab.open("jobs?status=awaiting_approval")
    held = world.held_job()
    page.locator(f"a[href='#/jobs/{held}']").wait_for()


def test_a_fresh_instance_gets_its_first_administrator_from_the_code(browser, width, tmp_path):
    one = Instance(tmp_path / "fresh").start()
    tab = Console(browser, one, width)
    page = tab.page
    try:
        page.goto("/console/")
        page.get_by_role("heading", name="Set up").wait_for()
        tab.check("the form of a claim")
        page.get_by_label("User").fill("boss")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_label("Setup code").fill("0" * 32)
        page.get_by_role("button", name="Set up").click()
        page.get_by_role("alert").wait_for()
        page.get_by_label("Setup code").fill((one.folder / "setup-code").read_text())
        page.get_by_role("button", name="Set up").click()
        page.get_by_role("heading", name="Overview").wait_for(state="attached")
        assert one.login("boss").get("/api/auth/me").json["is_admin"] is True
        page.get_by_role("button", name="Sign out").click()
        page.get_by_role("heading", name="Sign in").wait_for()
        tab.check_policy()
    finally:
        tab.close()
        one.stop()
