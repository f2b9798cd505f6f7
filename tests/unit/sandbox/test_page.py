# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of the control port: what it shows, what it keeps to itself, and what its buttons do."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

import pytest
import requests

from hosted_sandbox.testing import Sandbox
from unit.sandbox.conftest import Order

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
HOSTILE = "<script>alert('x')</script>"
ALONE = ("input", "link", "meta")
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBKTlMcRvVHbAYS8iDkE5SMKZNGmWpzUQXWSsVLzOlWl laptop"


class Parsed(HTMLParser):
    """A page as elements and as the text of each table row."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.rows: list[str] = []
        self.text = ""
        self.labels = 0
        self.unlabeled: list[dict[str, str]] = []
        self._open: list[str] = []
        self.feed(source)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element, and a field that no label surrounds."""
        known = {name: value or "" for name, value in attrs}
        self.elements.append((tag, known))
        if tag in ("input", "select") and "label" not in self._open:
            self.unlabeled.append(known)
        if tag == "tr":
            self.rows.append("")
        if tag not in ALONE:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Check that elements are nested properly."""
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Collect the text."""
        self.text += data
        if "tr" in self._open:
            self.rows[-1] += f"{data}|"

    def row(self, *parts: str) -> str:
        """Return the only row that contains all of these texts."""
        (found,) = [row for row in self.rows if all(part in row for part in parts)]
        return found

    def all(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of all elements of a name."""
        return [attributes for name, attributes in self.elements if name == tag]


def look(sandbox: Sandbox, query: str = "") -> Parsed:
    """Return the page as a browser gets it."""
    answer = requests.get(f"{sandbox.control_url}/{query}", headers={"Accept": BROWSER}, timeout=10)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    return Parsed(answer.text)


@pytest.mark.parametrize("accept", [None, "*/*", "application/json", "application/json, text/html;q=0.5"])
def test_programs_get_json_as_before(sandbox: Sandbox, accept: str | None) -> None:
    """And the API has no page."""
    answer = requests.get(f"{sandbox.control_url}/", headers={"Accept": accept}, timeout=10)
    assert answer.json()["base_url"] == sandbox.base_url
    answers = [sandbox.api("GET", "/", headers={"Accept": each}) for each in ("*/*", BROWSER)]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].json() == answers[1].json() and answers[0].headers == answers[1].headers


def test_services_by_project(sandbox: Sandbox) -> None:
    """A long table says how much it leaves out."""
    ids = sandbox.seed({
        "projects": ["empty"],
        "services": [
            {"name": "mc", "product": "minecraft", "project": "web"},
            {"name": "asleep", "product": "postgresql", "project": "web", "status": "SUSPENDED"},
            {"name": "broken", "product": "factorio", "status": "FAILED", "failure_reason": "no disk"},
            {"name": "theirs", "product": "linux", "account": "account-other"},
        ],
    })["services"]  # fmt: skip
    page = look(sandbox)
    item = sandbox.api("GET", f"/api/resources/{ids['mc']}").json()
    minecraft = f"mc|{item['address']}|Minecraft server|GAME · Paris 1|ACTIVE|running|2|4|20|10.74|"
    assert page.row("mc|", "GAME") == minecraft
    asleep = "asleep|not public|PostgreSQL|APP · Paris 1|SUSPENDED|1|1|10|4.31|"
    assert page.row("asleep|", "Paris") == asleep
    assert "FAILED|no disk|" in page.row("broken|", "Paris")
    # The active one at its full price, the suspended one at that of its disk.
    assert page.row("web|", "services") == "web|2 services · 11.59 a month|"
    assert page.row("empty|") == "empty|0 services · 0.00 a month|"
    other = "default|of account-other · default project · 1 service · 4.31 a month|"
    assert page.row("of account-other") == other
    sandbox.seed({"projects": [f"project-{number}" for number in range(205)]})
    page = look(sandbox)
    shown = len([row for row in page.rows if " a month|" in row and "service" in row])
    assert (shown, re.findall("and [0-9]+ more", page.text)) == (200 - 4, ["and 13 more"])


def test_orders_and_costs(sandbox: Sandbox, order: Order) -> None:
    """A look at them changes nothing."""
    sandbox.clock(freeze=True)
    kept, gone = order(name="kept"), order(name="gone")
    sandbox.clock(advance=730 * 3600)
    sandbox.api("DELETE", f"/api/resources/{gone}")
    sandbox.clock(advance=730 * 3600)
    billed = {line["service_id"]: line["cents"] for line in sandbox.ledger()["billed"]}
    assert (billed[kept], billed[gone]) == (2148, 1074)
    before, page, after = sandbox.control("GET", "/state"), look(sandbox), sandbox.control("GET", "/state")
    assert {**before["records"], "meta": after["records"]["meta"]} == after["records"]
    assert len(sandbox.journal()) == 3
    assert page.row("kept|", "|10.74|10.74|").endswith("|10.74|10.74|21.48|")
    assert page.row("gone|").endswith("|10.74|0.00|10.74|")
    assert page.row("All|") == "All|10.74|32.22|"
    assert "10,000.00 deposited, 32.22 billed, 9,967.78 EUR left" in page.text
    figures = "Balance9,967.78 EURRunning rate10.74 EUR a monthBilled32.22 EURServices1 1 activeOrders2"
    assert figures in page.text


def test_requests_newest_first(sandbox: Sandbox) -> None:
    sandbox.fault("projects.create", "status", status=503)
    sandbox.api("POST", "/api/projects", {"name": "one"})
    sandbox.api("POST", "/api/projects", {"name": "two"})
    key = sandbox.api("GET", "/api/projects").json()[-1]["id"]
    sandbox.api("GET", f"/api/projects/{key}")
    lines = sandbox.journal()
    rows = [row for row in look(sandbox).rows if "/api/" in row]
    assert [row.split("|", 1)[1] for row in rows] == [
        f"GET|projects.get|/api/projects/{key[:6]}…|200|{lines[3]['ms']}|",
        f"GET|projects.list|/api/projects|200|{lines[2]['ms']}|",
        f"POST|projects.create|/api/projects|201|{lines[1]['ms']}|",
        f"POST|projects.create|/api/projects|none|{lines[0]['ms']}|status|",
    ]
    writes = [row for row in look(sandbox, "?requests=writes").rows if "/api/" in row]
    assert writes == rows[2:]


def test_hostile_names_are_text(sandbox: Sandbox) -> None:
    app = {"slug": "shop", "environment": {"A": HOSTILE}}
    service = {"name": HOSTILE, "product": "minecraft", "project": HOSTILE, "status": "FAILED"}
    seed = {**service, "failure_reason": HOSTILE, "backups": [{"name": HOSTILE}]}
    sandbox.seed({"services": [seed], "apps": [app], "ssh_keys": [{"name": HOSTILE, "public_key": KEY}]})
    sandbox.fault("projects.list", "redirect", location=HOSTILE)
    sandbox.fault("projects.list", "status", retry_after=HOSTILE)
    sandbox.api("GET", f"/api/{HOSTILE}")
    sandbox.api("GET", '/api/"onclick="x')
    page = look(sandbox)
    assert page.all("script") == [{"src": "/page/page.js", "defer": ""}]
    # A service, a project, a backup and a key, by what follows their names.
    after = ("|not public", "|1 service", f"|{HOSTILE}|backup", "|ssh-ed25519")
    before = ("FAILED|", "/api/", "to ", "Retry-After ")
    places = [*(HOSTILE + text for text in after), *(text + HOSTILE for text in before), '"onclick="x']
    assert [place for place in places if not any(place in row for row in page.rows)] == []
    assert {name for __, attributes in page.elements for name in attributes if name.startswith("on")} == set()


def test_no_secret_is_on_the_page(sandbox: Sandbox, order: Order) -> None:
    key = order("postgresql", "db", dimensions={"cpuCores": 1, "ramGb": 1, "storageGb": 10},
                variables={"PASSPHRASE": "open-sesame"})  # fmt: skip
    generated = sandbox.api("POST", f"/api/resources/{key}/sftp/password").json()["password"]
    connection = sandbox.api("GET", f"/api/resources/{key}/database/connection").json()
    registry = sandbox.api("GET", "/api/registry/credentials").json()["secret"]
    sandbox.api("GET", f"/api/projects?token={sandbox.token}")
    tokens = sandbox.control("GET", "/")["tokens"].values()
    secrets = [generated, connection["password"], connection["url"], registry, "open-sesame", *tokens]
    source = requests.get(sandbox.control_url, headers={"Accept": BROWSER}, timeout=10).text
    assert "db" in Parsed(source).text
    assert [secret for secret in secrets if secret in source] == []


def test_its_forms_are_calls_of_the_control_port(sandbox: Sandbox) -> None:
    """The browser's own tests press them."""
    forms = [(form.get("data-method", "POST"), form["action"]) for form in look(sandbox).all("form")]
    assert forms == [("POST", "/clock"), ("DELETE", "/faults"), ("POST", "/faults"), ("POST", "/reset")]
    for method, action in forms:
        answer = requests.request(method, sandbox.control_url + action, timeout=10)
        assert (answer.status_code, "needs the header" in answer.text) == (403, True)


def test_everything_is_its_own_and_has_a_label_and_one_id(sandbox: Sandbox, order: Order) -> None:
    order()
    answer = requests.get(sandbox.control_url, headers={"Accept": BROWSER}, timeout=10)
    page = Parsed(answer.text)
    ids = Counter(attributes["id"] for __, attributes in page.elements if "id" in attributes)
    assert [name for name, number in ids.items() if number > 1] == []
    assert page.unlabeled == []
    assert {section["aria-labelledby"] for section in page.all("section")} <= set(ids)
    assert all(attributes.get("id") for __, attributes in page.elements if "data-live" in attributes)
    sections = {f"#{section['id']}" for section in page.all("section")}
    assert sections <= {link["href"] for link in page.all("a")}
    links = [element.get("href") or element.get("src") for __, element in page.elements]
    links += [form["action"] for form in page.all("form")]
    assert {link.split("/")[0] for link in links if link} <= {"", "data:image", *sections}
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    for name, kind in (("page.js", "text/javascript"), ("page.css", "text/css")):
        file = requests.get(f"{sandbox.control_url}/page/{name}", timeout=10)
        assert (file.status_code, file.headers["Content-Type"].partition(";")[0]) == (200, kind)
        assert "http" not in file.text.replace("https://www.gnu.org/licenses/gpl-3.0.txt", "")
