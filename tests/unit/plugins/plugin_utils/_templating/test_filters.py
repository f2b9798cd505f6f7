# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters as Ansible calls them: errors that it understands, and arguments that are checked."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.plugin_utils._templating.filters import as_filter


def example(value: Any, unit: str = "cents") -> str:
    """Stand for a function of the resources."""
    if value is None:
        raise Invalid("the value is None")
    return f"{value} {unit}"


CALL = as_filter("example", example)["example"]


def test_the_value_comes_back() -> None:
    assert CALL(5) == "5 cents"
    assert CALL(5, unit="millicents") == "5 millicents"


def test_an_error_is_one_of_ansible() -> None:
    with pytest.raises(AnsibleFilterError, match=r"^the value is None$"):
        CALL(None)
