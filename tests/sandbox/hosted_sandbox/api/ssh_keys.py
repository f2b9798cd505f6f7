# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Endpoints / SSH keys, and Endpoints / SFTP."""

from __future__ import annotations

from starlette.responses import Response

from hosted_sandbox.api import bodies, shapes
from hosted_sandbox.api.call import Call, Chapter, Current
from hosted_sandbox.domain import events, keys, views
from hosted_sandbox.domain.errors import RefusedError
from hosted_sandbox.store.records import Key, Service

router = Chapter(tags=["SSH keys and SFTP"])


@router.get("/api/users/me/ssh-keys", name="ssh_keys.list", response_model=list[shapes.Key])
async def list_keys(call: Current) -> Response:
    """List the SSH keys of the account."""
    return call.json(call.world.shown("keys", call.account.id, _listed(call)))


def _listed(call: Call) -> list[views.View]:
    return [views.key(call.world, key) for key in call.world.store.of(Key, call.account.id)]


@router.post("/api/users/me/ssh-keys", name="ssh_keys.add")
async def add_key(call: Current, body: bodies.PublicKey) -> Response:
    """Register a public key; it opens SFTP on all services of the account."""
    call.world.keep("keys", call.account.id, lambda: _listed(call))
    key = keys.add(call.world, call.account, body.name, body.publicKey)
    return call.written(lambda: views.key(call.world, key), creates=True)


@router.delete("/api/users/me/ssh-keys/{id}", name="ssh_keys.delete")
async def delete_key(call: Current, id: str) -> Response:
    """Remove a key; it opens no new session from now on."""
    key = keys.find(call.world, call.account, id)
    call.world.keep("keys", call.account.id, lambda: _listed(call))
    call.world.store.drop(key)
    return call.written(lambda: views.key(call.world, key))


@router.get("/api/resources/{id}/sftp", name="sftp.get", response_model=shapes.Sftp)
async def read_sftp(call: Current, id: str) -> Response:
    """Return the host, port and user for a service's files over SFTP."""
    service = call.service(id)
    check_sftp(call, service)
    return call.json(views.sftp(call.world, service))


def check_sftp(call: Call, service: Service) -> None:
    """Refuse SFTP for a service without files, if this platform does."""
    without = service.family in ("BUCKET", "DEDICATED") or service.status == "FAILED"
    if without and call.world.gaps["refusal.no_sftp"] != "not refused":
        raise RefusedError("This resource has no SFTP access", "no_sftp")


@router.post("/api/resources/{id}/sftp/password", name="sftp.password", response_model=shapes.Password)
async def new_password(call: Current, id: str) -> Response:
    """Generate a new SFTP password, which only this response shows."""
    service = call.service(id)
    check_sftp(call, service)
    password = keys.new_password(call.world, service)
    events.record(call.world, service, "SFTP_PASSWORD_SET")
    view = views.sftp(call.world, service)
    del view["passwordSetAt"]
    return call.json({**view, "password": password})
