# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The enum values that the specification names: plain strings, as task results need. Others may be added."""

from __future__ import annotations


class Family:
    GAME = "GAME"
    APP = "APP"
    COMPUTE = "COMPUTE"
    VIRTUAL_MACHINE = "VIRTUAL_MACHINE"
    DEDICATED = "DEDICATED"
    BUCKET = "BUCKET"


FAMILIES = [value for name, value in vars(Family).items() if name.isupper()]
WITHOUT_CONTAINER = (Family.BUCKET, Family.DEDICATED)
"""The families that have no container, and so no state (Families)."""
WITH_SETTINGS = (Family.GAME, Family.APP)
"""The families that have settings (Settings). How the platform refuses them for others is not shown."""


class ServiceStatus:
    """The administrative status of a service, applications included (Service ``status``)."""

    PROVISIONING = "PROVISIONING"
    AWAITING_ADMIN = "AWAITING_ADMIN"
    ACTIVE = "ACTIVE"
    SUSPENDED = "SUSPENDED"
    DELETING = "DELETING"
    DELETED = "DELETED"
    FAILED = "FAILED"

    ALL = (PROVISIONING, AWAITING_ADMIN, ACTIVE, SUSPENDED, DELETING, DELETED, FAILED)
    DELETING_OR_DELETED = (DELETING, DELETED)
    NOT_CREATED = (PROVISIONING, AWAITING_ADMIN, FAILED)


class ContainerState:
    """The live state of a service's container (Container ``state``)."""

    RUNNING = "running"
    STOPPED = "stopped"
    STARTING = "starting"
    STOPPING = "stopping"
    INSTALLING = "installing"
    UNKNOWN = "unknown"

    UP = (RUNNING, STARTING, INSTALLING)
    """It runs, or is about to."""
    PASSING = (STARTING, STOPPING, INSTALLING)
    """On its way from one state to another."""
    KNOWN = (RUNNING, STOPPED, *PASSING)


class BackupStatus:
    """The progress of a backup (Backup ``status``). Snapshots have none; the collection derives one."""

    PENDING = "PENDING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    RESTORING = "RESTORING"


class ScanStatus:
    PENDING = "PENDING"
    PASSED = "PASSED"
    WARNED = "WARNED"
    BLOCKED = "BLOCKED"
    FAILED = "FAILED"


SEVERITIES = ["critical", "high", "medium", "low"]
"""The severities of flaws, highest first, as in options and results (Scan report: ``counts``)."""
