# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The events of an account, as the event source sends them. Their JSON Schema comes from these models."""

from __future__ import annotations

from typing import Any, Literal

from ..._api.libraries import BaseModel, ConfigDict, Field


class Part(BaseModel):
    """A part of an event."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ServiceFacts(Part):
    """The service that an event is about, as it was then."""

    id: str = Field(description="The id of the service.")
    name: str = Field(description="The name of the service.")
    family: str = Field(description="The family of the service, such as GAME or APP.")
    status: str = Field(description="The administrative status of the service.")
    state: str | None = Field(None, description="The last known state of its container; null if unknown.")
    product: str | None = Field(None, description="The slug of the product.")


class ApplicationFacts(Part):
    """The application that an event is about."""

    id: str = Field(description="The id of the application as a service.")
    slug: str = Field(description="The slug of the application.")
    name: str | None = Field(None, description="The name of the application.")


class BackupFacts(Part):
    """The backup that an event is about."""

    id: str = Field(description="The id of the backup.")
    name: str = Field(description="The name of the backup.")
    created_at: str | None = Field(None, description="When the backup was begun.")


class DifferenceFacts(Part):
    """A place in which a blueprint and its project differ. Values are left out: they may be secret."""

    kind: str = Field(description="What differs: differs, missing, not_in_file or refused.")
    path: str = Field(description="Where it is in the blueprint.")
    changed_by: str | None = Field(
        None, description="Which side was changed since the last apply: file or platform; null if unknown."
    )


class AccountEvent(Part):
    """What every event has."""

    id: str = Field(description="The same for each delivery of the event; no other event has it.")
    sequence: int = Field(description="The number of the event in its state file. It rises by one.")
    type: str
    at: str = Field(description="When the source saw it: ISO 8601, UTC, by the clock of its machine.")
    account: str = Field(description="The address of the platform.")
    message: str = Field(description="The event in one sentence.")
    redelivered: bool = Field(
        False,
        description="Whether the source was killed before it could note that it had delivered it.",
    )


def described(hint: Any, text: str) -> tuple[Any, Any]:
    return hint, Field(description=text)


def or_null(text: str) -> tuple[Any, Any]:
    return str | None, Field(None, description=text)


FIELDS: dict[str, tuple[Any, Any]] = {
    "service": (ServiceFacts, ...),
    "reason": or_null("Why, in the words of the platform."),
    "stops": described(int, "How often it stopped by itself within stop_window, this time included."),
    "journal": described(list[str], "The types of the activity journal's entries since the last look."),
    "after": described(str, "The type of the event that told of the trouble."),
    "since": or_null("When the source saw the trouble first."),
    "application": (ApplicationFacts, ...),
    "image": or_null("The image in service; of a failed deploy, the one that does not run."),
    "previous_image": or_null("The image before; null for the first deploy."),
    "verified": described(bool, "Whether its container was seen running."),
    "verdict": described(str, "The verdict now."),
    "backup": (BackupFacts, ...),
    "newest": or_null("When the newest was begun; null if there is none."),
    "max_age_hours": described(float, "The age that is allowed."),
    "days_left": described(int, "For how many days the balance lasts, as the platform estimates it."),
    "balance": or_null("The balance in currency units."),
    "threshold_days": described(int, "The entry of balance_days that was reached."),
    "measure": described(str, "daily for max_daily_spend, monthly for max_monthly_spend."),
    "amount": described(str, "The spend in currency units."),
    "limit": described(str, "The limit in currency units."),
    "blueprint": described(str, "The path of the blueprint."),
    "project": described(str, "The name of the project."),
    "differences": (list[DifferenceFacts], ...),
}
"""What some events have besides: the type, and what pydantic is told of it."""


FIELDS_OF = {
    "service_failed": "service reason",
    "service_awaiting_admin": "service",
    "service_stopped": "service stops journal",
    "service_back": "service after since",
    "service_ordered": "service",
    "service_deleted": "service",
    "deploy_done": "application image previous_image verified",
    "deploy_failed": "application image previous_image",
    "release_blocked": "application image",
    "verdict_lifted": "application image verdict",
    "backup_failed": "service backup",
    "backups_stale": "service newest max_age_hours",
    "backups_fresh": "service newest",
    "balance_low": "days_left balance threshold_days",
    "balance_recovered": "days_left balance",
    "spend_high": "measure amount limit",
    "spend_recovered": "measure amount limit",
    "blueprint_drifted": "blueprint project differences",
    "blueprint_in_sync": "blueprint project",
}
ABOUT = {
    "service_failed": "The creation of a service failed.",
    "service_awaiting_admin": "A service waits for an intervention of the operator team.",
    "service_stopped": "The container of a service in service stopped, and nobody had ordered that.",
    "service_back": "A service that was in trouble is in service again, and its container runs.",
    "service_ordered": "A service appeared: somebody ordered it, by hand or with a playbook.",
    "service_deleted": "A service is being deleted, or is gone.",
    "deploy_done": "An application runs another release, or the same one anew.",
    "deploy_failed": "A release was put into service, and its container does not run.",
    "release_blocked": "The verdict on the image in service blocks: it runs on, and cannot be deployed anew.",
    "verdict_lifted": "The verdict on the image in service is no longer blocking.",
    "backup_failed": "A backup failed.",
    "backups_stale": "The newest completed backup of a service is older than backup_max_age.",
    "backups_fresh": "A service whose backups were stale has a new one.",
    "balance_low": "The balance runs out within a number of days that balance_days lists.",
    "balance_recovered": "The balance lasts longer than each number of days that balance_days lists.",
    "spend_high": "The account spends more than a limit.",
    "spend_recovered": "The account spends no more than a limit again.",
    "blueprint_drifted": "A project differs from its blueprint, or differs otherwise than before.",
    "blueprint_in_sync": "A project agrees with its blueprint again.",
}


def kind(name: str) -> type[AccountEvent]:
    """Return the model of the events of a type."""
    own = {field: FIELDS[field] for field in FIELDS_OF[name].split()}
    hints = {"type": Literal[name], **{field: hint for field, (hint, _told) in own.items()}}
    values = {"type": name, **{field: told for field, (_hint, told) in own.items()}}
    body = {"__module__": __name__, "__doc__": ABOUT[name], "__annotations__": hints, **values}
    return type(name.title().replace("_", ""), (AccountEvent,), body)


KINDS = {name: kind(name) for name in FIELDS_OF}
"""All of them by their types, in this order."""
