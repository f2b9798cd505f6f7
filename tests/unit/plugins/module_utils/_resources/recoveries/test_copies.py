# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which copy a service gets: the newest whole one of its own shelf, and never one that may be another's."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.copies import (
    Choice,
    check_content,
    read_shelves,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.record import Span
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Ambiguous,
    Invalid,
    NoSuchItem,
)
from unit.plugins.module_utils._resources.recoveries.platform import shelve

OLD, NEW = "20261101T030000Z", "20261120T030000Z"


def choice(folder: Path, latest: datetime | None = None) -> Choice:
    """Return what chooses among the copies of a folder."""
    return Choice(read_shelves(str(folder)), latest)


def test_the_newest_whole_copy_is_taken(tmp_path: Path) -> None:
    """What was not completed begins with a dot, and lies between the others."""
    shelve(tmp_path, "svc_1", {"a": "1"}, moment=OLD, name="world")
    newest = shelve(tmp_path, "svc_1", {"a": "2"}, moment=NEW, name="world")
    (tmp_path / "svc_1" / ".nightly.partial").mkdir()
    (tmp_path / "svc_1" / "nightly-20261121T030000Z").symlink_to(newest)
    shelve(tmp_path, ".hosted-backups", {"a": "3"}, moment="20261122T030000Z", name="world")
    found = choice(tmp_path).known("service 'world'", ["shop"], "world", is_app=False)
    assert found.copy.path == str(newest) and found.dump is None
    assert found.copy.moment == datetime(2026, 11, 20, 3, tzinfo=UTC)
    assert found.copy.age(datetime(2026, 11, 20, 4, tzinfo=UTC)) == 3600
    before = choice(tmp_path, datetime(2026, 11, 10, tzinfo=UTC))
    assert before.known("world", ["shop"], "world", is_app=False).copy.name == f"nightly-{OLD}"
    with pytest.raises(NoSuchItem, match="not before the moment"):
        choice(tmp_path, datetime(2026, 10, 1, tzinfo=UTC)).known("world", ["shop"], "world", is_app=False)


def test_a_copy_that_somebody_renamed_is_taken_by_its_name_alone(tmp_path: Path) -> None:
    """Network storage puts folders of its own next to the copies, such as @eaDir and lost+found."""
    copy = shelve(tmp_path, "svc_1", {"a": "1"}, name="world")
    renamed = copy.rename(copy.with_name("before-the-update"))
    os.utime(renamed, (1_000_000, 1_000_000))
    (tmp_path / "svc_1" / "@eaDir").mkdir()
    for take in ("known", "given"):
        with pytest.raises(NoSuchItem, match="name it in copies_of as svc_1/FOLDER") as refused:
            known = ("svc_1",) if take == "given" else (["shop"], "world", False)
            getattr(choice(tmp_path), take)("service 'world'", *known)
        assert "before-the-update" in refused.value.message
    found = choice(tmp_path).given("service 'world'", "svc_1/before-the-update").copy
    assert found.moment.timestamp() == 1_000_000
    newest = shelve(tmp_path, "svc_1", {"a": "2"}, moment=OLD, name="world")
    assert choice(tmp_path).known("world", ["shop"], "world", is_app=False).copy.path == str(newest)


def test_the_description_of_another_shelf_says_nothing(tmp_path: Path) -> None:
    """Somebody copied or swapped them: each service would get what the other one held."""
    shelve(tmp_path, "svc_1", {"a": "1"}, name="world")
    (tmp_path / "svc_1").rename(tmp_path / "svc_3")
    with pytest.raises(NoSuchItem, match=r"svc_3 \(its service.json is that of svc_1\)"):
        choice(tmp_path).known("service 'world'", ["shop"], "world", is_app=False)


def test_a_name_alone_is_not_enough(tmp_path: Path) -> None:
    """Another project, and an application whose service has the name, are other things."""
    shelve(tmp_path, "svc_1", {"a": "1"}, name="world", project="other")
    shelve(tmp_path, "svc_2", {"a": "1"}, name="world", slug="world")
    with pytest.raises(NoSuchItem) as refused:
        choice(tmp_path).known("service 'world'", ["shop"], "world", is_app=False)
    assert "no copy of service 'world'" in refused.value.message
    assert "svc_1 (other / world)" in refused.value.message
    found = choice(tmp_path).known("application 'world'", ["shop"], "world", is_app=True)
    assert found.shelf.id == "svc_2"


def test_a_service_that_was_ordered_anew_has_two_shelves(tmp_path: Path) -> None:
    """The newer one is taken, and that is told. Two that were copied at the same time are two services."""
    shelve(tmp_path, "svc_1", {"a": "1"}, moment=OLD, name="world")
    shelve(tmp_path, "svc_2", {"a": "2"}, moment=NEW, name="world")
    chooses = choice(tmp_path)
    assert chooses.known("world", ["shop"], "world", is_app=False).shelf.id == "svc_2"
    assert "that of svc_2 is taken" in chooses.remarks[0]
    for moment in (NEW, "20261121T030000Z"):
        shelve(tmp_path, "svc_1", {"a": "3"}, moment=moment, name="world")
        with pytest.raises(Ambiguous, match="both were copied at the same time"):
            choice(tmp_path).known("world", ["shop"], "world", is_app=False)


def test_copies_of_a_service_while_it_lacked_its_content_are_for_users_to_name(tmp_path: Path) -> None:
    """They neither count nor make it doubtful which shelf is meant."""
    for moment in (OLD, NEW):
        shelve(tmp_path, "svc_1", {"a": "1"}, moment=moment, name="world")
    shelve(tmp_path, "svc_2", {"a": "2"}, moment="20261110T030000Z", name="world")
    for since, shelf, name in (
        (datetime.min.replace(tzinfo=UTC), "svc_2", "20261110T030000Z"),
        (datetime(2026, 11, 5, tzinfo=UTC), "svc_2", "20261110T030000Z"),
    ):
        chooses = replace(choice(tmp_path), unfilled={"svc_1": [Span(since, None)]})
        found = chooses.known("service 'world'", ["shop"], "world", is_app=False)
        assert (found.shelf.id, found.copy.name) == (shelf, f"nightly-{name}")
        assert f"copies of svc_1 (shop / world) do not count, such as nightly-{NEW}: " in chooses.remarks[0]
        assert chooses.given("world", "svc_1").copy.name == f"nightly-{NEW}"
    chooses = replace(choice(tmp_path), unfilled={"svc_1": [Span(at(20, 3), None)]})
    with pytest.raises(Ambiguous):
        replace(chooses, unfilled={}).known("world", ["shop"], "world", is_app=False)
    assert chooses.known("world", ["shop"], "world", is_app=False).copy.name == "nightly-20261110T030000Z"
    alone = {id: [Span(datetime.min.replace(tzinfo=UTC), None)] for id in ("svc_1", "svc_2")}
    with pytest.raises(NoSuchItem, match=r"no other copy of world: copies of svc_1 .*; copies of svc_2 "):
        replace(chooses, unfilled=alone).known("world", ["shop"], "world", is_app=False)


def test_a_copy_leaves_out_what_its_plan_did_then(tmp_path: Path) -> None:
    """Where nobody knows that, all that any copy is known to leave out may be it."""
    old, new = (shelve(tmp_path, "svc_1", {"a": "1"}, moment=moment) for moment in (OLD, NEW))
    described = tmp_path / "svc_1" / "service.json"
    for about, expected in (
        ({}, ([], None, None)),
        ({"exclude": "x", "excluded": {new.name: []}}, ([], None, [])),
        (
            {"excluded": {old.name: ["b"], "x": ["c"], new.name: 5}},
            (["b", "c"], ["b"], None),
        ),
        ({"excluded": ["b"]}, ([], None, None)),
    ):
        described.write_text(json.dumps(about))
        [shelf] = read_shelves(str(tmp_path))
        assert (shelf.left_out, *map(shelf.left_out_by, shelf.copies)) == expected


def test_copies_count_from_when_a_service_had_its_content(tmp_path: Path) -> None:
    ever, days = datetime.min.replace(tzinfo=UTC), (1, 5, 10)
    for day in days:
        shelve(tmp_path, "svc_1", {"a": "1"}, moment=f"202611{day:02}T030000Z", name="world")
    for spans, taken, named in (
        ([(ever, at(5, 3))], 10, 1),
        ([(ever, at(5, 4)), (at(10), at(10, 2))], 10, 5),
        ([(ever, at(1, 2)), (at(10), at(11))], 5, 10),
        ([(at(1), at(2)), (at(10), None)], 5, 10),
    ):
        chooses = replace(choice(tmp_path), unfilled={"svc_1": [Span(*span) for span in spans]})
        found = chooses.known("service 'world'", ["shop"], "world", is_app=False)
        assert found.copy.name == f"nightly-202611{taken:02}T030000Z"
        assert f"such as nightly-202611{named:02}T030000Z: they were made" in chooses.remarks[0]


def at(day: int, hour: int = 0) -> datetime:
    """Return a moment of the month."""
    return datetime(2026, 11, day, hour, tzinfo=UTC)


def test_an_empty_copy_and_one_of_the_future_are_passed_over(tmp_path: Path) -> None:
    shelve(tmp_path, "svc_1", {"a": "1"}, moment=OLD, name="world")
    (tmp_path / "svc_1" / f"nightly-{NEW}" / "folders" / "alone").mkdir(parents=True)
    shelve(tmp_path, "svc_1", {"a": "3"}, moment="20991120T030000Z", name="world")
    chooses = choice(tmp_path)
    found = chooses.known("service 'world'", ["shop"], "world", is_app=False)
    assert found.copy.name == f"nightly-{OLD}"
    assert "dated in the future do not count: nightly-20991120T030000Z" in chooses.remarks[0]
    assert f"the newest copy, nightly-{NEW}, is empty; nightly-{OLD} is taken" in chooses.remarks[1]
    assert chooses.given("world", f"svc_1/nightly-{NEW}").copy.name == f"nightly-{NEW}"


def test_a_service_that_held_nothing_has_an_empty_copy(tmp_path: Path) -> None:
    (tmp_path / "svc_1" / f"nightly-{NEW}").mkdir(parents=True)
    chooses = choice(tmp_path)
    assert chooses.given("world", "svc_1").copy.name == f"nightly-{NEW}"
    assert "world: no file is in any of its copies" in chooses.remarks[0]


def test_all_copies_of_the_future_are_none(tmp_path: Path) -> None:
    shelve(tmp_path, "svc_1", {"a": "3"}, moment="20991120T030000Z", name="world")
    with pytest.raises(NoSuchItem, match="all copies of world are dated in the future"):
        choice(tmp_path).known("world", ["shop"], "world", is_app=False)


@pytest.mark.parametrize(
    ("project", "moment", "is_known", "warned"),
    [
        ("shop", NEW, False, True),
        ("shop", NEW, True, False),
        ("other", NEW, False, False),
        ("shop", "20261001T030000Z", False, False),
    ],
)
def test_newer_copies_that_nothing_gets_are_named(
    project: str, moment: str, is_known: bool, warned: bool, tmp_path: Path
) -> None:
    """A service that was relocated has another name, and its copies another shelf."""
    shelve(tmp_path, "svc_1", {"a": "1"}, moment=OLD, name="world")
    shelve(tmp_path, "svc_9", {"a": "2"}, moment=moment, name="world-2", project=project)
    chooses = choice(tmp_path)
    found = chooses.known("world", ["shop"], "world", is_app=False)
    chooses.warn_of_newer([found.shelf], lambda shelf: is_known, ["shop"])
    assert ["svc_9 (" in remark for remark in chooses.remarks] == [True] * warned


def test_old_copies_are_named_by_hand(tmp_path: Path) -> None:
    """They have no description."""
    shelve(tmp_path, "svc_1", {"a": "1"}, moment=OLD)
    shelve(tmp_path, "svc_1", {"a": "2"}, moment=NEW)
    chooses = choice(tmp_path)
    assert chooses.given("world", "svc_1").copy.name == f"nightly-{NEW}"
    assert chooses.given("world", f"svc_1/nightly-{OLD}").copy.name == f"nightly-{OLD}"
    with pytest.raises(NoSuchItem, match=r"svc_1 \(no service\.json\) has nightly"):
        chooses.given("world", "svc_1/nightly")
    with pytest.raises(NoSuchItem, match="there are copies of svc_1 "):
        chooses.given("world", "svc_2")


def test_a_dump_is_known_by_its_description_or_by_being_alone(tmp_path: Path) -> None:
    shelve(tmp_path, "svc_1", {"database.dump": "PGDMP"}, name="db", engine="postgresql")
    shelve(tmp_path, "svc_2", {"database.dump": "a file of that name"}, name="world")
    shelve(tmp_path, "svc_3", {"database.sql.gz": ""})
    shelve(tmp_path, "svc_4", {"database.dump": "PGDMP", "more": ""})
    dumps = {id: choice(tmp_path).given("it", id).dump for id in ("svc_1", "svc_2", "svc_3", "svc_4")}
    assert {id: path and os.path.basename(path) for id, path in dumps.items()} == {
        "svc_1": "database.dump",
        "svc_2": None,
        "svc_3": "database.sql.gz",
        "svc_4": None,
    }
    check_content(choice(tmp_path).given("it", "svc_1"), "postgresql")
    for product in ("minecraft", None):  # None is an application's
        check_content(choice(tmp_path).given("it", "svc_2"), product)
    with pytest.raises(Invalid, match="is empty, so it is no dump"):
        check_content(choice(tmp_path).given("it", "svc_3"), None)


@pytest.mark.parametrize(
    ("engine", "product"),
    [("postgresql", "database"), ("valkey", None), ("", "postgresql"), ("", "mariadb-11")],
)
def test_a_database_gets_a_dump_or_nothing(tmp_path: Path, engine: str, product: str | None) -> None:
    """A drill without one would pass, and files do not belong into a database."""
    shelve(tmp_path, "svc_1", {"database.dump.old": "PGDMP"}, name="db", engine=engine)
    with pytest.raises(Invalid, match="holds no dump, and the service is a "):
        check_content(choice(tmp_path).given("it", "svc_1"), product)


@pytest.mark.parametrize("part", ["", "svc_1", f"svc_1/nightly-{NEW}", f"svc_1/nightly-{NEW}/database.dump"])
def test_what_everybody_can_write_to_is_named_once(tmp_path: Path, part: str) -> None:
    """Whoever can write there decides what is restored. A folder that is closed closes what is in it."""
    shelve(tmp_path, "svc_1", {"database.dump": "1"}, moment=NEW, name="db", engine="postgresql")
    path = tmp_path / part
    for each in (tmp_path, *tmp_path.rglob("*")):
        each.chmod(0o755 if each.is_dir() else 0o644)

    def remarks() -> list[str]:
        chooses = choice(tmp_path)
        chosen = chooses.known("service 'db'", ["shop"], "db", is_app=False)
        chooses.warn_of_writable(str(tmp_path), [chosen, chosen])
        return chooses.remarks

    assert remarks() == []
    path.chmod(0o777)
    [remark] = remarks()
    assert f"can write to {path}, and so" in remark and remark.endswith(f"chmod o-w {path}")
    if part:
        tmp_path.chmod(0o700)
        assert remarks() == []


def test_a_folder_without_copies_is_refused(tmp_path: Path) -> None:
    """A disk that is not mounted leaves an empty folder, or none."""
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(NoSuchItem, match="Is a disk not mounted"):
            read_shelves(str(folder))


def test_a_damaged_description_says_nothing(tmp_path: Path) -> None:
    shelve(tmp_path, "svc_1", {"a": "1"})
    for text in ("[]", "half {"):
        (tmp_path / "svc_1" / "service.json").write_text(text)
        assert read_shelves(str(tmp_path))[0].about == {}


def test_a_description_that_does_not_end_is_not_read(tmp_path: Path) -> None:
    """Somebody else may have written to the folder."""
    shelve(tmp_path, "svc_1", {"a": "1"})
    description = tmp_path / "svc_1" / "service.json"
    description.unlink(missing_ok=True)
    os.mkfifo(description)
    assert read_shelves(str(tmp_path))[0].about == {}
    description.unlink()
    description.symlink_to("/dev/zero")
    assert read_shelves(str(tmp_path))[0].about == {}
