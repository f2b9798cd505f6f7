# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page in a real browser: it follows what happens, and its buttons act without leaving it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from browser import CHROMIUM, Browser
from hosted_sandbox.testing import Sandbox

pytestmark = [pytest.mark.night, pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")]
NAME = "<img src=x onerror=\"document.title='hit'\">"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for all of these tests."""
    with Browser() as started:
        yield started


@pytest.fixture
def page(browser: Browser, sandbox: Sandbox) -> Iterator[Browser]:
    """The page of an empty account in a browser, which must find no fault with it."""
    browser.problems.clear()
    browser.size(1280, 900)
    browser.open(f"{sandbox.control_url}/")
    browser.value(f"location.href = {sandbox.page_url!r}")
    browser.wait("location.hash === ''")  # The secret is in no history.
    browser.value("window.opened = true")  # Lost if the page is loaded again.
    yield browser
    assert browser.problems == []


def shows(text: str, section: str) -> str:
    """Return an expression that is true if a section contains a text."""
    return f"document.getElementById('{section}').textContent.includes({text!r})"


def test_it_follows_what_happens(page: Browser, sandbox: Sandbox) -> None:
    sandbox.seed({"services": [{"name": NAME, "product": "minecraft", "project": "web"}]})
    sandbox.api("DELETE", "/api/projects/none")
    page.wait(
        f"document.querySelector('#services .changed .name')?.textContent && {shows('web', 'services')}"
    )
    page.wait(shows("DELETE", "requests"))
    assert page.value(f"document.querySelector('#services').textContent.includes({NAME!r})")
    assert (page.value("document.title"), page.value("window.opened")) == ("Platform sandbox", True)


def test_its_buttons_act_without_leaving_it(page: Browser, sandbox: Sandbox) -> None:
    sandbox.clock(freeze=True)
    before = sandbox.clock()["now"]
    page.click("button[value='86400']")
    page.wait(shows("Done: 1 day", "state"))
    assert sandbox.clock()["now"][:10] > before[:10]
    page.click("#controls details:not(.danger) summary")
    page.value("document.querySelector('[name=route]').value = 'order.create'")
    page.value("document.querySelector('[name=count]').value = ''")
    page.click("form[action='/faults'].fields button")
    page.wait(shows("order.create", "faults-live"))
    (fault,) = sandbox.control("GET", "/faults")
    assert (fault["route"], fault["status"], fault["count"]) == ("order.create", 503, None)
    page.click("form[data-method=DELETE] button")
    page.wait(shows("None", "faults-live"))
    sandbox.profile("terse")
    sandbox.seed({"projects": ["web"]})
    page.wait(shows("web", "services"))
    page.click(".danger summary")
    page.click(".danger button")  # The browser asks for the box to be ticked.
    page.click(".danger [type=checkbox]")
    page.click(".danger button")
    page.wait(f"!{shows('web', 'services')}")
    assert page.value("window.opened")
    assert sandbox.control("GET", "/profile")["name"] == "terse"


def test_its_buttons_need_the_secret_of_its_address(page: Browser, sandbox: Sandbox) -> None:
    page.value("sessionStorage.clear()")
    page.click("form[data-method=DELETE] button")
    page.wait(shows("at the address with #secret=", "problem"))
    assert [problem for problem in page.problems if "403" not in problem] == []
    page.problems.clear()


def test_a_refusal_stays_until_something_succeeds(page: Browser, sandbox: Sandbox) -> None:
    page.value("document.querySelector('[name=latency]').type = 'text'")
    page.value("document.querySelector('[name=latency]').value = 'soon'")
    page.value("document.querySelector('#controls details').open = true")
    page.click("form[action='/faults'].fields button")
    page.wait(shows("latency: Input should be a valid number", "problem"))
    sandbox.seed({"projects": ["web"]})
    page.wait(shows("web", "services"))
    assert page.value(shows("latency", "problem"))
    page.click("button[value='60']")
    page.wait("document.getElementById('problem').textContent === ''")
    # A browser reports the refusal as well.
    assert [problem for problem in page.problems if "400" not in problem] == []
    page.problems.clear()


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_no_width_scrolls_sideways(page: Browser, sandbox: Sandbox, width: int) -> None:
    long = "x" * 60
    sandbox.seed({
        "services": [{"name": long, "product": "minecraft", "project": long, "backups": [{"name": long}]}],
        "apps": [{"slug": "shop", "images": [{"tag": "v2", "packages": {"runc": "1.0.0~rc6"}}]}],
    })  # fmt: skip
    sandbox.fault("*", "redirect", location=f"http://elsewhere.invalid/{long}")
    sandbox.api("GET", f"/api/{long}", allow_redirects=False)
    page.size(width, 800)
    page.wait(shows(long, "services"))
    assert page.value("document.documentElement.scrollWidth") == width
