# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The events of an account, as the event source sends them. Their JSON Schema comes from these models."""

from __future__ import annotations

from typing import Literal

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


class ServiceEvent(AccountEvent):
    """An event about a service."""

    service: ServiceFacts


class ServiceFailed(ServiceEvent):
    """The creation of a service failed."""

    type: Literal["service_failed"] = "service_failed"
    reason: str | None = Field(None, description="Why, in the words of the platform.")


class ServiceAwaitingAdmin(ServiceEvent):
    """A service waits for an intervention of the operator team."""

    type: Literal["service_awaiting_admin"] = "service_awaiting_admin"


class ServiceStopped(ServiceEvent):
    """The container of a service in service stopped, and nobody had ordered that."""

    type: Literal["service_stopped"] = "service_stopped"
    stops: int = Field(description="How often it stopped by itself within stop_window, this time included.")
    journal: list[str] = Field(description="The types of the activity journal's entries since the last look.")


class ServiceBack(ServiceEvent):
    """A service that was in trouble is in service again, and its container runs."""

    type: Literal["service_back"] = "service_back"
    after: str = Field(description="The type of the event that told of the trouble.")
    since: str | None = Field(None, description="When the source saw the trouble first.")


class ServiceOrdered(ServiceEvent):
    """A service appeared: somebody ordered it, by hand or with a playbook."""

    type: Literal["service_ordered"] = "service_ordered"


class ServiceDeleted(ServiceEvent):
    """A service is being deleted, or is gone."""

    type: Literal["service_deleted"] = "service_deleted"


class ApplicationEvent(AccountEvent):
    """An event about an application."""

    application: ApplicationFacts
    image: str | None = Field(
        None, description="The image in service; of a failed deploy, the one that does not run."
    )


class DeployEvent(ApplicationEvent):
    """An event about a deploy."""

    previous_image: str | None = Field(None, description="The image before; null for the first deploy.")


class DeployDone(DeployEvent):
    """An application runs another release, or the same one anew."""

    type: Literal["deploy_done"] = "deploy_done"
    verified: bool = Field(description="Whether its container was seen running.")


class DeployFailed(DeployEvent):
    """A release was put into service, and its container does not run."""

    type: Literal["deploy_failed"] = "deploy_failed"


class ReleaseBlocked(ApplicationEvent):
    """The verdict on the image in service is blocking: it runs on, and cannot be deployed again."""

    type: Literal["release_blocked"] = "release_blocked"


class VerdictLifted(ApplicationEvent):
    """The verdict on the image in service is no longer blocking."""

    type: Literal["verdict_lifted"] = "verdict_lifted"
    verdict: str = Field(description="The verdict now.")


class BackupFailed(ServiceEvent):
    """A backup failed."""

    type: Literal["backup_failed"] = "backup_failed"
    backup: BackupFacts


class BackupsStale(ServiceEvent):
    """The newest completed backup of a service is older than backup_max_age."""

    type: Literal["backups_stale"] = "backups_stale"
    newest: str | None = Field(None, description="When the newest was begun; null if there is none.")
    max_age_hours: float = Field(description="The age that is allowed.")


class BackupsFresh(ServiceEvent):
    """A service whose backups were stale has a new one."""

    type: Literal["backups_fresh"] = "backups_fresh"
    newest: str | None = Field(None, description="When the newest was begun.")


class BalanceEvent(AccountEvent):
    """An event about how long the balance lasts."""

    days_left: int = Field(description="For how many days the balance lasts, as the platform estimates it.")
    balance: str | None = Field(None, description="The balance in currency units.")


class BalanceLow(BalanceEvent):
    """The balance runs out within a number of days that balance_days lists."""

    type: Literal["balance_low"] = "balance_low"
    threshold_days: int = Field(description="The entry of balance_days that was reached.")


class BalanceRecovered(BalanceEvent):
    """The balance lasts longer than each number of days that balance_days lists."""

    type: Literal["balance_recovered"] = "balance_recovered"


class SpendEvent(AccountEvent):
    """An event about a limit on the spend."""

    measure: str = Field(description="daily for max_daily_spend, monthly for max_monthly_spend.")
    amount: str = Field(description="The spend in currency units.")
    limit: str = Field(description="The limit in currency units.")


class SpendHigh(SpendEvent):
    """The account spends more than a limit."""

    type: Literal["spend_high"] = "spend_high"


class SpendRecovered(SpendEvent):
    """The account spends no more than a limit again."""

    type: Literal["spend_recovered"] = "spend_recovered"


class BlueprintEvent(AccountEvent):
    """An event about a project and its blueprint."""

    blueprint: str = Field(description="The path of the blueprint.")
    project: str = Field(description="The name of the project.")


class BlueprintDrifted(BlueprintEvent):
    """A project differs from its blueprint, or differs otherwise than before."""

    type: Literal["blueprint_drifted"] = "blueprint_drifted"
    differences: list[DifferenceFacts]


class BlueprintInSync(BlueprintEvent):
    """A project agrees with its blueprint again."""

    type: Literal["blueprint_in_sync"] = "blueprint_in_sync"


KINDS = tuple(
    kind
    for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, AccountEvent) and not kind.__subclasses__()
)
"""All of them, in this order."""
