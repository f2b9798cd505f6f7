# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The results of tasks, read by tests: a task that failed is not taken for one that had nothing to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TELL_OF_FAILURE = frozenset({"failed", "msg"})


class Result(dict[str, Any]):
    """What a task returned.

    A task that crashed changed nothing either. So `result["changed"]` raises for a task that failed, unless
    the test has looked at `failed` or `msg` before, as one does that expects the failure.

    Ansible takes `failed` out of what it hands to callbacks, and tells them in another way.
    """

    def __init__(self, result: Mapping[str, Any], failed: bool | None = None) -> None:
        super().__init__(result)
        self._failed = bool(result.get("failed")) if failed is None else failed
        self._failure_is_known = False

    def __getitem__(self, key: str) -> Any:
        self._look(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self._look(key)
        return super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self._look(key)
        return super().get(key, default)

    def _look(self, key: object) -> None:
        if key in TELL_OF_FAILURE:
            self._failure_is_known = True
        elif key == "changed" and self._failed and not self._failure_is_known:
            raise AssertionError(f"the task failed: {super().get('msg')}")
