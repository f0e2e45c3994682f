"""Every view of the console: its widths, its accessibility, and names of others as text."""
import pytest

from support.browser import WIDTHS
from support.console_fixtures import browser, console, world  # noqa: F401  pytest finds fixtures by their names
from support.console_world import HOSTILE

VIEWS = ["", "jobs", "storage", "storage/backends", "storage/migrate", "storage/images", "storage/state", "gate", "gate/settings", "gate/try",
         "gate/decisions", "gate/change", "windows", "runs", "runs/hosts", "runs/agents", "audit", "audit/verify", "settings",
         "settings/panels/ansible", "settings/storage", "settings/history", "settings/migration", "settings/accounts", "settings/workgroups"]


@pytest.fixture(scope="module")
def width():
    return WIDTHS[1]


def test_every_view_fits_three_widths_and_is_accessible_in_both_themes(world, console):
    tab = console()
    job_id, held = world.finished_job(), world.held_job()
    linked = set()
    for path in [*VIEWS, f"jobs/{job_id}", f"jobs/{held}"]:
        tab.open(path)
        for width in (*WIDTHS, 3840):
            tab.resize(width)
            assert tab.overflow() == [], (path, width)
            if width == WIDTHS[0]:
                assert tab.axe() == [], (path, width)
        linked |= set(tab.page.locator("#nav a, nav.tabs a").evaluate_all("links => links.map(a => a.hash.slice(2))"))
        light = tab.background()
        tab.page.emulate_media(color_scheme="dark")
        assert tab.background() != light, path
        assert tab.axe() == [], (path, "dark")
        tab.page.emulate_media(color_scheme="light")
        assert tab.page.get_by_role("heading", level=1).count() == 1, path
        assert tab.page.get_by_text("failed to show the answer").count() == 0, path
    assert {one for one in linked if not any(f"{path}/".startswith(f"{one}/") for path in VIEWS)} == set(), "views that were not looked at"


def test_names_and_texts_of_others_are_shown_as_text(world, console):
    tab = console()
    world.finished_job(HOSTILE)
    for path in ("jobs", "storage", "windows", "runs", "audit"):
        page = tab.open(path)
        assert HOSTILE[:20] in page.locator("#main").inner_text(), path
        assert page.locator("#main img").count() == 0, path
        tab.check_policy(path)
