# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every rule, limit, error and transition of the specification; each needs a test.

`RULES` maps a name to the section and a summary. Tests carry `pytest.mark.rule(name)`; the
table of rules is generated from both, and a test fails if a rule has no test.
"""

from __future__ import annotations

APPS = "Endpoints / Applications"
SERVICES = "Endpoints / Services"
SETTINGS = "Endpoints / Settings"
POWER = "Endpoints / Power, suspension, deletion"
FILES = "Endpoints / Files"
BACKUPS = "Endpoints / Backups and snapshots"
JOURNALS = "Endpoints / Journals, activity, consumption"
BILLING = "Endpoints / Billing"
PROJECTS = "Endpoints / Projects"
ORDERING = "Endpoints / Ordering"
KEYS = "Endpoints / SSH keys"
SFTP = "Endpoints / SFTP"
DATABASE = "Endpoints / Database tunnel"
FIELDS = "Resources and their fields"
STATES = "States and transitions"
SCANS = "States and transitions / Scan status of a release"
SIGNALS = "States and transitions / Container state"
AUTH = "Authentication"
EVENTS = "Events"
ERRORS = "Errors"
LIMITS = "Limits"

RULES: dict[str, tuple[str, str]] = {
    # what things are
    "conventions": (FIELDS, "cents and millicents are integers, timestamps ISO 8601 UTC with milliseconds"),
    "shapes": (FIELDS, "every answer that is shown has every field that is shown, in its type"),
    "list-deleted": (FIELDS, "deleted services are never listed"),
    "billed-rate": (FIELDS, "the billed rate is the full one when ACTIVE, that of storage when SUSPENDED"),
    "capabilities": (FIELDS, "capabilities follow family and status"),
    "metrics-unreachable": (FIELDS, "metrics are null when the node cannot be reached"),
    "status-not-state": (FIELDS, "an ACTIVE service can be stopped"),
    "spend-parts": (FIELDS, "a service's parts sum to its total; without spend there are none"),
    "graph-edges": (FIELDS, "edges of the graph follow from references in environments"),
    "references": (FIELDS, "references are resolved at start and follow their target"),
    "usage-complete": (FIELDS, "days without spend appear with zero"),
    "secrets-once": (FIELDS, "secrets of an order are given once; a database's can be read again"),
    # transitions
    "born": (STATES, "an order is ACTIVE or PROVISIONING by family, and listed at once"),
    "creation-fails": (STATES, "a creation that fails ends in FAILED with a reason"),
    "suspend": (STATES, "ACTIVE to SUSPENDED stops the service and bills storage only"),
    "resume": (STATES, "SUSPENDED is left by resume"),
    "delete": (STATES, "DELETING, then DELETED: files and backups go, billing stops at once"),
    "overdrawn": (STATES, "after a grace with a negative balance services are deleted"),
    "operator-statuses": (STATES, "AWAITING_ADMIN is reached and left by the operator"),
    "resize-locked": (STATES, "suspended and free services cannot be resized"),
    "signal-start": (SIGNALS, "start recreates the container from the current configuration"),
    "signal-stop": (SIGNALS, "stop asks for a clean end"),
    "signal-restart": (SIGNALS, "restart keeps the container"),
    "signal-kill": (SIGNALS, "kill ends at once"),
    "scan-pending": (SCANS, "deploy waits for a verdict, then answers 422"),
    "scan-passed": (SCANS, "PASSED deploys"),
    "scan-warned": (SCANS, "WARNED deploys"),
    "scan-blocked": (SCANS, "BLOCKED answers 422 with the flaw, and touches nothing"),
    "scan-failed": (SCANS, "FAILED deploys and leaves a trace"),
    "scans-1": (SCANS, "a new image is analyzed on receipt"),
    "scans-2": (SCANS, "images in service are analyzed every night; the owner is told, nothing is cut"),
    "scans-3": (SCANS, "a verdict is lifted on one version, with a reason"),
    "backup-states": (STATES, "PENDING becomes COMPLETED; RESTORING becomes COMPLETED again"),
    "backup-pending": (STATES, "a PENDING backup cannot be restored"),
    # endpoints
    "apps-1": (APPS, "slug: 3 to 40 lowercase letters, digits, hyphens; unique across accounts"),
    "apps-2": (APPS, "a null host, project or size is chosen by the platform"),
    "apps-3": (APPS, "an image of another architecture starts and then dies"),
    "apps-4": (APPS, "the digest identifies, the tag moves"),
    "apps-5": (APPS, "deploy answers once the application stands, or in error when it does not"),
    "apps-6": (APPS, "rollback is a deploy of an earlier tag"),
    "apps-7": (APPS, "the environment is replaced whole, after four checks"),
    "apps-8": (APPS, "an application is a service"),
    "capability-400": (SERVICES, "a route whose capability is lacking answers 400"),
    "settings-1": (SETTINGS, "a closed service keeps its port; an open one answers at it"),
    "settings-2": (SETTINGS, "opening takes a port, or answers 409 when none is left"),
    "settings-3": (SETTINGS, "a network change restarts what runs and leaves alone what is stopped"),
    "settings-4": (SETTINGS, "scale takes a whole size within bounds, never less disk; priced from the call"),
    "settings-5": (SETTINGS, "the command applies at the next start; empty restores the original"),
    "settings-6": (SETTINGS, "a move changes the project and keeps the alias"),
    "power-409": (POWER, "a signal on a service that does not carry it answers 409"),
    "files-paths": (FILES, "paths are relative to the root; .. is refused in every encoding"),
    "files-reader": (FILES, "the reader stops at 2 MB and at binary content"),
    "files-write": (FILES, "write creates or replaces"),
    "files-delete": (FILES, "delete is for good, 100 names at most"),
    "snapshots": (BACKUPS, "snapshots are taken, rolled back to and removed by name"),
    "logs": (JOURNALS, "logs have 1 to 100 lines and outlive the process"),
    "bounds": (JOURNALS, "billed totals need four bounds, and name the one that is missing"),
    "billing-read-only": (BILLING, "billing is read-only, and adds up"),
    "projects-name": (PROJECTS, "a project name has at most 60 characters and is unique on the account"),
    "projects-delete": (PROJECTS, "services of a deleted project join the default one"),
    "projects-default": (PROJECTS, "the default project cannot be deleted"),
    "order-cover": (ORDERING, "an order whose first day is not covered is refused"),
    "order-quote": (ORDERING, "a quote commits nothing"),
    "keys-types": (KEYS, "ed25519, ecdsa and RSA from 2048 bits are accepted; private keys are refused"),
    "keys-deleted": (KEYS, "a deleted key stops opening at once; sessions that stand live on"),
    "keys-all": (KEYS, "a key opens all services of its account, and none of another"),
    "sftp-password": (SFTP, "a password is shown once; the next one invalidates it"),
    "sftp-root": (SFTP, "a session cannot leave its service's root"),
    "database-rows": (DATABASE, "50 rows a page, from tables that the catalogue knows"),
    "database-truncated": (DATABASE, "beyond 500 rows a result is truncated"),
    "database-cut": (DATABASE, "a query is cut at 15 seconds"),
    "database-writes": (DATABASE, "a write has no columns and counts its rows; destructive ones succeed"),
    "database-unsupported": (DATABASE, "an engine that cannot be opened answers its connection only"),
    # authentication, events
    "auth-full": (AUTH, "resource routes need FULL"),
    "auth-registry": (AUTH, "application routes take REGISTRY too"),
    "auth-missing": (AUTH, "a missing or unknown token opens nothing"),
    "auth-credentials": (AUTH, "registry credentials open their account's space only, and are no token"),
    "events-pages": (EVENTS, "events come in pages by cursor until it is null"),
    "events-operator": (EVENTS, "the operator's acts appear beside the owner's"),
    # errors and limits that no rule above names
    "error-form": (ERRORS, "every error is {statusCode, message}"),
    "error-key-present": (ERRORS, "adding a key that is there answers 409"),
    "error-other-account": (ERRORS, "another account's service looks like one that does not exist"),
    "limit-order-name": (LIMITS, "the name of an order has at most 80 characters"),
    "limit-range": (LIMITS, "a window is 30 days by default"),
    "limit-ids": (LIMITS, "metrics take at most 50 ids"),
}
