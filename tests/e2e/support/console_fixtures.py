"""What the tests of the console share: a width of the window, an instance with something in every view, a browser, and tabs."""
import shutil
from pathlib import Path

import pytest

from support.browser import WIDTHS, Console, chromium
from support.console_world import ConsoleWorld
from support.databases import drop_databases
from support.s3_bucket import Bucket


@pytest.fixture(scope="module", params=WIDTHS)
def width(request):
    """Every flow is walked in a window of each width."""
    return request.param


@pytest.fixture(scope="module")
def world(tmp_path_factory, s3_server, width):
    folder = tmp_path_factory.mktemp(f"console{width}")
    for path in (folder, *folder.parents):
        if path != Path("/") and path.stat().st_uid == 0:
            path.chmod(path.stat().st_mode | 0o055)
    made = ConsoleWorld(folder, Bucket(s3_server))
    yield made
    made.one.stop()
    drop_databases(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture
def console(world, browser, width):
    """Opens tabs, each with its own user; at the end none may have violated the policy of the page or be wider than the window."""
    opened = []

    def make(user="root"):
        opened.append(Console(browser, world.one, width))
        return opened[-1].sign_in(user)

    yield make
    for tab in opened:
        assert tab.overflow() == [], tab.page.url
        tab.check_policy()
        tab.close()
