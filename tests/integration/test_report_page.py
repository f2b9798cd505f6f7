# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a report in a real browser: for everybody, on any screen, and with no request to anywhere."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.plugin_utils._report.render import report_html
from browser import CHROMIUM, Browser
from integration.proxy_server import running
from unit.plugins.reports import account, hostile_report, report_on

pytestmark = [
    pytest.mark.night,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
AXE = "axe-core@4.14.1"
SCREENS = {"wide": (1280, 900, False), "dark": (1280, 900, True), "phone": (360, 800, False)}
REPORTS = {
    "usual": lambda: report_on(account([f"service {number}" for number in range(14)], 3)),
    "hostile": hostile_report,
}
VIOLATIONS = """axe.run(document).then(found => found.violations.map(
  rule => [rule.id, rule.nodes.map(node => node.html.slice(0, 200))]))"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    with Browser() as started:
        yield started


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe, from npm; without it, the test is skipped."""
    folder = tmp_path_factory.mktemp("axe")
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), AXE]
    if subprocess.run(npm, check=False, timeout=600).returncode:
        pytest.skip(f"npm cannot install {AXE}")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()


@pytest.fixture(params=REPORTS)
def page(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    path.write_text(report_html(REPORTS[request.param]()))
    return path


@pytest.mark.parametrize("screen", SCREENS)
def test_everybody_can_read_it(browser: Browser, axe: str, page: Path, screen: str) -> None:
    """With all tables open, and without scrolling sideways."""
    browser.size(*SCREENS[screen])
    browser.open(page.as_uri())
    browser.value("document.querySelectorAll('details').forEach(each => each.open = true)")
    browser.value(f"{axe}; 0")
    assert browser.value(VIOLATIONS) == []
    width = SCREENS[screen][0]
    assert browser.value("document.documentElement.scrollWidth") <= width


def test_the_keyboard_reaches_everything(browser: Browser, page: Path) -> None:
    browser.size(*SCREENS["phone"])
    browser.open(page.as_uri())
    reached = []
    for _press in range(40):
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        reached.append(browser.value("document.activeElement.className || document.activeElement.tagName"))
    assert reached[0] == "skip"
    assert {"A", "scroll", "SUMMARY"} <= set(reached)


def test_nothing_that_is_added_runs(browser: Browser, page: Path) -> None:
    """The policy holds even if somebody gets a tag into the file."""
    script = "<script>document.title = 'it ran'</script><img src=x onerror=\"document.title = 'it ran'\">"
    page.write_text(page.read_text().replace("<main ", f"{script}<main "))
    before = len(browser.problems)
    browser.open(page.as_uri())
    assert browser.value("document.title") != "it ran"
    assert len(browser.problems) > before
    del browser.problems[before:]


def test_no_request_goes_anywhere(browser: Browser, page: Path) -> None:
    asked: list[str] = []

    class Handler(SimpleHTTPRequestHandler):
        """Serves the folder of the page."""

        def log_message(self, format: str, *args: Any) -> None:
            """Note what was asked for."""
            asked.append(self.path)

    with running(
        ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(page.parent)))
    ) as server:
        browser.open(f"http://127.0.0.1:{server.server_port}/report.html")
        resources = browser.value("performance.getEntriesByType('resource').map(each => each.name)")
        browser.call("Page.printToPDF", preferCSSPageSize=True)
    assert asked == ["/report.html"] and resources in ([], ["data:,"])
    assert browser.problems == [], json.dumps(browser.problems)
