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


OPEN_FIELDS = "Resources and their fields / Fields left open"
SETTINGS = "Endpoints / Settings"
BACKUPS = "Endpoints / Backups and snapshots"
APPS = "Endpoints / Applications"
DATABASE = "Endpoints / Database tunnel"
SFTP = "Endpoints / SFTP"
STATES = "States and transitions"
ERRORS = "Errors"
LIMITS = "Limits"


POINTS: dict[str, Point] = {point.name: point for point in (
    Point("refusal.network_start", SETTINGS,
          "With which status is a network change answered after which the container does not start?",
          ("not refused", "502", "409")),
    Point("refusal.environment_start", APPS,
          "With which status is an environment answered with which the application does not start?",
          ("not refused", "500", "409")),
    Point("refusal.no_sftp", SFTP,
          "With which status is SFTP refused for a bucket, a dedicated machine and a failed service?",
          ("not refused", "400", "404")),
    Point("refusal.scan_unfinished", APPS,
          "With which status is a scan refused when its wait is over and the analysis still runs?",
          ("not refused", "404")),
    Point("refusal.start_failed", APPS,
          "With which status is a deploy of an application answered that does not start?",
          ("502", "409", "422")),
    Point("refusal.copy_busy", BACKUPS,
          "With which status is a copy refused while another one is made or brought back on the service?",
          ("not refused", "409", "423")),
    Point("refusal.service_busy", STATES,
          "With which status are signals, settings, deploys and removals of copies refused while a copy is "
          "made or brought back on the service?",
          ("not refused", "409", "423")),
    Point("refusal.backup_pause", LIMITS,
          "With which status is a backup refused that comes too soon after the one before?",
          ("not refused", "429 with Retry-After", "429")),
    Point("refusal.query_timeout", DATABASE, "With which status is a query cut at 15 seconds?",
          ("408", "504")),
    Point("refusal.status", ERRORS, "With which status is refused what the specification states none for?",
          ("400", "409", "422")),
    Point("answer", ERRORS, "What does a write answer whose response is not shown?",
          ("object", "empty 204", "item")),
    Point("id.form", "What the service does", "What do the opaque identifiers look like?",
          ("uuid", "a number of its kind, to be quoted")),
    Point("extra_fields", OPEN_FIELDS, "Do objects carry fields that are not shown?", ("no", "yes")),
    Point("list.shape", OPEN_FIELDS, "Which shape has a list that is not shown?",
          ("items", "array", "cursor")),
    Point("resume.state", STATES, "Does a resumed service run again by itself?", ("started", "stopped")),
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
    Point("app.first_status", STATES, "Which status has an application until its first deploy?",
          ("ACTIVE", "PROVISIONING")),
    Point("deploy.failed", APPS, "What runs after a deploy that does not start?",
          ("the new version, stopped", "the previous version runs again",
           "nothing, and the list shows the previous version")),
    Point("environment.applies", APPS, "When does a running application take a new environment?",
          ("at its next start", "at once")),
    Point("delay", ERRORS, "How soon is what a write did shown?",
          ("at once", "one read late", "a second late")),
)}  # fmt: skip


class Profile:
    """One value for every point.

    `plain` selects the first value of each point; `terse` prefers empty responses and `wrapped` envelopes,
    and both select the second or third value elsewhere, so that the three differ wherever possible.
    """

    PREFERRED: ClassVar[dict[str, tuple[str, ...]]] = {
        "plain": (),
        "terse": ("empty 204", "array"),
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
        """Return the HTTP status that the value of a point begins with."""
        return int(self._chosen[point][:3])

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


PAGE = """\
# What the specification leaves open

Every point, the section that leaves it open, and the answers that the sandbox can give. Profile
`plain` takes the first one; `terse` and `wrapped` take others. Header and word before a token are
set apart from the profiles, on the control port. Generated by `make documents`.

| point | section | question | values | plain | terse | wrapped |
| --- | --- | --- | --- | --- | --- | --- |
"""


def page() -> str:
    """Return the table of all points, in Markdown."""
    text = PAGE
    for point in POINTS.values():
        chosen = " | ".join(Profile(name)[point.name] for name in Profile.NAMES)
        values = "; ".join(point.values)
        text += f"| `{point.name}` | {point.section} | {point.question} | {values} | {chosen} |\n"
    return text


if __name__ == "__main__":
    print(page(), end="")
