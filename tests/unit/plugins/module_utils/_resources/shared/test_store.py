# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records: what one holds is there whole, whatever ends the task that writes it, or is named as damaged."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.state import (
    STATE,
    State,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.applications.releases import (
    HISTORY,
    History,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.members import APPLIED
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.target import CloneRecord
from ansible_collections.hosted.services.plugins.module_utils._resources.environment import ENVIRONMENT
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.members import (
    FLEETS,
    FleetRecord,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.target import (
    RecoveryRecord,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services import order
from ansible_collections.hosted.services.plugins.module_utils._resources.services.listing import (
    ACCESSES,
    Access,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.power import ASLEEP, Asleep
from ansible_collections.hosted.services.plugins.module_utils._resources.services.removal import (
    OFFERS,
    Offers,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import (
    budget,
    run_memory,
    secrets_file,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.connecting import OWNERS
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.journal import ENTRIES, Entry
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import Commitment
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.pending import (
    ENVIRONMENTS,
    PENDING,
    Prints,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.relocation_record import (
    Relocation,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.store import (
    PLAYBOOK_FOLDER,
    Kind,
    records_folder,
    state_key,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.memory import (
    SLEEP,
    Due,
    SleepRecord,
)
from hosted_sandbox.testing import Sandbox
from unit.plugins.apps import Platform, plain, platform, server
from unit.plugins.interruptions import ended, fill_disk, struck
from unit.plugins.module_utils._resources.platform import id_of, run

__all__ = ["plain", "platform", "server"]

WRITTEN = Prints("app_1", "00" * 32, {"A": "00"})
COMMITTED = Commitment("order", "it", Decimal("1.5"))
KINDS: list[tuple[Kind[Any], Any]] = [
    (PENDING, {"command": [{"since": "2026-01-31T12:00:00Z"}]}),
    (ENVIRONMENTS, WRITTEN),
    (APPLIED, WRITTEN),
    (HISTORY, History(["sha256:0"], id="svc_1")),
    (CloneRecord.kind(), CloneRecord(names={"svc_1": "web"}, ids={"svc_1": "svc_2"})),
    (RecoveryRecord.kind(), RecoveryRecord(drill=True, touched={"web": datetime(2026, 1, 31, tzinfo=UTC)})),
    (Relocation.kind(), Relocation(old_id="svc_1", running=["svc_2"])),
    (OFFERS, Offers(["backups"])),
    (FLEETS, FleetRecord({"svc_1": True, "svc_2": None}, since=datetime(2026, 1, 31, tzinfo=UTC))),
    (SLEEP, SleepRecord(settled=Due(True, "2026-01-31"), plan="nights", service="svc_1")),
    (ASLEEP, Asleep("svc_1", "nights", True, {"awake": False})),
    (ACCESSES, {"svc_1": Access("ACTIVE", {"host": "a"}, 1.5)}),
    (order.ORDERED, order.Ordered("shop", "run_1", WRITTEN)),
    (ENTRIES, Entry("it", 1.0, commitment=COMMITTED, known=("svc_1",))),
    (budget.OF_RUN, budget.OfRun({"a": Decimal("1.5")}, (COMMITTED,))),
    (run_memory.SAID, ["EUR"]),
    (run_memory.FORESEEN, {"web": ""}),
    (OWNERS, "ab12"),
]
"""Each kind of record, and what one may hold."""


def always(content: Any) -> Callable[[Any], Any]:
    """Return what makes the same of every content."""
    return lambda _found: content


def test_every_kind_of_record_is_tried_here() -> None:
    values = (value for module in list(sys.modules.values()) for value in vars(module).values())
    assert {value.folder for value in values if isinstance(value, Kind)} <= {
        kind.folder for kind, _it in WITH_STATE
    }


WITH_STATE = [*KINDS, (STATE, State(salt="s", sequence=3))]
"""With the one of which each new one differs."""


@pytest.mark.parametrize(
    ("kind", "content"), WITH_STATE, ids=[kind.content.__name__ for kind, _content in WITH_STATE]
)
def test_a_record_is_whole_whatever_ends_its_task(kind: Kind[Any], content: Any, tmp_path: Path) -> None:
    """Killed at each call of the system, and with a disk that is full from there on."""
    nothing, record = kind.content(), kind.of("https://a.example.com", "one", str(tmp_path))
    for before, after in ((nothing, content), (content, nothing), (content, content)):
        for write in (partial(record.write, after), partial(record.edit, always(after))):
            for at in count(1):
                record.write(before)
                if not ended(write, at):
                    break
                assert record.read() in (before, after)
            assert at > 1 and record.read() == after
            for at in count(1):
                record.write(before)
                try:
                    if not struck(write, at, fill_disk):
                        break
                except Invalid as error:
                    assert "No space left on device" in error.message and record.read() in (before, after)
            assert record.read() == after


@pytest.mark.parametrize(("kind", "content"), KINDS, ids=[kind.content.__name__ for kind, _content in KINDS])
def test_a_record_is_read_as_it_was_written_and_a_damaged_one_is_named(
    kind: Kind[Any], content: Any, tmp_path: Path
) -> None:
    """Each subject on each platform has one of its own, which nobody else can read."""
    record = kind.of("https://a.example.com", "one", str(tmp_path))
    assert record.read() == kind.content()
    record.write(content)
    assert record.read() == content
    assert kind.of("https://b.example.com", "one", str(tmp_path)).read() == kind.content()
    assert Path(record.path).stat().st_mode & 0o777 == 0o600
    assert Path(record.path).parent.stat().st_mode & 0o777 == 0o700
    for damage in ("", "{", "[]", "3", "[" * 9999):
        Path(record.path).write_text(damage)
        if kind.hint:
            assert record.read() == kind.content()
            continue
        named = rf"{kind.what} is in .*json', which cannot be read: it is damaged. {kind.mending}"
        with pytest.raises(Invalid, match=named):
            record.read()
        with pytest.raises(Invalid):
            record.edit(lambda found: found)
        assert Path(record.path).read_text() == damage


# --- What a task makes of one that cannot be read ---------------------------------------------------

ORDER: dict[str, Any] = {
    **{"name": "survival", "product": "minecraft", "host": "node-paris-1"},
    "dimensions": {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20},
}


def unreadable(folder: Path) -> None:
    """Put a loop of links where records are kept: root may read all else."""
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.symlink_to(folder)


@pytest.mark.parametrize("kind", [order.ORDERED, OFFERS])
def test_an_order_does_not_fail_for_a_hint(
    kind: Kind[Any], sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    unreadable(tmp_path / "home" / "hosted_services" / kind.folder)
    assert run(sandbox, SERVICE, **ORDER, state="suspended")["service_id"] == id_of(sandbox, "survival")
    assert run(sandbox, SERVICE, name="survival", state="absent")["changed"]


def test_what_is_ordered_is_told_though_its_record_cannot_be_read(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    unreadable(tmp_path / "home" / "hosted_services" / PENDING.folder)
    failed = run(sandbox, SERVICE, **ORDER)
    assert failed["failed"] and failed["changed"] and failed["service_id"] == id_of(sandbox, "survival")
    assert f"({failed['service_id']}) was ordered and is billed, but: {PENDING.what} is in" in failed["msg"]


def test_a_record_in_a_home_of_somebody_else_is_not_needed_beside_one_in_state_dir(
    plain: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    unreadable(tmp_path / "home" / "hosted_services" / PENDING.folder)
    wish: dict[str, Any] = {"variables": {"A": "1"}, "state_dir": str(tmp_path / "state")}
    assert plain.run(ENVIRONMENT, **wish)["changed"]


# --- Folders, files and keys -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("home", "folder"),
    [("/srv/a", "/srv/a"), ("~/a", "/home/me/a"), ("", "/home/me/.ansible"), (None, "/home/me/.ansible")],
)
def test_it_is_in_the_home_of_ansible(home: str | None, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.delenv("ANSIBLE_HOME", raising=False)
    if home is not None:
        monkeypatch.setenv("ANSIBLE_HOME", home)
    assert records_folder("x") == f"{folder}/hosted_services/x"
    assert secrets_file.default_path("svc_1") == f"{folder}/hosted_services/secrets/svc_1.json"


@pytest.mark.parametrize(
    ("own", "folder"),
    [("/srv/b", "/srv/b"), ("~/b", "/home/me/b"), ("b", "/plays/b"), ("", "/srv/a/hosted_services")],
)
def test_the_environment_names_another_folder(own: str, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"HOME": "/home/me", "ANSIBLE_HOME": "/srv/a", PLAYBOOK_FOLDER: "/plays"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOSTED_SERVICES_HOME", own)
    assert records_folder("x") == f"{folder}/x"
    assert secrets_file.default_path("svc_1") == f"{folder}/secrets/svc_1.json"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://api.example.com", "HTTPS://API.example.com/"),
        ("https://api.example.com", "https://api.example.com:443"),
        ("http://localhost:8080", "http://127.0.0.1:8080"),
    ],
)
def test_one_platform_has_one_key_however_its_address_is_written(one: str, other: str) -> None:
    assert state_key(one, "x") == state_key(other, "x")


@pytest.mark.parametrize(
    "other", ["http://api.example.com", "https://api.example.com:444", "https://api.example.com/v2"]
)
def test_two_platforms_have_two_keys(other: str) -> None:
    assert state_key("https://api.example.com", "x") != state_key(other, "x")
