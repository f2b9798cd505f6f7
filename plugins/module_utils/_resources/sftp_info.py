# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading where and as whom the files of a service are reached (SFTP)."""

from __future__ import annotations

from .services.on_service import OnServiceOptions, sftp_access
from .shared.plan import Plan, Resource, Task


class SftpInfoResource(Resource[OnServiceOptions]):
    """The SFTP access of a service. Its password cannot be read."""

    result_key = "sftp"

    def plan(self, task: Task[OnServiceOptions]) -> Plan:
        return Plan(result=sftp_access(task).as_dict())


SFTP_INFO = SftpInfoResource()
