# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run of the integration tests had to do with the platform's routes, for `integration.coverage`.

ROUTES_SEEN names the folder for it; without it, as when a single test is run, nothing is kept. Each worker
has a file there, with a line for every request of the sandbox's journal and one for every task of ours.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hosted_sandbox.testing import Sandbox

if TYPE_CHECKING:
    from integration.ansible_run import Outcome

FOLDER = os.environ.get("ROUTES_SEEN", "")
OURS = "hosted.services."


def keep(lines: Iterable[dict[str, Any]]) -> None:
    """Write lines to this process's file, each with the test that is running."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    with (Path(FOLDER) / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(json.dumps({"test": test, **line}) + "\n" for line in lines)


def note_tasks(outcomes: Iterable[Outcome]) -> None:
    """Keep what the collection's own tasks were given, and when each ran."""
    if FOLDER:
        ours = [task for task in outcomes if task.action.startswith(OURS) and not task.is_item]
        keep(
            {
                "module": task.action.removeprefix(OURS),
                "begun": task.begun,
                "ended": task.ended,
                "options": arguments(task.result),
            }
            for task in ours
        )


def arguments(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the arguments of a task, or those of each item of its loop; secrets are taken out already."""
    items = result.get("results")
    results = items if isinstance(items, list) else [result]
    return [item["invocation"]["module_args"] for item in results if "invocation" in item]


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


KEPT = ("method", "template", "agent", "real_at", "status", "fault")
