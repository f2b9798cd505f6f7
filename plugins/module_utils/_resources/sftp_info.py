# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading where and as whom the files of a service are reached (SFTP)."""

from __future__ import annotations

from typing import Any, ClassVar

from .services.on_service import HOST_IS_SERVICE, ON_SERVICE, sftp_access
from .shared.plan import Plan, Resource, Task


class SftpInfoResource(Resource):
    """The SFTP access of a service. Its password cannot be read."""

    result_key = "sftp"
    options: ClassVar[dict[str, Any]] = {**ON_SERVICE}
    selectors = frozenset(ON_SERVICE)
    host_options = HOST_IS_SERVICE
    places = tuple(ON_SERVICE)

    def plan(self, task: Task) -> Plan:
        """Read; there is nothing to do."""
        return Plan(result=sftp_access(task).as_dict())


SFTP_INFO = SftpInfoResource()
