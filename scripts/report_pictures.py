# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take the pictures of the report in docs/guides, of an account that has something of everything.

`make pictures` runs it. It needs Chromium.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import report_account
from ansible_collections.hosted.services.scripts.pictures import write_picture
from browser import CHROMIUM, Browser
from demo import demo_environment
from hosted_sandbox.testing import Sandbox

ROOT = Path(__file__).resolve().parent.parent
#: The pictures: width, height, whether the page is dark, and the part of the page at the top.
PICTURES = {
    "report.png": (1060, 900, False, "body"),
    "report-projects.png": (1060, 960, False, "#projects"),
    "report-backups.png": (1060, 820, False, "#backups"),
    "report-phone.png": (390, 844, True, "body"),
}
SLEEP = '{"plan": "office-hours", "ok": true, "finished": "2026-11-19T06:00:12Z", '
SLEEP += '"state": {"saved": "12.40", "saves_monthly": "18.90"}}'
BACKUPS = '{"plan": "nightly", "ok": true, "finished": "2026-11-19T03:04:00Z", "problems": []}'
DRILL = '{"service": "drill", "finished": "2026-11-02T04:00:00Z", "restored": true}'


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
    environment = {**os.environ, **demo_environment(sandbox, folder), "PWD": str(folder)}
    subprocess.run(command, env=environment, check=True)
    return folder / "report.html"


def main() -> None:
    """Take every picture."""
    if CHROMIUM is None:
        sys.exit("Install Chromium first.")
    with tempfile.TemporaryDirectory() as folder, Sandbox() as sandbox, Browser() as browser:
        page = write_report(sandbox, Path(folder))
        for name, (width, height, dark, top) in PICTURES.items():
            browser.size(width, height, dark)
            browser.open(page.as_uri())
            browser.value(f"document.querySelector('{top}').scrollIntoView()")
            write_picture(browser, name)


if __name__ == "__main__":
    main()
