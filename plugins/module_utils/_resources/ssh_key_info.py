# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading the SSH keys of the account (SSH keys)."""

from __future__ import annotations

from dataclasses import dataclass

from .shared.names import same_name
from .shared.options import Options, option
from .shared.plan import Plan, Resource, Task
from .shared.public_key import keys_known_as


@dataclass(frozen=True, kw_only=True)
class SshKeyInfoOptions(Options):
    """Which keys to read."""

    name: str | None = option(None, selects=True)
    fingerprint: str | None = option(None, selects=True)


class SshKeyInfoResource(Resource[SshKeyInfoOptions]):
    """All keys, or those of a name or a fingerprint."""

    result_key = "ssh_keys"

    def plan(self, task: Task[SshKeyInfoOptions]) -> Plan:
        """Read; there is nothing to do."""
        name, fingerprint = task.options.name, task.options.fingerprint
        keys = task.account.ssh_keys()
        if fingerprint is not None:
            keys = keys_known_as(fingerprint, keys)
        return Plan(result=[key.as_dict() for key in keys if name is None or same_name(name, key.name)])


SSH_KEY_INFO = SshKeyInfoResource()
