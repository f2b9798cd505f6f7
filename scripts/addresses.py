# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the address of the project's repository, `repository` in galaxy.yml, wherever it belongs.

That line is the only one to edit. The other addresses in galaxy.yml begin with it, and so do those that
people copy out of the repository. `homepage` holds the one that was written last, and is what this replaces.
"""

from __future__ import annotations

import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
FILES = (
    "galaxy.yml",
    "README.md",
    "SECURITY.md",
    "docs/guides/blueprints.md",
    "docs/guides/clicks-to-file.md",
    "plugins/module_utils/_resources/blueprints/schema.py",
    "playbooks/files/quickstart.yml",
)
"""The files that contain addresses of the repository."""
NOWHERE = "example.invalid"
"""The host of the address until a maintainer fills it in."""
UNSET = """galaxy.yml: repository is {repository!r}, an address that leads nowhere. Write the address of the \
project's public
git repository there, run `python scripts/addresses.py`, commit the files that it changes, and run
`make release` again."""
STALE = """{names}: other addresses than those of repository in galaxy.yml. Run `python scripts/addresses.py`,
and commit."""


def addresses(root: Path) -> tuple[str, str]:
    """Return the address of the repository, and the one that was written into the files last."""
    galaxy = yaml.safe_load((root / "galaxy.yml").read_text(encoding="utf-8"))
    return galaxy["repository"].rstrip("/"), galaxy["homepage"]


def stale(root: Path) -> dict[str, str]:
    """Return the files with another address than `repository`, each with the text it should have."""
    new, old = addresses(root)
    found = {}
    for name in FILES:
        text = (root / name).read_text(encoding="utf-8")
        if (replaced := text.replace(old, new)) != text:
            found[name] = replaced
    return found


def problem(root: Path) -> str | None:
    """Return why a release cannot be made with these addresses; nothing when it can."""
    repository, _written = addresses(root)
    if NOWHERE in repository:
        return UNSET.format(repository=repository)
    names = stale(root)
    return STALE.format(names=", ".join(names)) if names else None


def main() -> int:
    """Write the address into every file."""
    for name, text in stale(ROOT).items():
        (ROOT / name).write_text(text, encoding="utf-8")
        print(f"{name}: updated")
    return 0


if __name__ == "__main__":
    sys.exit(main())
