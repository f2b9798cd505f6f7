# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The key of a service's SFTP server, pinned in a known_hosts file on first sight (SFTP)."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from .._sftp.library import require
from .._sftp.session import ACCEPT_NEW, STANDARD_PORT, HostKeys, ask_for_key
from .services.on_service import BY_SERVICE_OR_HOST, SftpServerOptions, sftp_access
from .shared.plan import Plan, Resource, Step, Task


class SftpHostKeyResource(Resource[SftpServerOptions]):
    """The host key of an SFTP server, compared with the known one. Does not log in."""

    result_key = "host_key"
    rules: ClassVar[dict[str, Any]] = BY_SERVICE_OR_HOST
    api_option = "service"

    def plan(self, task: Task[SftpServerOptions]) -> Plan:
        require()
        options, service = task.options, task.options.service
        access = sftp_access(task) if service else None
        host, port = (access.host, access.port) if access else (options.host or "", STANDARD_PORT)
        port = port if options.port is None else options.port
        path = os.path.expanduser(options.known_hosts)
        if not host:  # the service is still to be made, so its key will be new
            result = {"host": None, "port": port, "algorithm": None, "fingerprint": None, "known_hosts": path}
            step = Step(f"pin the key of service {service!r} in {path}", lambda: None)
            return Plan(result=result, steps=[step], after=result)
        keys = HostKeys(path, ACCEPT_NEW, host, port, task.warn)
        key = ask_for_key(keys, options.timeout)
        keys.judge("", key)
        kind, fingerprint = key.get_algorithm(), key.get_fingerprint()
        result = {"host": host, "port": port, "algorithm": kind, "fingerprint": fingerprint}
        result["known_hosts"] = path
        if keys.offered is None:
            return Plan(result=result, before=result, after=result)
        step = Step(f"pin the key of {keys.name} in {path}: {kind} {fingerprint}", keys.pin)
        return Plan(result=result, steps=[step], after=result)


SFTP_HOST_KEY = SftpHostKeyResource()
