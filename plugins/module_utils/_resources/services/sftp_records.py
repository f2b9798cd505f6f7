# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remembers where the SFTP access of each service is, from one run of the inventory to the next.

Reading it takes a call for each service. A record holds until the status of its service changes or it is too
old. It has a host, a port and a user name, and no secret. That a service has no access is not remembered: it
may be refused for a moment only, because capabilities follow the status.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..shared.controller_state import collection_folder, write_json

FOLDER = "inventory"
ACCESS = ("host", "port", "user")

Service = dict[str, Any]


@dataclass
class SftpRecords:
    """The records of an account. ``max_age`` is in seconds; without one, nothing is read or written."""

    account: str
    max_age: float
    reread: bool = False
    """Whether to read everything from the platform once more."""
    records: dict[str, Mapping[str, Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.records = read_records(self.path, self.max_age) if self.max_age > 0 else {}

    @property
    def path(self) -> str:
        """The file of the records."""
        return os.path.join(collection_folder(FOLDER), f"sftp-{self.account[:32]}.json")

    def fill(self, services: Sequence[Service]) -> list[Service]:
        """Put what is remembered into the services; return those whose access has to be read."""
        left = []
        for service in services:
            record = None if self.reread else self.records.get(service["id"])
            if record is None or record["status"] != service["status"]:
                left.append(service)
            else:
                service["sftp"] = record["access"]
        return left

    def keep(self, services: Sequence[Service]) -> None:
        """Remember the access of services, which was just read.

        :raises OSError: if the file cannot be written.
        """
        if not services or self.max_age <= 0:
            return
        at = time.time()
        for service in services:
            access = service["sftp"]
            self.records[service["id"]] = {"status": service["status"], "access": access, "at": at}
        write_json(self.path, {id: record for id, record in self.records.items() if record["access"]})


def read_records(path: str, max_age: float) -> dict[str, Mapping[str, Any]]:
    """Return the records of a file that are not too old; none of a file that is missing or damaged.

    One of the future comes from a clock that was set back, and is too old as well.
    """
    now = time.time()
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        return {str(id): entry for id, entry in content.items() if is_record(entry, now, max_age)}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def is_record(entry: Any, now: float, max_age: float) -> bool:
    """Tell whether an entry has the form of a record, and is not too old."""
    try:
        access = entry["access"]
        is_whole = sorted(access) == sorted(ACCESS) and isinstance(access["host"], str) and access["port"] > 0
        return bool(is_whole and isinstance(entry["status"], str) and 0 <= now - entry["at"] < max_age)
    except (KeyError, TypeError):
        return False
