# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said where a library is missing."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import libraries
from ansible_collections.hosted.services.plugins.module_utils._api.errors import ConfigurationError


def test_what_is_missing_is_told_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    libraries.require()
    monkeypatch.setattr(libraries, "MISSING", ["pydantic>=2", "requests"])
    with pytest.raises(ConfigurationError) as error:
        libraries.require()
    assert f"{sys.executable} -m pip install 'pydantic>=2' 'requests'" in error.value.message


def imported_anew() -> Any:
    """Return the module as it is where the present modules are all that is installed."""
    place = importlib.util.spec_from_file_location(f"{libraries.__name__}_bare", libraries.__file__)
    assert place is not None and place.loader is not None
    bare = importlib.util.module_from_spec(place)
    place.loader.exec_module(bare)
    return bare


def test_models_can_be_defined_where_no_library_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """ansible-doc and ansible-test import every plugin, also there."""
    for name in ("pydantic", "pydantic.alias_generators", "requests", "urllib3"):
        monkeypatch.setitem(sys.modules, name, None)
    bare = imported_anew()
    assert "pydantic>=2" in bare.MISSING
    assert (bare.to_camel("ram_gb"), bare.to_snake("ramGb")) == ("ram_gb", "ramGb")
    assert bare.ConfigDict(extra="allow") == {"extra": "allow"}
