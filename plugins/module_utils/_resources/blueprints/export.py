# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns an existing project into a blueprint: the same text every time, with remarks on what it lacks."""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ..._api.models import App, Edge, SshKey
from ..._api.values import ContainerState, ServiceStatus
from ..services.listing import printable_only
from ..services.settings import carried
from ..shared.names import unaccented
from ..shared.yaml_text import InOneLine, as_yaml
from .document import Entry

SCHEMA_URL = "https://example.invalid/hosted/services/blob/main/docs/blueprint.schema.json"
"""Where editors find the schema: in the project's repository (`repository` in galaxy.yml)."""
STATES = {
    ContainerState.RUNNING: "started",
    ContainerState.STARTING: "started",
    ContainerState.STOPPED: "stopped",
}
"""What a blueprint calls the state of a container. One that stops may be restarting, so it says nothing."""


@dataclass(frozen=True)
class Found:
    name: str
    services: Sequence[Mapping[str, Any]]
    """As in a listing, with ``settings`` and ``metrics``. Applications are among them."""
    apps: Mapping[str, App]
    edges: Sequence[Edge] = ()
    ssh_keys: Sequence[SshKey] = ()
    left: Collection[str] = ()
    """The ids of services that relocations left over, and that are deleted some day."""


@dataclass(frozen=True, kw_only=True)
class Exported(Entry):
    id: str
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class Export:
    project: str
    entries: Sequence[Exported] = ()
    remarks: Sequence[str] = ()
    failed: Sequence[Exported] = ()

    @property
    def sections(self) -> dict[str, list[Exported]]:
        return {name: [*found] for name, found in groupby(self.entries, lambda each: each.section)}

    @property
    def data(self) -> dict[str, Any]:
        """The blueprint as data, as the option ``blueprint`` takes it."""
        sections = {
            name: {entry.key: dict(entry.values) for entry in entries}
            for name, entries in self.sections.items()
        }
        return {"project": self.project, **sections}


def export_project(found: Found) -> Export:
    left = [each for each in found.services if each["id"] in found.left]
    failed = [each for each in found.services if each["status"] == ServiceStatus.FAILED]
    present = [each for each in found.services if each not in (*left, *failed)]

    def told(service: Mapping[str, Any], why: str) -> str:
        kind = "application" if service["id"] in found.apps else "service"
        return f"{kind} {service['name']!r} ({service['id']}), {why}"

    remarks = [told(each, "which a relocation left over") for each in left]
    remarks += [told(each, "whose creation failed") for each in failed if each not in left]
    remarks.sort()
    keys = keys_of(found, present)
    if fingerprints := sorted(f"{key.name} ({key.fingerprint})" for key in found.ssh_keys):
        remarks.append(f"SSH keys of the account: {', '.join(fingerprints)}")
    others = keys_of(found, failed, keys.values())
    return Export(found.name, entries_of(found, present, keys), remarks, entries_of(found, failed, others))


def entries_of(
    found: Found, services: Iterable[Mapping[str, Any]], keys: Mapping[str, str]
) -> list[Exported]:
    entries = []
    for service in sorted(services, key=lambda each: (each["id"] in found.apps, keys[each["id"]])):
        id, key, app = service["id"], keys[service["id"]], found.apps.get(service["id"])
        values = values_of(found, service, key)
        remarks = remarks_on(service, app)
        remarks += reference_remarks([each for each in found.edges if each.from_ == id], keys, app)
        if "command" in values:
            remarks.append("its command may hold a password: keep that in a vault before you share this file")
        section = "services" if app is None else "applications"
        entries.append(Exported(section, key, values, id=id, remarks=remarks))
    return entries


# --- Keys and names ---------------------------------------------------------------------------------


def keys_of(
    found: Found, services: Iterable[Mapping[str, Any]], others: Iterable[str] = ()
) -> dict[str, str]:
    """Return the key of each service by its id. Of several alike, all but the first get a number."""
    keys: dict[str, str] = {}
    taken = dict.fromkeys(others, 1)
    for service in sorted(
        services, key=lambda each: (each["id"] not in found.apps, each["name"], each["id"])
    ):
        app = found.apps.get(service["id"])
        keys[service["id"]] = free_key(as_key(app.slug if app else service["name"]), taken)
    return keys


def as_key(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", unaccented(name)).strip("-") or "service"


def free_key(key: str, taken: dict[str, int]) -> str:
    """Take a key that is free: the given one, or with the lowest number, of which ``taken`` has the last."""
    free = key
    while free in taken:
        taken[key] += 1
        free = f"{key}-{taken[key]}"
    taken[free] = 1
    return free


# --- Values and remarks -------------------------------------------------------------------------------


def values_of(found: Found, service: Mapping[str, Any], key: str) -> dict[str, Any]:
    app, name = found.apps.get(service["id"]), service["name"]
    values = {"host": (service["host"] or {}).get("id"), **carried(service, service.get("settings"))}
    if app is not None:
        values = {"slug": None if app.slug == key else app.slug, **values}
    else:
        state = None
        if service["status"] == ServiceStatus.SUSPENDED:
            state = "suspended"
        elif service["status"] == ServiceStatus.ACTIVE and service["can_power"]:
            state = STATES.get(str((service.get("metrics") or {}).get("state")))
        values = {
            "name": None if name == key else name,
            "id": service["id"] if [each["name"] for each in found.services].count(name) > 1 else None,
            "product": (service["product"] or {}).get("slug"),
            "runtime": (service["runtime"] or {}).get("id"),
            **values,
            "state": state,
        }
    return {name: value for name, value in values.items() if value not in (None, "")}


def remarks_on(service: Mapping[str, Any], app: App | None) -> list[str]:
    remarks, status = [], service["status"]
    if status not in (ServiceStatus.ACTIVE, ServiceStatus.SUSPENDED):
        remarks.append(f"its status is {status}, so its settings and state were not read")
    if app is not None and app.digest:
        tag = ((service.get("settings") or {}).get("source") or {}).get("tag")
        which = f"image: {{tag: {tag}}} # which runs, with" if tag else "runs the image with"
        remarks.append(f"{which} digest {app.digest}")
    if app is not None and status == ServiceStatus.SUSPENDED:
        remarks.append("it is suspended, which a blueprint neither says nor changes for an application")
    return remarks


def reference_remarks(edges: Iterable[Edge], keys: Mapping[str, str], app: App | None) -> list[str]:
    found: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        if edge.to in keys:
            found[keys[str(edge.to)]].update(edge.through or [])
    where = "variables" if app is None else "environment"
    return [
        f"{where}: {', '.join(sorted(names))} {'refers' if len(names) == 1 else 'refer'} to {key}"
        for key, names in sorted(found.items())
        if names
    ]


# --- The text ---------------------------------------------------------------------------------------


HEADER = f"""\
# yaml-language-server: $schema={SCHEMA_URL}
# Written by hosted.services.blueprint_info. The platform does not show, and so this file lacks:
# - values of environments, which hosted.services.blueprint leaves alone without them
# - variables and options of orders, which a new order may need
"""


def export_text(export: Export) -> str:
    text = HEADER + comments(f"- {remark}" for remark in export.remarks)
    text += as_yaml({"project": export.project})
    for name, entries in export.sections.items():
        text += f"{name}:\n" + "".join(textwrap.indent(entry_text(entry), "  ") for entry in entries)
    return text


def entry_text(entry: Exported) -> str:
    """Return an entry with its remarks above its values, so that a value in one needs no moving."""
    values = {
        name: InOneLine(value) if isinstance(value, dict) else value for name, value in entry.values.items()
    }
    text, remarks = as_yaml({entry.key: values}), comments(entry.remarks)
    if not values:
        return remarks + text
    first, rest = text.split("\n", 1)
    return f"{first}\n{textwrap.indent(remarks, '  ')}{rest}"


def comments(lines: Iterable[str]) -> str:
    """Return a comment of a line each. Nothing that the platform says can end one."""
    return "".join(f"# {printable_only(line)}\n" for line in lines)
