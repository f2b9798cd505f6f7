# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Editors complete and check blueprints by the published schema: a real language server."""

from __future__ import annotations

import re
from pathlib import Path

from integration.ansible_run import REPOSITORY
from integration.language_server import LanguageServer, install

SCHEMA = REPOSITORY / "docs" / "blueprint.schema.json"
GUIDES = REPOSITORY / "docs" / "guides"
MISTAKES = {
    "  db:\n    product: postgresql": ("  db:\n    prodct: postgresql", "Property prodct is not allowed."),
    "ram_gb: 2, ": ("ram_gb: big, ", "Incorrect type"),
    "state: started": ("state: running", "Value is not accepted"),
    "project: shop\n": ("", 'Missing property "project"'),
    "LOG_LEVEL: info": ("LOG_LEVEL: 4", "Incorrect type"),
}
"""Changes to the blueprint of the guide, and what an editor says of each."""


def blueprint_of(guide: str) -> str:
    """Return the first blueprint of a guide. Its first line names the published schema; here, the file."""
    text = re.findall(r"```yaml\n(.*?)```", (GUIDES / guide).read_text(), re.S)[0]
    first, __, rest = text.partition("\n")
    assert first.startswith("# yaml-language-server: $schema=https://")
    assert first.endswith("/docs/blueprint.schema.json")
    return f"# yaml-language-server: $schema={SCHEMA.as_uri()}\n{rest}"


def test_an_editor_checks_and_completes(tmp_path: Path) -> None:
    text, exported = blueprint_of("blueprints.md"), blueprint_of("clicks-to-file.md")
    with LanguageServer(install(tmp_path / "server")) as server:
        assert server.diagnose(tmp_path / "right.yml", text) == []
        assert server.diagnose(tmp_path / "exported.yml", exported) == []
        for number, (before, (after, said)) in enumerate(MISTAKES.items()):
            assert before in text
            found = server.diagnose(tmp_path / f"wrong{number}.yml", text.replace(before, after, 1))
            assert any(said in message for message in found), (after, found)
        unfinished = tmp_path / "unfinished.yml"
        lines = [text.splitlines()[0], "project: shop", "services:", "  db:", "    pro"]
        server.diagnose(unfinished, "\n".join(lines))
        assert "product" in server.complete(unfinished, 4, 7)
