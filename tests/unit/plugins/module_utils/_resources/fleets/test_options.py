# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every rule of the options of a fleet, and what is derived from them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.batches import Share
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.options import (
    FleetOptions,
    HealthCheckOptions,
    check_health_check,
    check_options,
    check_update,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.options import Size
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import (
    declarations_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid

UPDATE: dict[str, Any] = {"state": "updated"}
DAY = 24 * 60 * 60.0


def options_with(**given: Any) -> FleetOptions:
    """Return the options of a restart, or what else is given."""
    return FleetOptions(**{"name": "shop", "state": "restarted", **given})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"batch_size": ["1", "0"]}, "batch_size is '0'; it must be a number of 1 or more"),
        ({"batch_size": ["101%"]}, "batch_size is '101%'"),
        ({"max_failures": "-1"}, "max_failures is '-1'; it must be a number of 0 or more"),
        ({"wait": False}, "wait must be true"),
        ({"pause": -0.5}, "pause is -0.5; it must be 0 to 86400 seconds"),
        ({"pause": DAY + 1}, "pause is 86401.0; it must be"),
        ({"pause": float("nan")}, "pause is nan; it must be"),
        ({"healthy_for": -1.0}, "healthy_for is -1.0; it must be 0 to 86400 seconds"),
        ({"healthy_for": DAY + 1}, "healthy_for is 86401.0; it must be"),
        ({"resume": True}, "resume goes with state: started alone, and state is restarted"),
        ({"tag": "v1"}, "tag go with state: updated alone, and state is restarted"),
        ({"health_checks": [HealthCheckOptions(tcp=True), HealthCheckOptions()]}, "either url or tcp: true"),
    ],
)
def test_what_is_refused(given: dict[str, Any], says: str) -> None:
    """It says the option, its value and the limit."""
    with pytest.raises(Invalid, match=re.escape(says)):
        check_options(options_with(**given))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"batch_size": ["1", "100%"], "max_failures": "0"},
        {"pause": DAY, "healthy_for": 0.0},
        {"state": "started", "resume": True},
        {**UPDATE, "tag": "v1"},
        {"health_checks": [HealthCheckOptions(tcp=True)]},
    ],
)
def test_what_is_at_a_limit_passes(given: dict[str, Any]) -> None:
    """The checks change nothing, and return nothing."""
    options = options_with(**given)
    check_options(options)
    assert options == options_with(**given)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"state": "stopped", "tag": "v1"}, "tag go with state: updated alone, and state is stopped"),
        (
            {"command": "x", "dimensions": Size(ram_gb=1)},
            "command and dimensions go with state: updated alone, and state is restarted",
        ),
        (UPDATE, "state: updated does not say what to update; set tag, command or dimensions"),
        ({**UPDATE, "tag": "-v1"}, "the tag '-v1' is invalid"),
        ({**UPDATE, "tag": "v1", "command": ""}, "tag and command cannot be updated at once"),
        ({**UPDATE, "tag": "v1", "dimensions": Size()}, "tag and dimensions cannot be updated at once"),
    ],
)
def test_what_an_update_cannot_be(given: dict[str, Any], says: str) -> None:
    """Nothing, something else at once, or a part of another state."""
    with pytest.raises(Invalid, match=re.escape(says)):
        check_update(options_with(**given))


def test_an_update_of_command_and_size_passes() -> None:
    """An empty command is one, too: that of the image."""
    both = options_with(**UPDATE, command="", dimensions=Size(ram_gb=2))
    check_update(both)
    with pytest.raises(Invalid, match="command and dimensions go with"):
        check_update(options_with(command="", dimensions=Size(ram_gb=2)))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "needs either url or tcp: true"),
        ({"url": "http://a", "tcp": True}, "needs either url or tcp: true"),
        ({"tcp": True, "services": []}, "services of health_checks is an empty list"),
        ({"url": "ftp://a/"}, "url of health_checks is 'ftp://a/'; it must begin with http:// or https://"),
        ({"url": "{address}/up"}, "url of health_checks is '{address}/up'"),
        ({"url": "https://a", "status": []}, "status of health_checks is an empty list"),
        ({"tcp": True, "timeout": 0.0}, "timeout of health_checks is 0.0; it must be more than 0 seconds"),
        ({"tcp": True, "timeout": DAY + 1}, "timeout of health_checks is 86401.0"),
    ],
)
def test_what_a_health_check_cannot_be(given: dict[str, Any], says: str) -> None:
    """The same without the mistake passes."""
    check_health_check(HealthCheckOptions(url="https://{address}/up", services=["web"], timeout=DAY))
    with pytest.raises(Invalid, match=re.escape(says)):
        check_health_check(HealthCheckOptions(**given))


def test_an_empty_value_selects_nothing() -> None:
    """Neither a fleet, nor how much of it goes at once or may fail, nor a release."""
    assert {"name", "batch_size", "max_failures", "tag"} <= declarations_of(FleetOptions).selectors


def test_what_holds_unless_the_task_says_otherwise() -> None:
    """What was down stays down, and a check expects that a page is there."""
    options, check = options_with(), HealthCheckOptions()
    assert options.only_what_ran and not options.canary and not options.start_over
    assert (options.healthy_for, options.pause) == (10.0, 0.0)
    assert (check.status, check.timeout) == ([200], 5.0)


def test_shares() -> None:
    """The sizes of batches in their order, and the bound."""
    options = options_with(batch_size=["1", "50%"], max_failures="10%")
    assert options.sizes == [Share(1), Share(50, True)] and options.bound == Share(10, True)
    assert options_with().sizes == [Share(25, True)] and options_with().bound == Share(0)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, True),
        ({"ca_path": "/ca.pem"}, "/ca.pem"),
        ({"validate_certs": False}, False),
        ({"validate_certs": False, "ca_path": "/ca.pem"}, False),
    ],
)
def test_how_certificates_are_verified(given: dict[str, Any], expected: bool | str) -> None:
    """As the calls to the platform do."""
    assert options_with(**given).verify == expected


def test_what_tells_one_run_from_another() -> None:
    """By all that is done to a service, and by nothing else; a command is not readable in it."""
    others: list[dict[str, Any]] = [
        {"state": "started"},
        UPDATE,
        {**UPDATE, "tag": "v1"},
        {**UPDATE, "tag": "v2"},
        {**UPDATE, "command": "v1"},
        {**UPDATE, "dimensions": Size(ram_gb=1)},
        {**UPDATE, "dimensions": Size(ram_gb=2)},
    ]
    found = [options_with(**given).what for given in others]
    assert len(set(found)) == len(others)
    assert options_with(batch_size=["2"], pause=3.0, start_over=True).what == options_with().what
    secret = options_with(**UPDATE, command="run --password=hunter2").what
    assert "hunter2" not in secret and re.fullmatch("updated [0-9a-f]{16}", secret)
