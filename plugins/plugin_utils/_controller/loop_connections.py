# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The connections that a worker keeps between the items of a loop."""

from __future__ import annotations

import os
from collections.abc import Callable

from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import Transport


class LoopConnections:
    """Keeps the transport of the last item, because Ansible makes a new action for each item of a loop.

    Nothing that Ansible gives to an action lasts for exactly one loop, so there is one object for all.
    A fork starts without a transport: two processes that read from one socket would mix up their responses.
    """

    def __init__(self) -> None:
        self._key: object = None
        self._transport: Transport | None = None
        os.register_at_fork(after_in_child=self._forget)

    def get(self, key: object, open_new: Callable[[], Transport]) -> Transport:
        """Return the transport of the item before if its ``key`` was equal; otherwise open a new one."""
        if self._transport is None or key != self._key:
            if self._transport is not None:
                self._transport.close()
            self._key, self._transport = key, open_new()
        return self._transport

    def _forget(self) -> None:
        """Drop the transport without closing it, because the other process uses it."""
        self._key = self._transport = None
