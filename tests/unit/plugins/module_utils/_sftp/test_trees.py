# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many works at once end together, and clean up when they do."""

from __future__ import annotations

import asyncio

import pytest

from ansible_collections.hosted.services.plugins.module_utils._sftp.trees import run_all


class Work:
    """Goes on for ever, and takes some turns of the loop to clean up."""

    def __init__(self, turns: int) -> None:
        self.turns = turns
        self.begun = asyncio.Event()
        self.cleaned = False

    async def run(self) -> None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            for _turn in range(self.turns):
                await asyncio.sleep(0)
            self.cleaned = True


def test_what_is_called_off_cleans_up_to_its_end() -> None:
    async def call_off() -> list[Work]:
        works = [Work(1), Work(9)]
        whole = asyncio.ensure_future(run_all(*(work.run() for work in works)))
        for work in works:
            await work.begun.wait()
        whole.cancel()
        with pytest.raises(asyncio.CancelledError):
            await whole
        return works

    assert all(work.cleaned for work in asyncio.run(call_off()))


def test_an_error_ends_the_others_once_they_have_cleaned_up() -> None:
    async def fail() -> Work:
        work = Work(9)

        async def failing() -> None:
            await work.begun.wait()
            raise ValueError("first")

        with pytest.raises(ValueError, match="first"):
            await run_all(work.run(), failing())
        return work

    assert asyncio.run(fail()).cleaned


def test_nothing_to_do() -> None:
    asyncio.run(run_all())
