# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recoveries on a real server: what is there afterwards, what it costs, and what is never written to."""

from __future__ import annotations

import json
import subprocess
import threading
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.target import (
    RecoveryRecord,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.store import (
    RUN_FOLDER,
    one_at_a_time,
    state_key,
)
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import files, ids_of, monthly_rate, plain_files
from unit.plugins.module_utils._resources.recoveries.platform import (
    WORLD,
    Recover,
    recovering,
    shelve,
)
from unit.plugins.module_utils._resources.relocations.platform import write_file


@pytest.fixture
def recover(sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recover:
    """Recover a project of which nothing is left."""
    return recovering(sandbox, key_file, tmp_path, monkeypatch)


LIVE: dict[str, Any] = {
    "name": "Survival",
    "product": "minecraft",
    "project": "shop",
    "dimensions": {"cpuCores": 1, "ramGb": 2, "storageGb": 10},
}


def commits(sandbox: Sandbox) -> list[str]:
    """Return the calls that change something; a quote does not."""
    return [each for each in sandbox.writes() if "quote" not in each]


def test_a_project_is_there_again_at_the_price_that_was_announced(
    sandbox: Sandbox, recover: Recover, tmp_path: Path
) -> None:
    planned = recover(check_mode=True)
    assert not planned.get("failed"), planned["msg"]
    assert planned["changed"] and commits(sandbox) == []
    assert list((tmp_path / "home").iterdir()) == [], "nothing is remembered"
    before = monthly_rate(sandbox)
    done = recover()
    assert not done.get("failed"), done["msg"]
    made = ids_of(sandbox, "shop")
    assert set(made) == {"Survival", "lobby"}
    assert Decimal(planned["cost"]["monthly_after"]) == Decimal(done["cost"]["monthly_after"])
    assert Decimal(done["cost"]["monthly_after"]) == monthly_rate(sandbox) - before
    assert plain_files(sandbox, made["Survival"]) == {f"/{name}": text for name, text in WORLD.items()}
    metrics = sandbox.api("GET", f"/api/resources/metrics?ids={','.join(made.values())}").json()
    assert [metrics[made[name]]["state"] for name in ("Survival", "lobby")] == ["running", "stopped"]
    told = done["recovery"]
    assert told["rto_seconds"] is not None and told["rpo_seconds"] > 0
    [world] = [each for each in told["services"] if each["key"] == "world"]
    assert world["verified"] == {"files": 3, "bytes": sum(map(len, WORLD.values()))}
    assert world["copied_at"] == "2026-11-20T03:15:00Z" and world["service_id"] == made["Survival"]


def test_what_was_written_since_is_never_overwritten(
    sandbox: Sandbox, recover: Recover, tmp_path: Path
) -> None:
    """A service that was restored is in use. Another run leaves it, with a newer copy as well."""
    assert not recover().get("failed")
    world = ids_of(sandbox, "shop")["Survival"]
    body = {"path": "server.properties", "content": "motd=newer"}
    sandbox.api("POST", f"/api/resources/{world}/files/write", body)
    shelve(tmp_path / "copies", "svc_1", {"a": "b"}, moment="20261121T031500Z", name="Survival")
    sandbox.clear_journal()
    again = recover()
    assert not again.get("failed"), again["msg"]
    assert not again["changed"] and commits(sandbox) == []
    told = recover(overwrite=["world"])
    assert not told.get("failed"), told["msg"]
    assert files(sandbox, world) == {"/a": "b"}


def test_what_copies_leave_out_stays(sandbox: Sandbox, recover: Recover, tmp_path: Path) -> None:
    """No copy has it, so it could never come back. What an older copy has of it is restored."""
    assert not recover().get("failed")
    world = ids_of(sandbox, "shop")["Survival"]
    for path in ("cache/new", "cache/old", "extra"):
        sandbox.api("POST", f"/api/resources/{world}/files/write", {"path": path, "content": "kept"})
    copies, content = tmp_path / "copies", {"a": "b", "cache/old": "c"}
    shelve(copies, "svc_1", content, moment="20261121T031500Z", name="Survival", left_out=["cache/"])
    shelve(copies, "svc_1", {"of": "another plan"}, moment="20261122T031500Z", name="Survival")
    told = recover(overwrite=["world"], copies_of={"world": "svc_1/nightly-20261121T031500Z"})
    assert not told.get("failed"), told["msg"]
    assert files(sandbox, world) == {"/a": "b", "/cache": None, "/cache/new": "kept", "/cache/old": "c"}
    assert not recover(overwrite=["world"]).get("failed")
    assert files(sandbox, world) == {"/of": "another plan"}, "that plan leaves out nothing"


@pytest.mark.parametrize("about", [{"excluded": {"another": []}}, {}])
def test_nothing_is_deleted_if_nobody_knows_what_a_copy_leaves_out(
    about: dict[str, Any], sandbox: Sandbox, recover: Recover, tmp_path: Path
) -> None:
    assert not recover().get("failed")
    world = ids_of(sandbox, "shop")["Survival"]
    write_file(sandbox, world, "cache/new", "kept")
    shelve(tmp_path / "copies", "svc_1", {"server.properties": "motd=old"}, moment="20261121T031500Z")
    told = {"id": "svc_1", "name": "Survival", "slug": None, "project": "shop", "engine": "", **about}
    (tmp_path / "copies" / "svc_1" / "service.json").write_text(json.dumps(told))
    done = recover(overwrite=["world"])
    assert not done.get("failed"), done["msg"]
    found = files(sandbox, world)
    assert found["/cache/new"] == "kept" and "/world/level.dat" in found
    assert found["/server.properties"] == "motd=old"
    assert "does not say what copy nightly-20261121T031500Z leaves out" in " ".join(done["warnings"])
    assert "is not deleted" in " ".join(done["warnings"])


def test_an_overwriting_that_was_cut_off_deletes_nothing_either(
    sandbox: Sandbox, recover: Recover, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run that goes on takes the service for its own, but what is in it is as old as before."""
    sandbox.seed({"projects": ["shop"], "services": [{**LIVE, "files": {"live": "1"}}]})
    (tmp_path / "copies" / "svc_1" / "service.json").write_text(
        '{"id": "svc_1", "name": "Survival", "project": "shop", "exclude": []}'
    )
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(RecoveryRecord, "end", killed)
        recover(overwrite=["world"], existing="keep")
    told = recover(existing="keep")
    assert not told.get("failed"), told["msg"]
    assert files(sandbox, ids_of(sandbox, "shop")["Survival"])["/live"] == "1"


def killed(*_given: Any) -> None:
    """End the run here."""
    raise KeyboardInterrupt


@pytest.mark.night
@pytest.mark.real_time
def test_two_recoveries_at_once_take_turns(sandbox: Sandbox, recover: Recover) -> None:
    """The second one knows what the first has restored, which is in use by then."""
    results: list[Any] = []
    second = threading.Thread(target=lambda: results.append(recover()))
    with one_at_a_time(f"recoveries:{state_key(sandbox.base_url, 'shop')}", "recovering"):
        second.start()
        second.join(1)
        assert results == [] and commits(sandbox) == []
    second.join()
    assert not results[0].get("failed"), results[0]["msg"]
    restored = [step for step in results[0]["actions"] if "restore the files" in step]
    assert restored and not recover()["changed"]


def test_a_second_loss_is_recovered_as_well(sandbox: Sandbox, recover: Recover) -> None:
    """What was made before is gone, and is not taken for what is there now, also if a run is killed."""
    assert not recover().get("failed")
    for id in ids_of(sandbox, "shop").values():
        sandbox.api("DELETE", f"/api/resources/{id}")
    sandbox.fault("sftp.get", "status", status=400, count=None)
    assert recover().get("failed"), "nothing but the order was done"
    sandbox.clear_faults()
    done = recover()
    assert not done.get("failed"), done["msg"]
    assert files(sandbox, ids_of(sandbox, "shop")["lobby"]) == {"/a": "b"}
    assert not recover()["changed"]


def later() -> str:
    """Return the moment of a copy that a backup plan makes after all that was done so far."""
    return f"{datetime.now(UTC) + timedelta(minutes=5):%Y%m%dT%H%M%SZ}"


# --- Drills -------------------------------------------------------------------------------------------


DRILL: dict[str, Any] = {"project": "shop-drill", "drill": True, "rename": {"suffix": "-drill"}}


def test_what_is_in_use_by_now_is_not_filled(sandbox: Sandbox, recover: Recover, tmp_path: Path) -> None:
    """The run that made it failed before it brought the content, and somebody did so by hand since."""
    sandbox.fault("sftp.get", "status", status=400, count=None)
    assert recover()["failed"]
    sandbox.clear_faults()
    world = ids_of(sandbox, "shop")["Survival"]
    write_file(sandbox, world, "players.dat", "three days of play")
    write_file(sandbox, world, "server.properties", "restored by hand")
    used = files(sandbox, world)
    [record] = tmp_path.rglob("recoveries/*.json")
    kept = json.loads(record.read_text())
    kept["touched"] = {key: "2026-11-20T03:00:00+00:00" for key in kept["touched"]}
    record.write_text(json.dumps(kept))
    refused = recover()
    assert refused["failed"] and "files were written to it more than an hour later" in refused["msg"]
    assert "name 'world' in overwrite" in refused["msg"] and files(sandbox, world) == used
    left = recover(existing="keep")
    assert not left.get("failed"), left["msg"]
    assert "It is left as it is" in " ".join(left["warnings"]) and files(sandbox, world) == used
    replaced = recover(overwrite=["world"])
    assert not replaced.get("failed"), replaced["msg"]
    assert "/players.dat" not in files(sandbox, world)


def test_a_drill_that_another_run_makes_is_left_alone(
    sandbox: Sandbox, recover: Recover, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither deleted nor taken over, until that run has ended, however it ended."""
    monkeypatch.setenv(RUN_FOLDER, str(tmp_path / "own"))
    assert not recover(**DRILL).get("failed")
    made = ids_of(sandbox, "shop-drill")
    (tmp_path / "other").mkdir()
    with subprocess.Popen(["sleep", "600"]) as other:
        [file] = tmp_path.rglob("recoveries/*.json")
        run = {"process": other.pid, "folder": str(tmp_path / "other"), "started": None}
        file.write_text(json.dumps({**json.loads(file.read_text()), "run": run}))
        sandbox.clear_journal()
        for options in (DRILL, {"state": "absent", "project": "shop-drill"}):
            refused = recover(**options)
            assert refused["failed"] and f"process {other.pid} on this controller" in refused["msg"]
        assert sandbox.writes() == [] and ids_of(sandbox, "shop-drill") == made
        other.kill()
    assert not recover(state="absent", project="shop-drill").get("failed")
    assert "shop-drill" not in [each["name"] for each in sandbox.api("GET", "/api/projects").json()]


def test_a_drill_of_another_account_is_left_alone(sandbox: Sandbox, recover: Recover) -> None:
    """Its token sees nothing of the drill, which then would be forgotten while it is billed."""
    assert not recover(**DRILL).get("failed")
    made = ids_of(sandbox, "shop-drill")
    for options in (DRILL, {"state": "absent", "project": "shop-drill"}):
        refused = recover(token="sandbox-other-token", **options)
        assert refused["failed"] and "with the token of another account" in refused["msg"]
    assert ids_of(sandbox, "shop-drill") == made
    assert not recover(state="absent", project="shop-drill").get("failed")
    assert "shop-drill" not in [each["name"] for each in sandbox.api("GET", "/api/projects").json()]
