# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that are the same, and selectors that hold nothing."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.names import (
    check_path,
    check_selector,
    same_name,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.resources import RESOURCES


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("a b", "A-B", False), ("!", "!", True), ("caf\u00e9", "cafe\u0301", True), ("web1", "web-1", False)],
)
def test_names_that_are_the_same(one: str, other: str, same: bool) -> None:
    for pair in ((one, other), (other, one)):
        assert same_name(*pair) is same


# --- Selectors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "project is null"),
        ("", "project is empty"),
        (" ", "project is blank"),
        ("\t\n", "project is blank"),
        ("\u00a0", "project is blank"),
        ([], "project is an empty list"),
        ([""], "item 1 of project is empty"),
        (["a", None], "item 2 of project is null"),
        (["a", "b", " "], "item 3 of project is blank"),
    ],
)
def test_what_holds_nothing_is_refused(value: Any, says: str) -> None:
    with pytest.raises(Invalid, match=f"^{says}; give it a value, or leave it out"):
        check_selector("project", value)


@pytest.mark.parametrize(
    "value", ["a\n", "\na", "a ", " a", "a\t", "a\r\n", "a\x00", "\ufeffa", "a\u200b", "a\x85"]
)
def test_blanks_and_control_characters_at_the_ends_of_names_are_refused(value: str) -> None:
    with pytest.raises(Invalid, match="with a blank or a control character at an end"):
        check_selector("name", value)
    with pytest.raises(Invalid, match=r"^item 2 of services is .*at an end"):
        check_selector("services", ["b", value])


@pytest.mark.parametrize("value", [True, False])
def test_a_truth_value_is_no_name(value: bool) -> None:
    said = (
        f"is {str(value).lower()}, a truth value, as YAML reads yes, no, on and off; put the text in quotes"
    )
    with pytest.raises(Invalid, match=f"^name {said}"):
        check_selector("name", value)
    with pytest.raises(Invalid, match=f"^item 2 of services {said}"):
        check_selector("services", ["a", value])


def test_the_name_of_a_file_may_end_in_a_space_but_in_no_line_break() -> None:
    check_selector("path", " a ")
    check_selector("paths", ["a "])
    with pytest.raises(Invalid, match="at an end"):
        check_selector("path", "a\n")


@pytest.mark.parametrize("name", ["include", "exclude"])
def test_a_pattern_has_no_blanks_at_its_ends(name: str) -> None:
    check_selector(name, ["a b"])
    with pytest.raises(Invalid, match=rf"^item 2 of {name} is ' data.db'"):
        check_selector(name, ["a.log", " data.db"])


def test_a_public_key_comes_with_the_line_break_of_its_file_and_is_never_shown() -> None:
    check_selector("public_key", "ssh-ed25519 AAAA me\n")
    check_selector("public_key", "\n-----BEGIN SECRET\n")
    with pytest.raises(Invalid, match=r"^public_key is blank"):
        check_selector("public_key", "\n")


@pytest.mark.parametrize("name", RESOURCES)
def test_every_resource_names_its_selectors_among_its_options(name: str) -> None:
    """Also a resource without any has to say so, so that nobody forgets to think of it."""
    resource = RESOURCES[name]
    assert "selectors" in {attribute for base in type(resource).__mro__[:-3] for attribute in vars(base)}
    assert resource.selectors <= set(resource.options)


@pytest.mark.parametrize("name", RESOURCES)
def test_what_usually_identifies_or_narrows_is_a_selector(name: str) -> None:
    usual = {
        "id",
        "name",
        "slug",
        "project",
        "family",
        "service",
        "services",
        "fingerprint",
        "pattern",
        "paths",
    }
    usual |= {"tag", "digest", "path", "new_name", "max_delete", "max_monthly", "host"}
    if name == "app_image":
        usual -= {"path"}  # a file on the controller
    assert usual & set(RESOURCES[name].options) <= RESOURCES[name].selectors


@pytest.mark.parametrize("path", ["sec/\0x", "a\nb", "a\tb", "\x7f", "\x85", "\ud800"])
def test_a_path_that_nobody_can_open_or_see_is_refused(path: str) -> None:
    with pytest.raises(Invalid, match=r"^secrets_dest is .*(control character|no path can hold)"):
        check_path("secrets_dest", path)
