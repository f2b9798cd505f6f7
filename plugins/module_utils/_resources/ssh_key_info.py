# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading the SSH keys of the account (SSH keys)."""

from __future__ import annotations

from typing import Any, ClassVar

from .shared.plan import Plan, Resource, Task
from .shared.public_key import of_fingerprint


class SshKeyInfoResource(Resource):
    """All keys, or those of a name or a fingerprint."""

    noun = "ssh_keys"
    options: ClassVar[dict[str, Any]] = {"name": {"type": "str"}, "fingerprint": {"type": "str"}}
    selectors = frozenset({"name", "fingerprint"})

    def plan(self, task: Task) -> Plan:
        """Read; there is nothing to do."""
        name, fingerprint = task.options["name"], task.options["fingerprint"]
        keys = task.client.ssh_keys()
        if fingerprint is not None:
            keys = of_fingerprint(keys, fingerprint)
        return Plan(result=[key.as_dict() for key in keys if name in (None, key.name)])


SSH_KEY_INFO = SshKeyInfoResource()
