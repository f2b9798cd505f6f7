# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why something could not be written, in words that help."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import asyncssh
import pytest

from ansible_collections.hosted.services.plugins.module_utils.sftp.sides import Remote
from ansible_collections.hosted.services.plugins.module_utils.sftp.trees import Entry, Kind

ENTRY = Entry(Kind.FILE, size=5000)


class Disk:
    """A server that tells how much room there is, or does not."""

    def __init__(self, blocks: int | None) -> None:
        self.blocks = blocks

    async def statvfs(self, path: bytes) -> SimpleNamespace:
        if self.blocks is None:
            raise asyncssh.SFTPOpUnsupported("Operation not supported")
        return SimpleNamespace(bavail=self.blocks, frsize=1000)


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        (4, "no space left on the service: 4000 bytes are free, the file has 5000"),
        (9, "Failure"),
        (None, "Failure"),
    ],
)
def test_a_full_disk_is_asked_about(blocks: int | None, said: str) -> None:
    remote = Remote(Disk(blocks), "up")
    assert asyncio.run(remote.reason(asyncssh.SFTPFailure("Failure"), ENTRY)) == said


def test_other_reasons_are_passed_on() -> None:
    remote = Remote(Disk(0), "up")
    assert (
        asyncio.run(remote.reason(asyncssh.SFTPPermissionDenied("Permission denied"), ENTRY))
        == "Permission denied"
    )
    assert (
        asyncio.run(remote.reason(OSError(28, "No space left on device"), ENTRY)) == "No space left on device"
    )
