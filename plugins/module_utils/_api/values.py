# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values that fields of the platform take, as far as the specification names them.

They are plain texts, because results hold them and Ansible takes nothing else. The platform may add others: a
value that is none of these is not an error.
"""

from __future__ import annotations


class Family:
    """The family of a service (Families)."""

    GAME = "GAME"
    APP = "APP"
    COMPUTE = "COMPUTE"
    VIRTUAL_MACHINE = "VIRTUAL_MACHINE"
    DEDICATED = "DEDICATED"
    BUCKET = "BUCKET"


FAMILIES = [
    Family.GAME,
    Family.APP,
    Family.COMPUTE,
    Family.VIRTUAL_MACHINE,
    Family.DEDICATED,
    Family.BUCKET,
]
WITH_SETTINGS = (Family.GAME, Family.APP)
"""The families that the settings apply to (Settings). How the others refuse them is not shown."""


class ServiceStatus:
    """The administrative life of a service, an application among them (Service ``status``)."""

    PROVISIONING = "PROVISIONING"
    AWAITING_ADMIN = "AWAITING_ADMIN"
    ACTIVE = "ACTIVE"
    SUSPENDED = "SUSPENDED"
    DELETING = "DELETING"
    DELETED = "DELETED"
    FAILED = "FAILED"

    ALL = (PROVISIONING, AWAITING_ADMIN, ACTIVE, SUSPENDED, DELETING, DELETED, FAILED)
    DELETING_OR_DELETED = (DELETING, DELETED)


class ContainerState:
    """The condition of the container of a service at this second (Container ``state``)."""

    RUNNING = "running"
    STOPPED = "stopped"
    STARTING = "starting"
    STOPPING = "stopping"
    INSTALLING = "installing"
    UNKNOWN = "unknown"

    KNOWN = (RUNNING, STOPPED, STARTING, STOPPING, INSTALLING)


class BackupStatus:
    """How far a backup is (Backup ``status``). A snapshot has none; one is made up for it."""

    PENDING = "PENDING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    RESTORING = "RESTORING"


class ScanStatus:
    """The verdict on a release (Scan status of a release)."""

    PENDING = "PENDING"
    PASSED = "PASSED"
    WARNED = "WARNED"
    BLOCKED = "BLOCKED"
    FAILED = "FAILED"


SEVERITIES = ["critical", "high", "medium", "low"]
"""How grave a flaw is, the gravest first, as options and results write it (Scan report: ``counts``)."""
