# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees of files: how they are read, and how two are compared."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._sftp import trees
from ansible_collections.hosted.services.plugins.module_utils._sftp.compare import (
    Rules,
    compare,
    stays_inside,
    without_stray_links,
)
from ansible_collections.hosted.services.plugins.module_utils._sftp.errors import TransferFailed
from ansible_collections.hosted.services.plugins.module_utils._sftp.trees import (
    Kind,
    Tree,
    TreeEntry,
)
from unit.plugins.module_utils._sftp.mirrored import fill, holds, sync
from unit.plugins.module_utils._sftp.odd_servers import TellsNoSizes, odd_server

# --- What is on the server ----------------------------------------------------------------------------


@pytest.mark.parametrize(("newest", "is_leftover"), [(3700, True), (3600, False)])
def test_a_half_written_file_takes_no_part(newest: int, is_leftover: bool) -> None:
    """It is nobody's an hour later, by the times of the tree, whatever the clock of this machine says."""
    tree, path = Tree(), "web/.hosted-0123456789abcdef.part"
    assert not tree.take(path, TreeEntry(Kind.FILE, mtime=1))
    tree.take("web", TreeEntry(Kind.DIRECTORY, mtime=newest))
    tree.finish()
    assert path not in tree
    assert (tree.leftovers == [path], path in tree.left_out) == (is_leftover, not is_leftover)
    assert Tree().take(path, TreeEntry(Kind.DIRECTORY)), "theirs"


# --- Where a link points --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"a b.txt", "a b.txt"),
        ("größe".encode(), "größe"),
        (b"gr\xf6\xdfe", "gr\\xf6\\xdfe"),
        (b"\x1b[2Jred\n", "\\x1b[2Jred\\n"),
    ],
)
def test_a_path_is_shown_without_what_would_steer_a_terminal(name: bytes, shown: str) -> None:
    assert trees.printable_path(os.fsdecode(name)) == shown


# --- A server that tells no sizes -----------------------------------------------------------------------

WORLD: dict[str, str | None] = {"config": "motd", "deep/level": "precious", "empty": "", "link": "@config"}


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize("more", [{}, {"checksum": True}, {"delete": True}])
@pytest.mark.parametrize("src", ["world", "world/config"])
def test_a_file_of_unknown_size_is_not_taken_for_an_empty_one(
    tmp_path: Path, check_mode: bool, more: dict[str, bool], src: str
) -> None:
    """It would take the place of a good copy of it."""
    with odd_server(tmp_path, TellsNoSizes) as server:
        fill(server.root / "world", WORLD)
        dest = tmp_path / "copy" / ("config" if src.endswith("config") else "")
        before = holds(fill(tmp_path / "copy", {"config": "motd", "deep/level": "old", "mine": "x"}))
        result = sync(server, check_mode, direction="pull", src=src, dest=str(dest), **more)
        assert result["failed"] and not result["changed"]
        assert "the server does not show the sizes of files" in result["msg"]
        assert holds(tmp_path / "copy") == before


FOLDER = TreeEntry(Kind.DIRECTORY, mode=0o755)
FILE = TreeEntry(Kind.FILE, 3, 1000, 0o644)
KEEP = Rules(by_time=True)


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


def test_a_link_that_leads_out_is_told_and_left_out() -> None:
    links = {"in": TreeEntry(Kind.LINK, target="a"), "out": TreeEntry(Kind.LINK, target="../a")}
    kept = without_stray_links(Tree({"": FOLDER, **links, "dark": TreeEntry(Kind.LINK)}))
    assert set(kept.entries) == {"", "in"}
    assert kept.left_out == {
        "out": "it is a link that leads out of the tree, to ../a",
        "dark": "it is a link, and the server does not show where it leads",
    }


def test_the_root_is_never_replaced() -> None:
    with pytest.raises(TransferFailed, match="the destination"):
        compare(Tree({"": FILE}), Tree({"": FOLDER}), Rules(by_time=True, delete=True))
