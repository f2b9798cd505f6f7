# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take the pictures of pages in docs/guides: of the sandbox after the quickstart, and of a report.

`make pictures` runs it. It needs Chromium, and pngquant, which leaves less than half of each picture.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import report_account
from ansible_collections.hosted.services.scripts.sources import ROOT
from browser import CHROMIUM, Browser
from demo import INVENTORY, demo_environment
from hosted_sandbox.testing import Sandbox

FOLDER = ROOT / "docs" / "guides"
MOST_BYTES = 150_000
SANDBOX_PICTURES = {"sandbox-page.png": (1280, 900, False), "sandbox-page-phone.png": (390, 844, True)}
"""Width, height, and whether the page is dark."""
SEED = {
    "services": [{"name": "shop-db", "product": "postgresql", "project": "web"}],
    "apps": [
        {
            "slug": "shop",
            "project": "web",
            "images": [{"tag": "v1"}, {"tag": "v2", "packages": {"runc": "1.0.0~rc6"}}],
            "deployed": "v1",
        }
    ],
}
FAULTS = [
    {"route": "order.quote", "kind": "status", "status": 503, "retry_after": 1},
    {"route": "*", "kind": "latency", "latency": 0.05, "probability": 0.2, "count": None},
]
REPORT_PICTURES = {
    "report.png": (1060, 900, False, "body"),
    "report-projects.png": (1060, 960, False, "#projects"),
    "report-backups.png": (1060, 820, False, "#backups"),
    "report-phone.png": (390, 844, True, "body"),
}
"""Width, height, whether the page is dark, and the part of the page at the top."""
SLEEP = '{"plan": "office-hours", "ok": true, "finished": "2026-11-19T06:00:12Z", '
SLEEP += '"state": {"saved": "12.40", "saves_monthly": "18.90"}}'
BACKUPS = '{"plan": "nightly", "ok": true, "finished": "2026-11-19T03:04:00Z", "problems": []}'
DRILL = '{"service": "drill", "finished": "2026-11-02T04:00:00Z", "restored": true}'


def write_picture(browser: Browser, name: str) -> None:
    """Write what is visible in the browser to a file of the guides."""
    reduce = ["pngquant", "--strip", "256", "-"]
    content = subprocess.run(reduce, input=browser.picture(), stdout=subprocess.PIPE, check=True).stdout
    if len(content) > MOST_BYTES:
        sys.exit(f"{name} has {len(content)} bytes, more than {MOST_BYTES}")
    (FOLDER / name).write_bytes(content)


def run_quickstart(sandbox: Sandbox) -> None:
    """Run the playbook on an account that has a shop for a week already, under a few faults."""
    sandbox.reset(clock="2026-11-02T09:30:00Z", seed=SEED)
    sandbox.clock(advance=7 * 24 * 3600)
    sandbox.control("POST", "/faults", {"faults": FAULTS})
    with tempfile.TemporaryDirectory() as folder:
        inventory = Path(folder) / "account.hosted.yml"
        inventory.write_text(INVENTORY)
        command = ["ansible-playbook", "-i", str(inventory), str(ROOT / "playbooks" / "quickstart.yml")]
        subprocess.run(command, env=demo_environment(sandbox, Path(folder)), check=True)


def write_report(sandbox: Sandbox, folder: Path) -> Path:
    """Run the playbook and return the file that it has written."""
    report_account.build(sandbox, report_account.shown_account())
    for name, content in {"backups": BACKUPS, "sleep": SLEEP}.items():
        (folder / name).mkdir()
        (folder / name / "plan.json").write_text(content)
    (folder / "drill.json").write_text(DRILL)
    (folder / "shop.yml").write_text(
        "project: shop\nservices: {db: {product: postgresql, dimensions: {ram_gb: 8}}}\n"
    )
    names = {"as_of": report_account.AS_OF.isoformat(), "title": "'Example Ltd'", "drift_files": "shop.yml"}
    names |= {"backups_dir": "backups", "sleep_dir": "sleep", "drill": "drill.json"}
    variables = " ".join(f"report_{name}={value}" for name, value in names.items())
    command = ["ansible-playbook", str(ROOT / "playbooks" / "report.yml"), "-e", variables]
    subprocess.run(command, env=demo_environment(sandbox, folder), cwd=folder, check=True)
    return folder / "report.html"


def main() -> None:
    """Take every picture."""
    if CHROMIUM is None or not shutil.which("pngquant"):
        sys.exit("Install Chromium and pngquant first.")
    with Browser() as browser:
        with Sandbox() as sandbox:
            run_quickstart(sandbox)
            for name, (width, height, dark) in SANDBOX_PICTURES.items():
                browser.size(width, height, dark)
                browser.open(f"{sandbox.control_url}/")
                browser.wait("document.getElementById('state').textContent === 'Live'")
                write_picture(browser, name)
        with Sandbox() as sandbox, tempfile.TemporaryDirectory() as folder:
            page = write_report(sandbox, Path(folder))
            for name, (width, height, dark, top) in REPORT_PICTURES.items():
                browser.size(width, height, dark)
                browser.open(page.as_uri())
                browser.value(f"document.querySelector('{top}').scrollIntoView()")
                write_picture(browser, name)


if __name__ == "__main__":
    main()
