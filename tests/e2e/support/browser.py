"""The console in a real Chromium: Debian's, driven by Playwright of the doubles' virtual environment."""
import contextlib
import os
import shutil
import sys
from pathlib import Path

from support.instance import PASSWORD

DOUBLES_HOME = Path(os.environ.get("DOUBLES_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dashctl/doubles")
WIDTHS = (360, 1280, 2560)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
AXE = DOUBLES_HOME / "npm/node_modules/axe-core/axe.min.js"

# Every violation of the policy, of whatever kind, is kept for the test to see.
LISTENER = """window.violations = [];
document.addEventListener("securitypolicyviolation", (e) => window.violations.push(`${e.effectiveDirective} ${e.blockedURI} ${e.sourceFile}`));"""


# Drops a file of this text onto the zone of a page, as a mouse does.
DROP = """([name, text]) => {
    const data = new DataTransfer()
    data.items.add(new File([text], name))
    for (const type of ["dragover", "drop"]) document.querySelector(".drop").dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}))
}"""


@contextlib.contextmanager
def chromium():
    """A running browser."""
    found = sorted((DOUBLES_HOME / "venv/lib").glob("python3*/site-packages"))
    assert found, "no Playwright: run scripts/doubles/install.sh browser"
    sys.path.append(str(found[0]))
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield browser
        browser.close()


class Console:
    """One user's tab."""

    def __init__(self, browser, instance, width=1280, theme="light", zone="Europe/Berlin"):
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme, timezone_id=zone, locale="en-GB",
                                           accept_downloads=True, base_url=instance.url)
        self.context.add_init_script(LISTENER)
        self.page = self.context.new_page()
        self.page.set_default_timeout(15_000)
        self.errors = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def sign_in(self, user="root", password=PASSWORD):
        self.page.goto("/console/")
        self.page.get_by_label("User").fill(user)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Sign in").click()
        self.settle()
        return self

    def open(self, path):
        """Goes to a view by its address, as a deep link does."""
        self.page.evaluate("hash => { delete document.getElementById('main').dataset.shown; location.hash === hash ? location.reload() : location.hash = hash }", f"#/{path}")
        self.settle()
        return self.page

    def settle(self):
        """Waits until the view of the address is shown and nothing in it loads any more."""
        self.page.wait_for_function("""() => document.getElementById('main').dataset.shown?.split('?')[0] === location.hash.split('?')[0]
            && !document.querySelector('#main [aria-busy], #main .loading')""")

    def resize(self, width):
        self.page.set_viewport_size({"width": width, "height": 900})

    def overflow(self):
        """What is wider than the window, as its tag and class; empty when nothing is."""
        return self.page.evaluate("""() => document.documentElement.scrollWidth <= innerWidth ? [] :
            [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
              .slice(0, 5).map(e => `${e.tagName}.${e.className} ${e.textContent.slice(0, 40)}`)""")

    def background(self):
        return self.page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")

    def axe(self):
        """What axe-core finds, by rule and place. Evaluated through the debugger, so that the page's policy holds."""
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        result = self.page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
        return [f"{found['id']}: {node['html'][:160]} ({node['failureSummary'][:300]})" for found in result for node in found["nodes"]]

    def check(self, what=""):
        """No finding of axe-core, nothing too wide, no violation of the policy, no error of a script."""
        assert self.axe() == [], what
        self.check_policy(what)

    def check_policy(self, what=""):
        assert self.page.evaluate("() => window.violations") == [], what
        assert self.errors == [], what

    def close(self):
        self.context.close()
