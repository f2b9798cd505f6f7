# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a clone: what is cloned, as what, and what becomes different."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ..blueprints.document import SourceOptions
from ..services.options import CommitmentOptions, Size
from ..shared.options import FilePath, Options, WaitOptions, check_max_parallel, option, required
from ..shared.task_errors import Invalid


@dataclass(frozen=True, kw_only=True)
class Rename:
    """How names and slugs of the clone come from those of the source."""

    prefix: str | None = None
    suffix: str | None = None
    pattern: str | None = None
    replacement: str | None = None
    names: dict[str, Any] | None = None
    """By name, slug or id in the source: names that no rule makes."""


@dataclass(frozen=True, kw_only=True)
class FilledOptions(SourceOptions, CommitmentOptions, WaitOptions):
    """What a project is made with whose services get what they hold from elsewhere."""

    rename: Rename | None = None
    host: str | None = option(None, selects=True)
    overrides: dict[str, Any] | None = option(None, secret=True)
    without_data: list[str] = option([])
    delete: bool = True
    private_key_file: FilePath | None = option(None, no_log=False, reads_file=True)
    known_hosts: FilePath | None = None
    secrets_dir: FilePath | None = option(None, no_log=False, filled=True)


@dataclass(frozen=True, kw_only=True)
class CloneOptions(FilledOptions):
    """The options of module clone."""

    source: str = required(selects=True)
    project: str = required(selects=True)
    services: list[str] | None = option(None, selects=True)
    hosts: dict[str, Any] | None = None
    dimensions: Size | None = None
    public: bool | None = None
    environments: dict[str, Any] | None = None
    secret_environments: dict[str, Any] | None = option(None, no_log=False, secret=True)
    copy_secrets: bool = False
    without_environment: list[str] = option([])
    existing: Literal["refuse", "keep", "adopt"] = "refuse"
    checksum: bool = False


def check_options(options: CloneOptions) -> None:
    """Check what can be checked before anybody is asked."""
    check_filled(options, "environments", "secret_environments")
    if options.copy_secrets and options.src is None and options.blueprint is None:
        raise Invalid(
            "copy_secrets copies values of secret_environment from the blueprint of the source; set src"
        )


def check_filled(options: FilledOptions, *by_key: str) -> None:
    """Check what every task needs whose services get what they hold from elsewhere.

    :param by_key: the options that have a dictionary by key, besides ``overrides``.
    """
    check_max_parallel(options.max_parallel)
    if not options.wait:
        raise Invalid("a service must be there before it gets its files and rows, so wait cannot be false")
    check_dictionaries(options, *by_key, "overrides")


def check_dictionaries(options: Options, *names: str) -> None:
    """Refuse anything but a dictionary by key in these options."""
    for name in names:
        for key, value in (getattr(options, name) or {}).items():
            if not isinstance(value, dict):
                raise Invalid(f"{name}: {key!r} must have a dictionary")
