# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies between two trees."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._sftp.compare import (
    Rules,
    compare,
    describe_entry,
    stays_inside,
    without_stray_links,
)
from ansible_collections.hosted.services.plugins.module_utils._sftp.errors import TransferFailed
from ansible_collections.hosted.services.plugins.module_utils._sftp.trees import (
    Kind,
    Tree,
    TreeEntry,
)

FOLDER = TreeEntry(Kind.DIRECTORY, mode=0o755)
FILE = TreeEntry(Kind.FILE, 3, 1000, 0o644)
KEEP = Rules(lambda path, wished, there: (wished.size, wished.mtime) == (there.size, there.mtime))


@pytest.mark.parametrize(
    ("path", "target", "inside"),
    [
        ("l", "a", True),
        ("l", "./a//b", True),
        ("l", "..", False),
        ("l", "../a", False),
        ("a/l", "..", True),
        ("a/l", "../b", True),
        ("a/l", "../../b", False),
        ("a/b/l", "../../c", True),
        ("l", "/etc/passwd", False),
        ("l", "", False),
        ("l", "a/../../b", False),
        ("l", "a/../b", False),
        ("", "a", False),
    ],
)
def test_where_a_link_may_lead(path: str, target: str, inside: bool) -> None:
    assert stays_inside(path, target, {}) is inside


TREE = {
    "": FOLDER,
    "sub": FOLDER,
    "sub/deep": FOLDER,
    "file": FILE,
    "to-deep": TreeEntry(Kind.LINK, target="sub/deep"),
    "to-top": TreeEntry(Kind.LINK, target="."),
    "out": TreeEntry(Kind.LINK, target="/etc"),
    "round": TreeEntry(Kind.LINK, target="round"),
}


@pytest.mark.parametrize(
    ("target", "inside"),
    [
        ("sub/../real", True),
        ("sub/..", True),
        ("sub/../..", False),
        ("to-deep/../real", True),
        ("to-deep/../../..", False),
        ("to-top/..", False),
        ("to-top/../etc", False),
        ("out/../real", False),
        ("round/../real", False),
        ("file/../real", False),
        ("unknown/../real", False),
    ],
)
def test_climbing_out_of_what_the_tree_knows(target: str, inside: bool) -> None:
    assert stays_inside("link", target, TREE) is inside


@pytest.mark.parametrize(("resolved", "same"), [(True, True), (False, False)])
def test_links_of_a_server_that_tells_places_are_compared_as_places(resolved: bool, same: bool) -> None:
    here = Tree({"": FOLDER, "a/l": TreeEntry(Kind.LINK, target=".././b/")})
    there = Tree({"": FOLDER, "a/l": TreeEntry(Kind.LINK, target="../b", resolved=resolved)})
    assert bool(compare(here, there, KEEP)) is bool(compare(there, here, KEEP)) is not same
    other = Tree({"": FOLDER, "a/l": TreeEntry(Kind.LINK, target="b", resolved=resolved)})
    assert compare(here, other, KEEP).links


@given(
    st.lists(st.sampled_from(["a", "b"]), max_size=3),
    st.lists(st.sampled_from(["..", ".", "a", "b", "c"]), min_size=1, max_size=5),
)
def test_an_accepted_link_never_leaves_the_tree(folder: list[str], target: list[str]) -> None:
    path = "/".join([*folder, "link"])
    if stays_inside(path, "/".join(target), {}):
        resolved = os.path.normpath(os.path.join("/tree", os.path.dirname(path), *target))
        assert resolved == "/tree" or resolved.startswith("/tree/")


def test_what_is_alike_is_left_alone() -> None:
    tree = Tree({"": FOLDER, "a": FILE})
    changes = compare(tree, tree, KEEP)
    assert not changes and changes.unchanged == 2


def test_what_is_missing_or_differs_is_made() -> None:
    link = TreeEntry(Kind.LINK, target="a")
    source = Tree({"": FOLDER, "sub": FOLDER, "a": FILE, "b": FILE, "l": link, "same": link})
    target = Tree({"": FOLDER, "b": replace(FILE, mtime=0), "same": link})
    changes = compare(source, target, KEEP)
    assert (list(changes.directories), list(changes.files), list(changes.links)) == (
        ["sub"],
        ["a", "b"],
        ["l"],
    )
    assert changes.unchanged == 2


def test_a_link_that_leads_out_is_told_and_left_out() -> None:
    links = {"in": TreeEntry(Kind.LINK, target="a"), "out": TreeEntry(Kind.LINK, target="../a")}
    told: dict[str, str] = {}
    kept = without_stray_links(Tree({"": FOLDER, **links, "dark": TreeEntry(Kind.LINK)}), told.__setitem__)
    assert set(kept.entries) == {"", "in"} and kept.left_out == {"out", "dark"}
    assert told == {
        "out": "it is a link that leads out of the tree, to ../a",
        "dark": "it is a link, and the server does not show where it leads",
    }


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        (FILE, "3 bytes, changed then, mode 0644"),
        (replace(FILE, mode=None), "3 bytes, changed then"),
        (FOLDER, "directory, mode 0755"),
        (TreeEntry(Kind.LINK, target="a"), "link to a"),
        (TreeEntry(Kind.LINK), "link to somewhere"),
    ],
)
def test_an_entry_is_described_by_what_may_differ(entry: TreeEntry, shown: str) -> None:
    assert describe_entry(entry, lambda moment: "then") == shown


@pytest.mark.parametrize(
    ("path", "kind", "changes_it"), [("", FOLDER, False), ("a", FOLDER, True), ("", FILE, True)]
)
def test_the_permissions_of_a_root_directory_stay(path: str, kind: TreeEntry, changes_it: bool) -> None:
    """It was there before; a single file is what the task is about."""
    there = Tree({"": FOLDER, path: replace(kind, mode=0o700)})
    changes = compare(Tree({"": FOLDER, path: kind}), there, KEEP)
    assert list(changes.modes) == ([path] if changes_it else [])


def test_what_is_protected_stays() -> None:
    source = Tree({"": FOLDER})
    target = Tree({"": FOLDER, "old": FOLDER, "old/a": FILE, "gone": FOLDER}, protected={"", "old"})
    changes = compare(source, target, Rules(KEEP.same, delete=True))
    assert set(changes.extra) == {"old/a", "gone"}


def test_a_directory_in_the_way_that_holds_what_is_excluded() -> None:
    source = Tree({"": FOLDER, "a": FILE})
    target = Tree({"": FOLDER, "a": FOLDER}, protected={"", "a"})
    with pytest.raises(TransferFailed, match="excluded"):
        compare(source, target, Rules(KEEP.same, delete=True))


def test_the_root_is_never_replaced() -> None:
    with pytest.raises(TransferFailed, match="the destination"):
        compare(Tree({"": FILE}), Tree({"": FOLDER}), Rules(KEEP.same, delete=True))
