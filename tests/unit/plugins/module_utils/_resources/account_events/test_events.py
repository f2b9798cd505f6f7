# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The schema of the events, and the file that users read it from."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.changes import advance
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.events import (
    KINDS,
    AccountEvent,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.observer import (
    Observer,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account
from ansible_collections.hosted.services.scripts.schemas import of_events
from unit.plugins.module_utils._resources.account_events.histories import FrameClient, history
from unit.plugins.module_utils._resources.account_events.polls import URL, new_state
from unit.plugins.module_utils._resources.account_events.test_changes import OPTIONS

FILE = Path(__file__).parents[6] / "extensions/eda/plugins/event_source/account.schema.json"


def test_the_file_is_that_of_the_models() -> None:
    assert json.loads(FILE.read_text()) == of_events(), "run `make documents`"


@pytest.mark.parametrize("kind", KINDS)
def test_each_field_is_described(kind: type[AccountEvent]) -> None:
    assert kind.__doc__
    named = {"type", "service", "application", "backup", "differences"}
    assert [
        name for name, field in kind.model_fields.items() if name not in named and not field.description
    ] == []


def sent(seeds: range) -> list[dict[str, Any]]:
    """Return the events of some histories, as ansible-rulebook passes them on."""
    found: list[dict[str, Any]] = []
    for seed in seeds:
        state = new_state()
        for frame in history(seed, 20):
            if not frame.fails:
                client: Any = FrameClient(frame)
                seen = Observer(Account(client), OPTIONS, client.compare).observe(state, frame.now)
                state = advance(state, seen, frame.now, OPTIONS, URL)
        found += [{**event, "meta": {"uuid": event["id"]}} for event in state.outbox]
    return found


def test_every_event_agrees_with_the_schema() -> None:
    validator = Draft202012Validator(of_events())
    events = sent(range(300, 340))
    assert [error.message for event in events for error in validator.iter_errors(event)] == []
    assert {event["type"] for event in events} >= {"service_stopped", "deploy_failed", "blueprint_drifted"}
    assert all(str(uuid.UUID(event["id"])) == event["id"] for event in events)


def test_the_schema_refuses_what_is_no_event() -> None:
    [event] = sent(range(300, 301))[:1]
    validator = Draft202012Validator(of_events())
    assert not validator.is_valid({**event, "password": "x"})
    assert not validator.is_valid({name: value for name, value in event.items() if name != "id"})
