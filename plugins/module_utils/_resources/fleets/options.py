# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of an operation on a fleet, and what they must not contradict."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from ..applications.lookup import check_tag
from ..services.many_services import ManyServicesOptions
from ..services.options import CommitmentOptions, Size
from ..shared.options import StateDirOptions, WaitOptions, names_given, option, required
from ..shared.task_errors import Invalid

SHARE = re.compile(r"(\d{1,6})(%?)")
LONGEST = 24 * 60 * 60.0
FleetState = Literal["started", "stopped", "restarted", "updated"]


@dataclass(frozen=True)
class Share:
    """A number of services, or a part of them in percent."""

    amount: int
    percent: bool = False

    def of(self, total: int) -> int:
        """Return the number, rounded down."""
        return total * self.amount // 100 if self.percent else self.amount


def read_share(text: str, name: str, *, least: int) -> Share:
    """Return the number or percentage that an option holds."""
    found = SHARE.fullmatch(text.strip())
    amount = int(found[1]) if found else -1
    percent = bool(found and found[2])
    if amount < least or (percent and amount > 100):
        raise Invalid(
            f"{name} is {text!r}; it must be a number of {least} or more, or a percentage such as 25%"
        )
    return Share(amount, percent)


@dataclass(frozen=True, kw_only=True)
class ProbeOptions:
    """How to look whether a service responds: by a URL or a TCP connection."""

    url: str | None = None
    status: list[int] = option([200])
    tcp: bool = False
    timeout: float = 5.0


@dataclass(frozen=True, kw_only=True)
class HealthCheckOptions(ProbeOptions):
    """How to look whether services respond, all of them or some."""

    services: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class HealthyOptions(WaitOptions):
    """For how long a container has to run to be healthy, and how to verify certificates."""

    healthy_for: float = 10.0

    @property
    def verify(self) -> bool | str:
        """How to verify the certificates of health checks, in the form of requests."""
        return self.ca_path or self.validate_certs if self.validate_certs else False


@dataclass(frozen=True, kw_only=True)
class FleetOptions(ManyServicesOptions, CommitmentOptions, HealthyOptions, StateDirOptions):
    """The options of module fleet."""

    name: str = required(selects=True)
    state: FleetState = required()
    batch_size: list[str] = option(["25%"], selects=True)
    canary: bool = False
    pause: float = 0.0
    max_failures: str = option("0", selects=True)
    health_checks: list[HealthCheckOptions] = option([])
    start_after: dict[str, Any] = option({})
    only_what_ran: bool = True
    resume: bool = False
    tag: str | None = option(None, selects=True)
    command: str | None = None
    dimensions: Size | None = None
    start_over: bool = False

    @property
    def sizes(self) -> list[Share]:
        """The sizes of the batches; the last one holds for all further ones."""
        return [read_share(size, "batch_size", least=1) for size in self.batch_size]

    @property
    def bound(self) -> Share:
        """How many services may fail."""
        return read_share(self.max_failures, "max_failures", least=0)

    @property
    def what(self) -> str:
        """What is to be done, as a key: a later run goes on only with the same."""
        size = self.dimensions.as_dict() if self.dimensions else None
        text = json.dumps([self.tag, self.command, size])
        return f"{self.state} {hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"


def check_options(options: FleetOptions) -> None:
    """Check the options that have limits, or contradict each other."""
    for size in options.batch_size:
        read_share(size, "batch_size", least=1)
    read_share(options.max_failures, "max_failures", least=0)
    if not options.wait:
        raise Invalid("a batch begins when the one before it is done, so wait must be true")
    for name in ("pause", "healthy_for"):
        seconds = getattr(options, name)
        if not 0 <= seconds <= LONGEST:
            raise Invalid(f"{name} is {seconds}; it must be 0 to {LONGEST:g} seconds")
    if options.resume and options.state != "started":
        raise Invalid(f"resume goes with state: started alone, and state is {options.state}")
    check_update(options)
    for check in options.health_checks:
        if check.services is not None and not check.services:
            raise Invalid(
                "services of health_checks is an empty list; name services, or leave it out for all"
            )
        check_probe(check)


def check_update(options: FleetOptions) -> None:
    """Check what an update consists of, and that no other state is given any of it."""
    given = names_given(tag=options.tag, command=options.command, dimensions=options.dimensions)
    if options.state != "updated":
        if given:
            raise Invalid(f"{' and '.join(given)} go with state: updated alone, and state is {options.state}")
        return
    if not given:
        raise Invalid("state: updated does not say what to update; set tag, command or dimensions")
    if options.tag is not None:
        check_tag(options.tag)
        if len(given) > 1:
            raise Invalid(f"{' and '.join(given)} cannot be updated at once; use a task for each")
    if options.dimensions is not None and not any(options.dimensions.as_dict().values()):
        raise Invalid("dimensions is empty; give at least one of its parts, or leave it out")


def check_probe(check: ProbeOptions) -> None:
    """Check how one health check looks."""
    if (check.url is None) != check.tcp:
        raise Invalid("an entry of health_checks needs either url or tcp: true")
    if check.url is not None and urlsplit(check.url).scheme not in ("http", "https"):
        raise Invalid(f"url of health_checks is {check.url!r}; it must begin with http:// or https://")
    if not check.status:
        raise Invalid("status of health_checks is an empty list; name status codes, or leave it out for 200")
    if not 0 < check.timeout <= LONGEST:
        raise Invalid(f"timeout of health_checks is {check.timeout}; it must be more than 0 seconds")
