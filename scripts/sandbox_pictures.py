# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take the pictures of the sandbox's page in docs/guides, after a run of the quickstart playbook.

`make pictures` runs it. It needs Chromium.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from ansible_collections.hosted.services.scripts.pictures import write_picture
from browser import CHROMIUM, Browser
from demo import INVENTORY, demo_environment
from hosted_sandbox.testing import Sandbox

ROOT = Path(__file__).resolve().parent.parent
PLAYBOOK = ROOT / "playbooks" / "quickstart.yml"
#: The pictures: width, height, and whether the page is dark.
PICTURES = {"sandbox-page.png": (1280, 900, False), "sandbox-page-phone.png": (390, 844, True)}
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


def run_quickstart(sandbox: Sandbox) -> None:
    """Run the playbook on an account that has a shop for a week already, under a few faults."""
    sandbox.reset(clock="2026-11-02T09:30:00Z", seed=SEED)
    sandbox.clock(advance=7 * 24 * 3600)
    sandbox.control("POST", "/faults", {"faults": FAULTS})
    with tempfile.TemporaryDirectory() as folder:
        inventory = Path(folder) / "account.hosted.yml"
        inventory.write_text(INVENTORY)
        command = ["ansible-playbook", "-i", str(inventory), str(PLAYBOOK)]
        subprocess.run(command, env=demo_environment(sandbox, Path(folder)), check=True)


def main() -> None:
    """Take every picture."""
    if CHROMIUM is None:
        sys.exit("Install Chromium first.")
    with Sandbox() as sandbox, Browser() as browser:
        run_quickstart(sandbox)
        for name, (width, height, dark) in PICTURES.items():
            browser.size(width, height, dark)
            browser.open(f"{sandbox.control_url}/")
            browser.wait("document.getElementById('state').textContent === 'Live'")
            write_picture(browser, name)


if __name__ == "__main__":
    main()
