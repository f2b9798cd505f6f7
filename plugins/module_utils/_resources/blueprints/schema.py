# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The form of a blueprint: its sections and their keys. The JSON Schema for editors comes from here."""

from __future__ import annotations

from typing import Any, Literal

from ..._api.libraries import Field
from .plan_schema import BackupSection, SleepSection
from .sections import Amount, Section, WholeNumber

SCHEMA_URL = "https://example.invalid/hosted/services/blob/main/docs/blueprint.schema.json"
"""Where editors find the schema: in the project's repository, whose address `scripts/addresses.py` writes."""


Variables = dict[str, str]
"""Variables of an environment. A value may refer to a neighbor: ``${key.FIELD}``."""


class Size(Section):
    """A size. For something that exists, a part that is left out stays as it is."""

    cpu_cores: WholeNumber | None = Field(default=None, description="Number of vCPUs.")
    ram_gb: WholeNumber | None = Field(default=None, description="Memory in GB.")
    storage_gb: WholeNumber | None = Field(default=None, description="Disk in GB. It cannot shrink.")


class Choice(Section):
    """What is chosen for an option of a product."""

    option: str = Field(description="Id of the option.")
    choice: str = Field(description="Id of the choice.")


class ServiceSection(Section):
    """A service: what is ordered if it does not exist, and how it is to be."""

    name: str | None = Field(default=None, description="Name of the service. If not set, its key.")
    id: str | None = Field(default=None, description="Id of the service, if its name alone is not clear.")
    allow_duplicate_name: bool = Field(
        default=False, description="Whether to order it though one of its name left this project."
    )
    product: str | None = Field(default=None, description="Slug of the product, for the order.")
    runtime: str | None = Field(default=None, description="Id of the edition, for the order.")
    host: str | None = Field(default=None, description="Id or label of the node to order it on.")
    dimensions: Size | None = Field(default=None, description="Its size.")
    preset: str | None = Field(default=None, description="Id of a ready-made size, in place of dimensions.")
    variables: dict[str, Any] | None = Field(default=None, description="Settings entered at the order.")
    options: list[Choice] | None = Field(default=None, description="Options of the product, for the order.")
    public: bool | None = Field(default=None, description="Whether it is open to the Internet.")
    command: str | None = Field(default=None, description="Launch command. Empty for the original one.")
    state: Literal["present", "started", "stopped", "suspended", "resumed"] = Field(
        default="present", description="Whether it runs. present leaves that alone."
    )
    resume: bool = Field(default=True, description="Whether a suspended service may be resumed.")
    max_monthly: Amount | None = Field(
        default=None, description="What it may cost a month, in currency units."
    )


class ImageSection(Section):
    """An image: an archive to push, the digest of one that was pushed, or a tag that is declared."""

    tag: str = Field(description="Tag of the release.")
    archive: str | None = Field(
        default=None, description="Path of an OCI archive or layout to push, as builders write it."
    )
    name: str | None = Field(default=None, description="Name of the image, if the archive holds several.")
    platform: str | None = Field(default=None, description="Platform of the image, such as linux/amd64.")
    digest: str | None = Field(default=None, description="Digest of an image that was pushed.")
    fail_on: list[Literal["blocked", "warned", "failed", "critical", "high", "medium", "low"]] | None = Field(
        default=None, description="Verdicts and severities of the scan that stop the deploy."
    )
    rollback: bool = Field(
        default=False,
        description="Whether to deploy the last good release if this one does not start, or is not healthy.",
    )


class HealthSection(Section):
    """What to request of an application, to learn whether it works."""

    url: str = Field(
        description="URL to request from the controller. {address} stands for the application's own address."
    )
    status: list[WholeNumber] = Field(default=[200], description="HTTP statuses of a healthy response.")
    timeout: float = Field(default=60.0, description="How long to repeat the request, in seconds.")
    interval: float = Field(default=2.0, description="Longest pause between two requests, in seconds.")
    validate_certs: bool = Field(default=True, description="Whether to verify the certificate of the URL.")


class ApplicationSection(Section):
    """An application made from an image of the account."""

    slug: str | None = Field(
        default=None, description="Slug, unique across all accounts. If not set, the application's key."
    )
    host: str | None = Field(default=None, description="Id or label of the node to create it on.")
    dimensions: Size | None = Field(default=None, description="Its size, with all three parts.")
    environment: Variables | None = Field(
        None,
        description="Its whole environment. Without this and secret_environment, it is left alone.",
    )
    secret_environment: Variables | None = Field(
        default=None, description="Variables whose values are never shown."
    )
    image: ImageSection | None = Field(
        default=None, description="What runs. Without it, the application runs what it runs."
    )
    health_check: HealthSection | None = Field(
        default=None,
        description="A request that each run makes at the end, and that fails the run if it fails.",
    )
    public: bool | None = Field(default=None, description="Whether it is open to the Internet.")
    command: str | None = Field(default=None, description="Launch command. Empty for the original one.")
    max_monthly: Amount | None = Field(
        default=None, description="What it may cost a month, in currency units."
    )


class KeySection(Section):
    """An SSH key of the account, by itself or in a file on the controller."""

    name: str | None = Field(
        default=None, description="Name of the key. If not set, its key in the blueprint."
    )
    public_key: str | None = Field(default=None, description="The public key, as in a public-key file.")
    public_key_file: str | None = Field(default=None, description="Path of a public-key file.")
    replace: bool = Field(default=False, description="Whether it takes the place of another key of its name.")


class Defaults(Section):
    """What each entry of a section has that does not say otherwise."""

    services: ServiceSection | None = Field(default=None, description="For each service.")
    applications: ApplicationSection | None = Field(default=None, description="For each application.")


class Blueprint(Section):
    """A whole project in one file."""

    project: str = Field(description="Name of the project. It is created if it does not exist.")
    was: str | None = Field(
        default=None, description="Former name of the project: one that still has it is renamed."
    )
    defaults: Defaults | None = Field(
        default=None, description="What entries have that do not say otherwise."
    )
    services: dict[str, ServiceSection] = Field(
        default_factory=dict, description="Services by key. References name them by it."
    )
    applications: dict[str, ApplicationSection] = Field(
        default_factory=dict, description="Applications by key. References name them by it."
    )
    ssh_keys: dict[str, str | KeySection] = Field(
        default_factory=dict,
        description="SSH keys of the account by name: the public key itself, or a mapping.",
    )
    backups: dict[str, BackupSection] | None = Field(
        default=None, description="Plans for backups by name. Without this, those of the project stay."
    )
    sleep: dict[str, SleepSection] | None = Field(
        default=None, description="Plans for sleep by name. Without this, those of the project stay."
    )
    budget: Any | None = Field(
        default=None, description="What may be spent in a month: an amount, or account, projects and run."
    )
