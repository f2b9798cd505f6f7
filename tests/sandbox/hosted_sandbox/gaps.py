# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gap points: everything that the specification leaves open, each with its possible values.

A *profile* selects one value for each point. Handlers ask the profile and never decide themselves, so
the same server can play many platforms that all agree with the specification.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Point:
    """A gap point: the section that leaves it open, the question, and its possible values."""

    name: str
    section: str
    question: str
    values: tuple[str, ...]


#: Possible statuses of a refusal without a stated one.
REFUSAL = ("400", "422", "409", "403")

OPEN_FIELDS = "Resources and their fields / Fields left open"
SETTINGS = "Endpoints / Settings"
POWER = "Endpoints / Power, suspension, deletion"
FILES = "Endpoints / Files"
BACKUPS = "Endpoints / Backups and snapshots"
APPS = "Endpoints / Applications"
BILLING = "Endpoints / Billing"
PROJECTS = "Endpoints / Projects"
ORDERING = "Endpoints / Ordering"
KEYS = "Endpoints / SSH keys"
DATABASE = "Endpoints / Database tunnel"
SFTP = "Endpoints / SFTP"
JOURNALS = "Endpoints / Journals, activity, consumption"
STATES = "States and transitions"
AUTH = "Authentication"
ERRORS = "Errors"
LIMITS = "Limits"
EVENTS = "Events"


def _refusal(rule: str, section: str, what: str, *first: str) -> Point:
    statuses = tuple(dict.fromkeys((*first, *REFUSAL)))
    return Point(f"refusal.{rule}", section, f"With which status is {what} refused?", statuses)


REFUSALS = (
    _refusal("malformed", ERRORS, "a malformed body or a value of the wrong type"),
    _refusal("too_large", ERRORS, "an oversized body", "413"),
    _refusal("environment", APPS, "an environment that breaks a rule"),
    _refusal("private_key", KEYS, "a private key"),
    _refusal("key_type", KEYS, "a key of a type that is not accepted, or a short RSA key"),
    _refusal("path", FILES, "a path containing `..`"),
    _refusal("file_missing", FILES, "reading a file that does not exist", "404"),
    _refusal("file_unreadable", FILES, "reading a file beyond 2 MB or with binary content", "413"),
    _refusal("file_conflict", FILES, "a name that is in the way", "409"),
    _refusal("file_count", LIMITS, "deleting more than 100 names"),
    _refusal("resize_free", STATES, "a resize of a free service"),
    _refusal("resize_suspended", STATES, "a resize of a suspended service"),
    _refusal("not_editable", SETTINGS, "a setting of a service that cannot take it now"),
    _refusal("settings_family", SETTINGS, "the settings of a service that is no game server or application"),
    Point(
        "refusal.network_start",
        SETTINGS,
        "With which status is a network change answered after which the container does not start?",
        ("not refused", "502", "500", "409"),
    ),
    Point(
        "refusal.environment_start",
        APPS,
        "With which status is an environment answered with which the application does not start?",
        ("not refused", "502", "500", "409"),
    ),
    Point(
        "refusal.no_sftp",
        "Endpoints / SFTP",
        "With which status is SFTP refused for a bucket, a dedicated machine and a failed service?",
        ("not refused", "400", "403", "404", "409", "422"),
    ),
    Point(
        "refusal.alias_taken",
        SETTINGS,
        "With which status is a move refused into a project where the alias is taken?",
        ("not refused", "409", "400", "422", "403"),
    ),
    Point(
        "refusal.project_alias",
        PROJECTS,
        "With which status is a deletion refused if the default project has an alias of the project?",
        ("not refused", "409", "400", "422", "403"),
    ),
    Point(
        "refusal.delete_again",
        STATES,
        "With which status is the deletion of what is DELETING refused?",
        ("not refused", "409", "404", "400", "422", "403"),
    ),
    Point(
        "refusal.settings_status",
        SETTINGS,
        "With which status are the settings of a service refused that is neither ACTIVE nor SUSPENDED?",
        ("not refused", "400", "403", "404", "409", "422"),
    ),
    Point(
        "refusal.settings_suspended",
        SETTINGS,
        "With which status are the settings of a service refused while it is SUSPENDED?",
        ("not refused", "400", "403", "404", "409"),
    ),
    _refusal("cover", ORDERING, "an order whose first day is not covered", "402"),
    _refusal("order_values", ORDERING, "an order with an unknown product, host or an impossible size"),
    _refusal("order_port", ORDERING, "an order for which no port is left", "409"),
    _refusal("name", LIMITS, "a name that is empty or too long"),
    _refusal("project_duplicate", PROJECTS, "a project name already in use", "409"),
    _refusal("project_default", PROJECTS, "deleting the default project"),
    _refusal("project_unknown", PROJECTS, "a reference to a project that does not exist", "404"),
    _refusal("slug", APPS, "a malformed application slug"),
    _refusal("slug_taken", APPS, "an application slug already in use", "409"),
    _refusal("host_unknown", APPS, "a host that does not exist or does not take applications", "404"),
    _refusal("release_undeclared", APPS, "a tag that was never declared", "404"),
    _refusal("release_unpushed", APPS, "a release whose digest is not in the registry", "404"),
    Point(
        "refusal.scan_unfinished",
        APPS,
        "With which status is a scan refused when its wait is over and the analysis still runs?",
        ("not refused", "404"),
    ),
    _refusal("start_failed", APPS, "a deploy of an application that does not start", "502", "500"),
    _refusal("backup_state", STATES, "restoring a backup or a snapshot that is not completed", "409", "423"),
    _refusal("backup_busy", STATES, "deleting a backup that is being made or restored", "409"),
    _refusal("snapshot_duplicate", BACKUPS, "a snapshot name already in use", "409"),
    Point(
        "refusal.copy_busy",
        BACKUPS,
        "With which status is a copy refused while another one is made or brought back on the service?",
        ("not refused", "409", "423"),
    ),
    Point(
        "refusal.service_busy",
        STATES,
        "With which status are signals, settings, deploys and removals of copies refused while a copy is "
        "made or brought back on the service?",
        ("not refused", "409", "423"),
    ),
    Point(
        "refusal.backup_pause",
        LIMITS,
        "With which status is a backup refused that comes too soon after the one before?",
        ("not refused", "429 with Retry-After", "429", "409"),
    ),
    _refusal("suspend_status", STATES, "suspending what is suspended", "409"),
    _refusal("resume_status", STATES, "resuming a service that is not suspended", "409"),
    _refusal("range", LIMITS, "a window of days beyond what is kept"),
    _refusal("lines", LIMITS, "a number of log lines out of 1 to 100"),
    _refusal("ids", LIMITS, "more than 50 ids in one metrics call"),
    _refusal("cursor", JOURNALS, "a cursor that was never given out"),
    _refusal("period", BILLING, "a statement period that is malformed"),
    _refusal("no_database", DATABASE, "the tunnel on a service that is no database", "404"),
    _refusal("unsupported_engine", DATABASE, "rows and queries of an engine the tunnel cannot open", "501"),
    _refusal("sql", DATABASE, "a statement that the engine refuses"),
    _refusal("query_timeout", DATABASE, "a query cut at 15 seconds", "408", "504"),
    _refusal("database_down", DATABASE, "the tunnel to a stopped database", "503", "409"),
    Point(
        "refusal.connection_down",
        DATABASE,
        "With which status is the connection of a stopped database refused?",
        ("not refused", "503", "409", "404", "400"),
    ),
    _refusal("table", DATABASE, "rows of a table that the engine does not know", "404"),
)

FORMS = (
    Point("answer", ERRORS, "What does a write answer whose response is not shown?",
          ("object", "empty 204", "item")),
    Point("id.form", "What the service does", "What do the opaque identifiers look like?",
          ("uuid", "a number of its kind, to be quoted")),
    Point("extra_fields", OPEN_FIELDS, "Do objects carry fields that are not shown?", ("no", "yes")),
    Point("list.shape", OPEN_FIELDS, "Which shape has a list that is not shown?",
          ("items", "array", "cursor")),
    Point("range.bound", LIMITS, "How is a too long window of days treated?",
          ("refused", "cut to 365", "cut to 90")),
    Point("lines.bound", LIMITS, "How are log lines out of bounds treated?", ("refused", "cut")),
    Point("absent.status", ERRORS, "Which status has an item that does not exist?",
          ("404", "410")),
    Point("absent.form", ERRORS, "Has such an answer a body?", ("error form", "empty")),
    Point(
        "content_type",
        ERRORS,
        "How is the type of JSON answers written?",
        ("application/json", "application/json; charset=utf-8"),
    ),
    Point("auth.missing", AUTH, "What is the answer to a missing or invalid token?",
          ("401 error form", "401 empty", "403 error form", "401 html")),
    Point("auth.scope", AUTH, "What is the answer to a token of too small a scope?",
          ("403 error form", "401 error form", "403 empty")),
    Point("auth.other_scope", AUTH, "Which scope do project, billing, order and key routes need?",
          ("FULL", "any")),
    Point("resume.state", STATES, "Does a resumed service run again by itself?", ("started", "stopped")),
    Point("grace", STATES, "How long may the balance be below zero?", ("72 h", "24 h", "168 h")),
    Point("free.ended", "Resources and their fields / Service, full form",
          "What happens to a free service at its `freeExpiresAt`?",
          ("nothing", "billed", "suspended", "deleted")),
    Point("copy.suspended", BACKUPS,
          "What becomes of a backup that is made or restored when its service is suspended?",
          ("it goes on", "it fails")),
    Point("restore.failed", STATES, "What becomes of a backup whose restore failed, and what tells of it?",
          ("FAILED", "COMPLETED, with an event")),
    Point("backup.limit", LIMITS, "What happens to a new backup of a service that has 50?",
          ("it is made", "the oldest goes")),
    Point("rollback.newer", BACKUPS, "What does a rollback do to the snapshots taken since?",
          ("nothing", "deletes them")),
    Point("restore.restart", STATES, "Does a restore stop the service while it runs?", ("no", "yes")),
    Point("suspended.capabilities", "Resources and their fields / Capabilities",
          "What does a suspended service still offer?",
          ("files, logs, backups", "logs")),
    Point("fingerprint", "Resources and their fields / SSH key", "Which digest is a key's fingerprint?",
          ("SHA256", "MD5")),
    Point("sftp.replace", SFTP, "What does a rename to the name of a file that is there do?",
          ("takes its place", "is refused")),
    Point("query.cut", DATABASE, "What becomes of a write that is cut at 15 seconds?",
          ("it is undone", "it is carried out all the same")),
    Point("query.several", DATABASE, "What of several statements in one query?",
          ("refused", "run one by one, kept up to the first that fails")),
    Point("network.in_effect", SETTINGS, "When does a running container take a network change?",
          ("at once", "at its next start")),
    Point("network.again", SETTINGS, "What does the network route do when nothing changes?",
          ("nothing", "recreates the container")),
    Point("query.space", ERRORS, "How may a space be written in a query?", ("as + or %20", "as %20")),
    Point("quote.cover", ORDERING, "What must the balance cover for a day?",
          ("the new service", "all services together")),
    Point("body.unknown", ERRORS, "What of a field of a body that the specification does not show?",
          ("ignored", "refused")),
    Point("error.form", ERRORS, "Which form has the body of a refusal whose status is not stated?",
          ("error form", "text", "another JSON")),
    Point("currency", "Resources and their fields / Wallet", "What is `currency`?", ("EUR", "USD", "eur")),
    Point("app.first_status", STATES, "Which status has an application until its first deploy?",
          ("ACTIVE", "PROVISIONING")),
    Point("deploy.failed", APPS, "What runs after a deploy that does not start?",
          ("the new version, stopped", "the previous version runs again",
           "nothing, and the list shows the previous version")),
    Point("environment.applies", APPS, "When does a running application take a new environment?",
          ("at its next start", "at once")),
    Point("suspend.again", STATES, "What does suspending a suspended service do?", ("nothing", "refused")),
    Point("version.header", "Versioning", "Do answers name the version of the API?", ("no", "yes")),
    Point("method.status", ERRORS, "What does a path answer to a method that it does not have?",
          ("404", "405")),
    Point("delay", ERRORS, "How soon is what a write did shown?",
          ("at once", "one read late", "a second late")),
)  # fmt: skip

POINTS: dict[str, Point] = {point.name: point for point in (*REFUSALS, *FORMS)}


class Profile:
    """One value for every point.

    `plain` selects the first value of each point; `terse` prefers empty responses and `wrapped` envelopes,
    and both select the second or third value elsewhere, so that the three differ wherever possible.
    """

    PREFERRED: ClassVar[dict[str, tuple[str, ...]]] = {
        "plain": (),
        "terse": ("empty 204", "401 empty", "403 empty", "array"),
        "wrapped": ("item",),
    }
    NAMES = tuple(PREFERRED)

    def __init__(self, name: str = "plain", values: dict[str, str] | None = None) -> None:
        if name not in self.NAMES:
            raise ValueError(f"unknown profile {name!r}; known: {', '.join(self.NAMES)}")
        self.name = name
        self._chosen = {point.name: self._pick(point) for point in POINTS.values()}
        for point, value in (values or {}).items():
            self._override(point, value)
        self.overrides = dict(values or {})

    def __getitem__(self, point: str) -> str:
        return self._chosen[point]

    def status(self, point: str) -> int:
        """Return the value of a point as an HTTP status."""
        return int(self._chosen[point])

    def describe(self) -> dict[str, str]:
        """Return the value of every point."""
        return dict(self._chosen)

    def _override(self, point: str, value: str) -> None:
        if point not in POINTS:
            raise ValueError(f"unknown gap point {point!r}")
        if value not in POINTS[point].values:
            raise ValueError(f"{point}: {value!r} is none of {', '.join(POINTS[point].values)}")
        self._chosen[point] = value

    def _pick(self, point: Point) -> str:
        for value in self.PREFERRED[self.name]:
            if value in point.values:
                return value
        return point.values[min(self.NAMES.index(self.name), len(point.values) - 1)]
