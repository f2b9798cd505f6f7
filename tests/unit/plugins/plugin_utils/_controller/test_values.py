# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Ansible hands over becomes plain."""

from __future__ import annotations

import json
from typing import Any

import yaml
from ansible.parsing.dataloader import DataLoader

from ansible_collections.hosted.services.plugins.plugin_utils._controller.values import untagged


def plain_types(value: Any) -> bool:
    if isinstance(value, dict):
        return all(plain_types(item) for pair in value.items() for item in pair)
    if isinstance(value, list):
        return all(map(plain_types, value))
    return value.__class__ in (str, int, float, bool, type(None))


def test_values_as_ansible_reads_them_become_plain() -> None:
    text = "{name: x, enabled: true, n: 3, f: 1.5, nothing: null, list: [a, {b: c}], date: '2026-11-01'}"
    tagged = DataLoader().load(text)
    assert not plain_types(tagged), "Ansible's strings carry their origin"
    plain = untagged(tagged)
    assert plain == yaml.safe_load(text)
    assert plain_types(plain)
    assert json.loads(json.dumps(plain)) == plain
    assert yaml.safe_load(yaml.safe_dump(plain)) == plain


def test_a_boolean_stays_one_and_a_tuple_becomes_a_list() -> None:
    assert untagged(True) is True
    assert untagged((1, "a")) == [1, "a"]
    assert untagged(None) is None


def test_a_date_is_the_text_that_ansible_hands_to_a_module() -> None:
    """YAML reads one from text without quotes."""
    tagged = DataLoader().load("{date: 2026-11-01, moment: 2026-11-01 10:20:00}")
    assert untagged(tagged) == {"date": "2026-11-01", "moment": "2026-11-01T10:20:00"}
