# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run of the integration tests had to do with the platform's routes, for `integration.coverage`.

ROUTES_SEEN names the folder for it; without it, as when a single test is run, nothing is kept. Each worker
has a file there, with a line for every request of the sandbox's journal.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hosted_sandbox.testing import Sandbox

FOLDER = os.environ.get("ROUTES_SEEN", "")
KEPT = ("method", "template", "agent", "status", "fault")


def keep(lines: Iterable[dict[str, Any]]) -> None:
    """Write lines to this process's file, each with the test that is running."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    with (Path(FOLDER) / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(json.dumps({"test": test, **line}) + "\n" for line in lines)


class NotedSandbox(Sandbox):
    """A sandbox whose journal is noted before it is forgotten."""

    def __init__(self, *arguments: str) -> None:
        super().__init__(*arguments)
        self._noted = 0

    def note(self) -> None:
        """Keep what is new in the journal."""
        if FOLDER:
            new = [line for line in self.journal() if line["n"] > self._noted]
            self._noted = max([self._noted, *(line["n"] for line in new)])
            keep({key: line[key] for key in KEPT} for line in new)

    def reset(self, **what: Any) -> Any:
        """Note, then begin anew."""
        self.note()
        return super().reset(**what)

    def clear_journal(self) -> None:
        """Note, then forget the requests so far."""
        self.note()
        super().clear_journal()
