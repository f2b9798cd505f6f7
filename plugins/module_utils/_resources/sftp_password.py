# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Making the SFTP password of a service, which the platform shows this once (SFTP)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from .._api import routes as r
from .._api.errors import HostedError
from .._api.models import SftpAccess, SftpPassword
from .services.on_service import OnServiceOptions, access_of, known_id
from .shared import journal, secrets_file
from .shared.account import Account
from .shared.change import Change, await_shown, send
from .shared.options import option
from .shared.plan import Plan, Resource, Step, Task
from .shared.secrets_file import SecretsOptions
from .shared.store import one_at_a_time, state_key

ON_CREATE, ALWAYS = "on_create", "always"


@dataclass(frozen=True, kw_only=True)
class SftpPasswordOptions(OnServiceOptions, SecretsOptions):
    update_password: Literal["on_create", "always"] = option("on_create", no_log=False)


class SftpPasswordResource(Resource[SftpPasswordOptions]):
    """The password of a service. A new one ends the previous one."""

    result_key = "sftp_password"

    def plan(self, task: Task[SftpPasswordOptions]) -> Plan:
        secrets_file.check_folder(task)
        id = known_id(task)
        access = access_of(task, id)
        if access.password_set_at is not None and task.options.update_password == ON_CREATE:
            secrets_file.warn_of_lost_secrets(task, f"{secrets_file.SFTP}:{id}")
            warn_of_missing_password(task, access)
            return Plan(result=access.as_dict())
        what = f"generate an SFTP password for {access.username or task.options.service}"
        before = {"username": access.username, "password_set_at": access.password_set_at}
        return Plan(
            result=access.as_dict(),
            steps=[Step(what, lambda: generate_in_turn(task, id))],
            reread=lambda: task.account.sftp(id).as_dict(),
            before=before,
            after={**before, "password_set_at": "now"},
        )


SFTP_PASSWORD = SftpPasswordResource()


def warn_of_missing_password(task: Task[SftpPasswordOptions], access: SftpAccess) -> None:
    """Tell of a password that is not where the task wants it: a platform may set one that nobody is shown."""
    path = task.options.secrets_dest
    there = f"{access.username} has a password, set at {access.password_set_at}"
    new = "update_password: always sets a new one, which invalidates it"
    if path is not None and not os.path.exists(path):
        task.warn(f"{there}, and secrets_dest {path} does not exist. If nobody has that password, {new}")
    if task.options.return_secrets and path is None:
        task.warn(f"{there}, which cannot be read again, so secrets is not returned. {new}")


def generate_in_turn(task: Task[SftpPasswordOptions], id: str) -> None:
    """Make a password unless another task of this controller has just made one, which this would end."""
    turn = f"sftp:{state_key(task.options.base_url, id)}"
    with one_at_a_time(turn, f"making an SFTP password for service {id}"):
        always = task.options.update_password == ALWAYS
        if always or task.account.sftp(id).password_set_at is None:
            generate(task, id)
            return
    task.effects.nothing_changed = True
    made = f"another task generated the SFTP password of service {id} at the same time"
    task.warn(f"{made}; it is where that task keeps it")


@dataclass(frozen=True)
class HasPassword:
    id: str

    def found(self, account: Account) -> str | None:
        return account.sftp(self.id).password_set_at


def generate(task: Task[SftpPasswordOptions], id: str) -> None:
    """Ask for a password and put it away before anything else. Of several answers the last one counts."""
    subject, what = f"{secrets_file.SFTP}:{id}", f"the SFTP password of service {id}"
    change = Change(what=what, route=r.SFTP_PASSWORD, ids={"id": id}, shown=HasPassword(id), harmless=True)
    with secrets_file.keep_secrets(task, subject, what) as kept:
        try:
            new: SftpPassword = send(task, change)
            retried = task.client.last_call_was_retried
        except HostedError as error:
            if error.nothing_done:
                raise
            error.append(
                ". A password may have been generated and lost, which would invalidate the previous one; "
                "run this again with update_password: always"
            )
            raise
        if kept.write(f"{id}-sftp", new.as_dict(), f"the SFTP password of {new.username}"):
            # What an earlier call made opens nothing any more.
            journal.close(task.options.base_url, subject, but=kept.record)
    await_shown(task, change)  # else the next task in turn would make another one
    if retried:
        task.warn("the call was sent more than once; a password that an earlier one made is invalid now")
