# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which backup of a service is in progress, as far as the platform and the token let that be known."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    AccessDenied,
    HostedError,
    ServerFailure,
)
from ansible_collections.hosted.services.plugins.module_utils._api.models import Backup, Service
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.copies import (
    backup_in_progress,
)

WITH_BACKUPS = Service.model_construct(id="svc_1", name="db", capabilities=["suspension", "backups"])


class Backups:
    """A client that knows the backups of a service, or cannot read them."""

    def __init__(self, *found: dict[str, Any], error: HostedError | None = None) -> None:
        self.found = [Backup.model_construct(**{"created_at": None, **each}) for each in found]
        self.error = error

    def backups(self, id: str) -> list[Backup]:
        """Return the backups."""
        assert id == "svc_1"
        if self.error is not None:
            raise self.error
        return self.found


def ask(client: Backups, service: Service = WITH_BACKUPS) -> tuple[Any, list[str]]:
    """Return the backup in progress, and the warnings."""
    task: Task[Any] = Task(None, None)  # type: ignore[arg-type]
    return backup_in_progress(task, client, service), list(task.warnings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "what"),
    [
        ("PENDING", "backup 'nightly' is being made"),
        ("RESTORING", "backup 'nightly' is being restored"),
        ("COMPLETED", None),
        ("FAILED", None),
        ("SOMETHING_NEW", None),
    ],
)
def test_what_is_made_or_restored_is_in_progress(status: str, what: str | None) -> None:
    found, warnings = ask(Backups({"id": "b", "name": "nightly", "status": status}))
    assert (found and found.what) == what and not warnings
    assert found is None or found.id == "b"


def test_the_newest_one_counts() -> None:
    """An older one may be one that never ends."""
    old = {"id": "a", "name": "old", "status": "PENDING", "created_at": "2026-11-01T00:00:00Z"}
    new = {"id": "b", "name": "new", "status": "PENDING", "created_at": "2026-11-02T00:00:00Z"}
    done = {"id": "c", "name": "done", "status": "COMPLETED", "created_at": "2026-11-03T00:00:00Z"}
    for order in ((old, new, done), (done, new, old)):
        assert ask(Backups(*order))[0].id == "b"


def test_a_service_without_backups_is_not_asked_for_them() -> None:
    service = Service.model_construct(id="svc_1", name="bucket", capabilities=["suspension"])
    assert ask(Backups(error=ServerFailure("asked")), service) == (None, [])


def test_a_token_for_other_things_is_no_reason_to_warn() -> None:
    """It says so in each run, of each service."""
    assert ask(Backups(error=AccessDenied("no", 403))) == (None, [])


def test_another_failure_is_told() -> None:
    found, warnings = ask(Backups(error=ServerFailure("the node is away")))
    assert found is None
    assert [text for text in warnings if "'db'" in text and text.endswith("the node is away")] == warnings
    assert len(warnings) == 1
