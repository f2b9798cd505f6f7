# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles for plans against the platform, against other accounts of the machine, and behind their walls."""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from urllib.parse import quote

import pytest

from hosted_sandbox.testing import Sandbox
from integration.backup_machine import MACHINES, MADE, NIGHTLY, BackupMachine, DriftMachine, SleepMachine
from integration.proxy_server import ProxyServer, running
from integration.test_blueprint_killed import register_key

pytestmark = pytest.mark.night

SERVICES = [{"name": name, "product": "minecraft", "project": "web"} for name in ("one", "two")]
LINE = re.compile(r'# (HELP|TYPE) \S+ .*|# Managed by .*|hosted_\w+\{(\w+="([^"\\]|\\.)*",?)*\} \S+')
NOBODY = pwd.getpwnam("nobody")
AS_NOBODY = ["setpriv", "--reuid", str(NOBODY.pw_uid), "--regid", str(NOBODY.pw_gid), "--clear-groups", "--"]
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user")


@pytest.fixture
def machine(tmp_path: Path, sandbox: Sandbox) -> BackupMachine:
    return BackupMachine(tmp_path, sandbox)


@pytest.fixture
def key(sandbox: Sandbox, tmp_path: Path) -> Path:
    return Path(register_key(sandbox, tmp_path))


@pytest.fixture
def shared(machine: BackupMachine) -> BackupMachine:
    """The same, where another account gets to the folders; it has one of its own, `home`."""
    for path in (machine.folder, *machine.folder.parents[:-1]):
        path.chmod(path.stat().st_mode | 0o055)
    machine.warm = False
    for name in ("home", "metrics"):
        (machine.folder / name).mkdir(exist_ok=True)
        os.chown(machine.folder / name, NOBODY.pw_uid, NOBODY.pw_gid)
    return machine


def platform(
    sandbox: Sandbox, ids: dict[str, str], texts: dict[str, str]
) -> AbstractContextManager[ProxyServer]:
    """A platform that gives other ids to services, and other values to fields."""

    def changed(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: changed(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [changed(item, key) for item in value]
        return ids.get(value, texts.get(key, value)) if isinstance(value, str) else value

    def change(content: bytes) -> bytes:
        return json.dumps(changed(json.loads(content))).encode() if content[:1] in (b"{", b"[") else content

    def route(path: str) -> str:
        for real, given in ids.items():
            path = path.replace(quote(given, safe=""), real)
        return path

    return running(ProxyServer(sandbox, change=change, route=route))


# --- What the platform says -------------------------------------------------------------------------------


def test_an_id_leads_no_copy_out_of_its_folder(machine: BackupMachine, key: Path) -> None:
    """The service is told as a failure, and the others are copied."""
    ids = machine.sandbox.seed({"services": SERVICES})["services"]
    offsite = {"dest": str(machine.folder / "shelf"), "private_key_file": str(key),
               "known_hosts": str(machine.folder / "known_hosts")}  # fmt: skip
    with platform(machine.sandbox, {ids["one"]: "../escape"}, {}) as proxy:
        machine.install({**NIGHTLY, "offsite": offsite}, backups_base_url=proxy.url).succeed()
        code, output = machine.run("run", "nightly")
    assert not (machine.folder / "escape").exists()
    assert code not in (0, 75) and "cannot be the name of a folder" in output, output
    assert [path.name for path in (machine.folder / "shelf" / ids["two"]).glob("nightly-*")]


@pytest.mark.parametrize("role", ["backups", "sleep_schedule"])
def test_names_ids_and_currencies_are_one_label(role: str, tmp_path: Path, sandbox: Sandbox) -> None:
    """A quote and a line break begin no metric, and nothing steers the terminal of who reads the file."""
    evil = 'x"} 1\nhosted_injected 1\r\x1b[31m\x85\u2028# "'
    ids = sandbox.seed({"services": SERVICES})["services"]
    machine = MACHINES[role](tmp_path, sandbox)
    plan = dict(machine.plan)
    del plan["project"]
    with platform(sandbox, {ids["one"]: f"id{evil}"}, {"currency": evil, "name": evil}) as proxy:
        plan["services"] = [f"id{evil}", ids["two"]]
        machine.install(plan, **{f"{role}_base_url": proxy.url}).succeed()
        machine.run("run", str(plan["name"]))
    [text] = [path.read_text() for path in (tmp_path / "metrics").glob(f"*-{plan['name']}.prom")]
    assert "hosted_injected" in text
    for line in text.removesuffix("\n").split("\n"):
        assert LINE.fullmatch(line) and line.isprintable(), line


def test_no_text_of_a_file_names_a_file_to_remove(machine: BackupMachine) -> None:
    """Python knows more line breaks than grep does."""
    machine.install(NIGHTLY).succeed()
    canary = machine.folder / "canary"
    canary.write_text("somebody else's\n")
    mark = f"Managed by the role hosted.services.backups in {machine.folder}/etc: canary"
    (machine.folder / "state" / "other.json").write_text(f"x\v{canary}: {mark}\vx\n")
    machine.install(backups_state="absent").succeed()
    assert canary.exists()


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"backups_user": "root\nExecStart=/bin/evil"}, "backups_user contains a control character"),
        ({"backups_bin_dir": "/usr/%n/bin"}, "backups_bin_dir must hold no"),
        ({"backups_environment": {"A=1\nB": "x"}}, "names in backups_environment"),
        ({"backups_unit_options": ["ReadWritePaths=/srv\nUser=root"]}, "backups_unit_options must be lines"),
        ({"backups_plans": [{**NIGHTLY, "at": "04:00\n"}]}, "cannot be used"),
    ],
)
def test_no_setting_is_a_line_of_a_unit(machine: BackupMachine, variables: dict[str, Any], says: str) -> None:
    """Nor of an entry of cron; nothing is written."""
    run = machine.install(NIGHTLY, **variables)
    assert run.rc != 0 and says in " ".join(run.stdout.split()), run.output
    assert list((machine.folder / "units").iterdir()) == []


# --- Other accounts ---------------------------------------------------------------------------------------


def test_a_check_follows_no_link_of_others(machine: BackupMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody sees the name in a shared folder, and puts a link beside it before the check writes there."""
    victim = machine.folder / "victim"
    victim.write_text("precious\n")
    tools = machine.folder / "tools"
    tools.mkdir()
    text = f'#!/bin/sh\nmade=$({shutil.which("mktemp")} "$@")\nln -s {victim} "$made.log"\necho "$made"\n'
    (tools / "mktemp").write_text(text)
    (tools / "mktemp").chmod(0o755)
    machine.install(NIGHTLY).succeed()
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    machine.run("check", "nightly")
    assert victim.read_text() == "precious\n"


@as_root
@pytest.mark.parametrize("kind", ["copies", "state", "metrics"])
def test_a_link_gives_no_folder_of_root_to_the_user_of_the_plans(shared: BackupMachine, kind: str) -> None:
    """It stands in the place of a folder or file that the role would write, or would give that user."""
    victim, home = shared.folder / "victim", shared.folder / "home"
    victim.mkdir(mode=0o700)
    variables: dict[str, Any] = {"backups_user": "nobody"}
    plan = dict(NIGHTLY)
    if kind == "copies":
        plan["offsite"] = {"dest": str(home / "copies")}
        (home / "copies").mkdir()
        os.chown(home / "copies", NOBODY.pw_uid, NOBODY.pw_gid)
        (home / "copies" / ".hosted-backups").symlink_to(victim)
    else:
        (home / kind).symlink_to(victim)
        variables[f"backups_{'textfile' if kind == 'metrics' else kind}_dir"] = str(home / kind)
    assert shared.install(plan, **variables).rc != 0 or kind == "copies"
    found = victim.stat()
    assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (0, 0o700)
    assert list(victim.iterdir()) == []


@as_root
@pytest.mark.parametrize("role", MACHINES)
def test_root_owns_what_root_reads(role: str, shared: BackupMachine, sandbox: Sandbox) -> None:
    """Also where it was the folder of the user of the plans, who left a link there."""
    folder, etc = shared.folder, shared.folder / "etc"
    for name in MADE:
        (folder / name).rmdir()
    machine = MACHINES[role](folder, sandbox)
    plan = machine.plan
    os.chown(folder / "metrics", NOBODY.pw_uid, NOBODY.pw_gid)
    # That user may not be able to run the Ansible of the tests, so nothing is forecast.
    variables: dict[str, Any] = {f"{role}_user": "nobody"}
    if role == "sleep_schedule":
        variables["sleep_schedule_forecast"] = False
    etc.mkdir(mode=0o700)
    os.chown(etc, NOBODY.pw_uid, NOBODY.pw_gid)
    (folder / "secret").write_text("root's\n")
    subprocess.run([*AS_NOBODY, "ln", "-s", folder / "secret", etc / "token"], check=True)
    run = machine.install(plan, without=f"{role}_token", **variables)
    assert run.rc != 0 and "has left no links there" in run.stdout, run.output
    (etc / "token").unlink()

    machine.install(plan, **variables).succeed()
    for path in (etc, *etc.iterdir()):
        found = path.lstat()
        wanted = (0, NOBODY.pw_gid, 0o750 if path == etc else 0o640)
        assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == wanted, path
    assert (folder / "state").stat().st_uid == NOBODY.pw_uid
    who = folder / "home" / "who"
    with (etc / "environment").open("a") as file:
        file.write(f"id -u >{who}\n")
    machine.run("run", str(plan["name"]))
    assert who.read_text() == f"{NOBODY.pw_uid}\n"
    inside = str(folder / "home" / "etc")
    run = machine.install(plan, **variables, **{f"{role}_config_dir": inside})
    assert run.rc != 0 and f"User nobody can replace or write {folder}/home" in " ".join(run.stdout.split())


# --- Walls ------------------------------------------------------------------------------------------------

WALLS = r"""
set -e
mount --make-rprivate /
closed() { [ ! -d "$1" ] || { mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"; }; }
case $SYSTEM in
    strict)
        findmnt -rno TARGET | grep -vE '^/(proc|sys|dev)(/|$)' | xargs -n 1 mount -o remount,bind,ro
        ;;
    full) for at in /usr /boot /etc; do closed $at; done ;;
esac
for at in /home /root /run/user; do
    case $HOMES in
        read-only) closed $at ;;
        true) [ ! -d $at ] || mount -t tmpfs -o mode=0 none $at ;;
    esac
done
for at in /tmp /var/tmp; do mount -t tmpfs -o mode=1777 none $at; done
for at in $OPEN; do [ ! -e "$at" ] || { mount --bind "$at" "$at" && mount -o remount,bind,rw "$at"; }; done
exec setpriv --no-new-privs --bounding-set "$BOUNDS" -- "$@"
"""


class Walls:
    """What systemd makes of the directives of a unit, as far as the mounts and the capabilities go."""

    def __init__(self, unit: Path) -> None:
        self.found: dict[str, list[str]] = {}
        for line in unit.read_text().splitlines():
            name, equals, value = line.partition("=")
            if equals and not line.startswith("#"):
                self.found.setdefault(name, []).append(value)
        [self.command] = self.found["ExecStart"]

    def last(self, name: str) -> str:
        """Return the value of a directive that counts once."""
        return self.found.get(name, [""])[-1]

    def run(self, *command: str) -> tuple[int, str]:
        """Run a command behind the walls; return its exit code and what it printed."""
        bounds = self.last("CapabilityBoundingSet").lower().replace("cap_", "").split(" ")
        barred = ["-" + name.lstrip("~") for name in bounds] if bounds[0].startswith("~") else []
        opened = " ".join(self.found["ReadWritePaths"]).replace('"', "").split()
        environment = {
            **dict(pair.split("=") for pair in self.last("Environment").split()),
            **{"PATH": os.environ["PATH"], "HOME": "/root", "LANG": "C.UTF-8"},
            **{"SYSTEM": self.last("ProtectSystem"), "HOMES": self.last("ProtectHome")},
            **{"OPEN": " ".join(path.lstrip("-") for path in opened)},
            "BOUNDS": ",".join(barred or ["-all", *(f"+{name}" for name in bounds if name)]),
        }
        arguments = ["unshare", "--mount", "sh", "-c", WALLS, "sh", *command]
        done = subprocess.run(arguments, check=False, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def lets(self, path: Path) -> bool:
        """Whether something can be written there."""
        return self.run("touch", str(path))[0] == 0


@pytest.fixture
def places(sandbox: Sandbox) -> Iterator[tuple[Path, Path, Path]]:
    """Folders in /srv, /home and /etc: walls are about such places, and not about those of tests."""
    if os.getuid() != 0 or subprocess.run(["unshare", "--mount", "true"], check=False).returncode:
        pytest.skip("only root can build walls, and only where there may be namespaces")
    made = [Path(mkdtemp(prefix="hosted-walls-", dir=place)) for place in ("/srv", "/home", "/etc")]
    yield made[0], made[1], made[2]
    for folder in made:
        shutil.rmtree(folder)


@pytest.mark.parametrize("hooks", [True, False])
def test_behind_its_walls_a_plan_reaches_what_it_names(
    hooks: bool, places: tuple[Path, Path, Path], sandbox: Sandbox, key: Path
) -> None:
    """A hook that writes, copies in the home of somebody, a key there; and not what it has no need to."""
    srv, home, etc = places
    sandbox.seed({"services": SERVICES})
    shutil.copy(key, home / "key")
    (home / "key").chmod(0o600)
    machine = BackupMachine(srv, sandbox)
    machine.warm = False
    offsite = {"dest": str(home / "copies"), "private_key_file": str(home / "key"),
               "known_hosts": str(home / "ssh" / "known_hosts")}  # fmt: skip
    (home / "ssh").mkdir()
    plan: dict[str, Any] = {**NIGHTLY, "offsite": offsite}
    if hooks:
        plan["before"] = [f"echo before >{srv}/log && echo before >{home}/log && id -u >/tmp/id"]
    machine.install(plan).succeed()
    unit = srv / "units" / "hosted-backup-nightly.service"
    if shutil.which("systemd-analyze"):  # what it makes of them is no worse than so many tenths
        limit = f"--threshold={75 if hooks else 35}"
        subprocess.run(["systemd-analyze", "security", "--offline=true", limit, unit], check=True)
    walls = Walls(unit)
    code, output = walls.run(*walls.command.split())
    assert code == 0, output
    assert len(list((home / "copies").glob("*/nightly-*"))) == 2
    assert (srv / "metrics" / "hosted-backup-nightly.prom").exists()
    if hooks:
        assert (srv / "log").read_text() == (home / "log").read_text() == "before\n"
    assert [walls.lets(place / "other") for place in (srv, home)] == [hooks, hooks]
    assert not walls.lets(etc / "other")
    machine.install(plan, backups_unit_options=[f"ReadWritePaths={etc}"]).succeed()
    assert Walls(unit).lets(etc / "other")


@pytest.mark.parametrize("kind", [SleepMachine, DriftMachine])
def test_the_other_plans_run_behind_theirs(
    kind: type[BackupMachine], places: tuple[Path, Path, Path], sandbox: Sandbox
) -> None:
    """They write their state and their metrics."""
    sandbox.seed({"projects": ["shop", "games"], "services": [{**SERVICES[0], "project": "shop"}]})
    machine = kind(places[0], sandbox)
    machine.warm = False
    machine.install(machine.plan).succeed()
    [unit] = (places[0] / "units").glob("*.service")
    walls = Walls(unit)
    code, output = walls.run(*walls.command.split())
    assert (places[0] / "state" / f"{machine.plan['name']}.json").exists(), output
    assert (places[0] / "metrics" / f"{machine.command.name}-{machine.plan['name']}.prom").exists(), output
    assert code == 0 or kind is DriftMachine, output
    assert not walls.lets(places[0] / "other") and not walls.lets(places[1] / "other")
