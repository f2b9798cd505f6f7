# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which options lead a module to a route, where the module does more than one thing.

By module and route: options, with the values that do if not every value does. `integration.coverage` puts
them on its page and holds them against a whole run: each option and each value was in a task that called the
route, and no task called it without one of them.
"""

from __future__ import annotations

Leads = dict[str, dict[str, tuple[str, ...]]]

INCLUDED: dict[str, dict[str, str]] = {
    "app_info": {
        "APP_NODES": "nodes",
        "APP_PROJECTS": "projects",
        "RELEASES": "releases",
        "RELEASE_SCAN": "releases",
        "APP_LOGS": "logs",
    },
    "billing_info": {
        "BILLING_OVERVIEW": "overview",
        "WALLET": "wallet",
        "TRANSACTIONS": "transactions",
        "DAILY_SPEND": "daily_spend",
        "INVOICES": "invoices",
        "STATEMENTS": "statements",
    },
    "project_info": {"PROJECT": "services", "PROJECT_SPEND": "spend", "PROJECT_GRAPH": "graph"},
    "service_info": {
        "SERVICE": "details",
        "SETTINGS": "settings",
        "METRICS": "metrics",
        "EVENTS": "events",
        "LOGS": "logs",
        "USAGE": "usage",
        "BILLED_TOTALS": "billed_totals",
        "SFTP": "sftp",
        "BACKUPS": "backups",
        "SNAPSHOTS": "snapshots",
    },
}
"""What the value of `include` adds, by module and route."""

CHOSEN: Leads = {
    "backup": {
        "BACKUP_CREATE": ("state: present",),
        "BACKUP_RESTORE": ("state: restored",),
        "METRICS": ("state: restored",),
        "EVENTS": ("state: restored",),
        "BACKUP_DELETE": ("state: absent",),
    },
    "backup_retention": {
        "BACKUPS": ("kind: backups",),
        "BACKUP_DELETE": ("kind: backups",),
        "SNAPSHOTS": ("kind: snapshots",),
        "SNAPSHOT_DELETE": ("kind: snapshots",),
    },
    # A month without a statement is told with those that have one.
    "billing_info": {"STATEMENT": ("period",), "STATEMENTS": ("include: statements", "period")},
    "database_info": {
        "DATABASE_ROWS": ("table",),
        "CONNECTION": ("return_secrets: true", "inventory: false"),
    },
    "file": {
        "FILE_WRITE": ("state: present",),
        "FILE_CONTENTS": ("state: present",),
        "FILE_DIRECTORY": ("state: directory", "create_parents: true"),
        "FILE_RENAME": ("state: renamed",),
        "FILE_DELETE": ("state: absent",),
    },
    "file_info": {"FILE_CONTENTS": ("content: true",)},
    "project": {
        "PROJECT_CREATE": ("state: present",),
        "PROJECT_RENAME": ("new_name", "id"),
        "PROJECT_DELETE": ("state: absent",),
    },
    "quote": {
        "QUOTE": ("kind: service",),
        "APP_QUOTE": ("kind: application",),
        "APP_NODES": ("kind: application",),
    },
    "service": {
        "QUOTE": ("product", "preset"),
        "ORDER": ("product",),
        "NETWORK": ("public",),
        "SCALE": ("dimensions", "preset"),
        "COMMAND": ("command",),
        "MOVE": ("new_project",),
        "POWER": ("state: started, stopped, restarted, killed",),
        "SUSPEND": ("state: suspended",),
        "RESUME": ("state: started, resumed",),
        "SERVICE_DELETE": ("state: absent",),
        "BACKUPS": ("state: absent",),
    },
    # Where the list leaves open in which project a service is, the service is read itself.
    "service_info": {"SERVICE": ("include: details", "project")},
    "snapshot": {
        "SNAPSHOT_CREATE": ("state: present",),
        "SNAPSHOT_ROLLBACK": ("state: rolled_back",),
        "METRICS": ("state: rolled_back",),
        "EVENTS": ("state: rolled_back",),
        "SNAPSHOT_DELETE": ("state: absent",),
    },
    "ssh_key": {
        "SSH_KEY_ADD": ("state: present",),
        "SSH_KEY_DELETE": ("state: absent", "replace: true"),
    },
}

LEADS: Leads = {
    module: {
        **{route: (f"include: {part}",) for route, part in INCLUDED.get(module, {}).items()},
        **CHOSEN.get(module, {}),
    }
    for module in sorted({*INCLUDED, *CHOSEN})
}
