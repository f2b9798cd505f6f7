# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Projects that a random number describes, to be cloned, and what must hold of each clone."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import (
    environment,
    files,
    ids_of,
    monthly_rate,
    records,
    writes_to,
)

GAMES = ("minecraft", "factorio")
SIZES = [
    {"cpuCores": cores, "ramGb": ram, "storageGb": disk}
    for cores in (1, 2)
    for ram in (1, 2)
    for disk in (10, 20)
]
SUFFIX = "-copy"
SECRET = "not-for-anybody"
REFERENCE = re.compile(r"\$\{([^.}]+)\.\w+\}")


@dataclass
class World:
    """A project of games, databases and applications that refer to each other."""

    seed: dict[str, Any]
    environments: dict[str, dict[str, str]]
    databases: list[str] = field(default_factory=list)

    def options(self, **given: Any) -> dict[str, Any]:
        """Return the options that clone it."""
        return {
            "source": "shop",
            "project": "copy",
            "rename": {"suffix": SUFFIX},
            "environments": self.environments,
            "secret_environments": {slug: {"KEY": SECRET} for slug in self.environments},
            "without_data": self.databases,
            **given,
        }


def random_world(number: int) -> World:
    """Return the project of a number."""
    chance = random.Random(number)
    games = [game(chance, each) for each in range(chance.randint(1, 3))]
    databases = [f"db {each}" for each in range(chance.randint(0, 1))]
    slugs = [f"acme-{number}-{each}" for each in range(chance.randint(0, 3))]
    apps, environments = [], {}
    for place, slug in enumerate(slugs):
        references = {f"URL_{at}": f"${{{each}.URL}}" for at, each in enumerate(slugs[:place])}
        environments[slug] = {"PLAIN": chance.choice(["", "x", "a b"]), **references}
        apps.append((slug, references))
    seed = {
        "balance_cents": 1_000_000,
        "projects": ["old", "shop"],
        "services": [
            *games,
            *({"name": each, "product": "postgresql", "project": "shop"} for each in databases),
        ],
        "apps": [
            {
                "slug": slug,
                "project": "shop",
                "images": [{"tag": "v1"}],
                "deployed": "v1",
                "environment": references,
            }
            for slug, references in apps
        ],
    }
    return World(seed, environments, databases)


def game(chance: random.Random, number: int) -> dict[str, Any]:
    """Return a game server with some files."""
    names = ["a.txt", "world/level.dat", "world/deep/er/region.bin", "plugins/ü.yml", "empty"]
    chosen = chance.sample(names, k=chance.randint(0, len(names)))
    contents = ["", "x", "line\n" * 1000, "y" * 70_001]
    return {
        "name": f"game {number}",
        "product": chance.choice(GAMES),
        "project": "shop",
        "dimensions": chance.choice(SIZES),
        "public": chance.choice([True, False]),
        "state": chance.choice(["running", "stopped"]),
        "files": {name: chance.choice(contents) for name in chosen},
    }


def check_clone(
    sandbox: Sandbox, world: World, planned: dict[str, Any], done: dict[str, Any], before: Decimal
) -> None:
    """Check that a clone is what its source is, and costs what was announced; the source was only read."""
    originals, made = ids_of(sandbox, "shop"), ids_of(sandbox, "copy")
    assert {f"{name}{SUFFIX}" for name in originals} == set(made)
    for name in (each["name"] for each in world.seed["services"] if each["name"] not in world.databases):
        assert files(sandbox, made[f"{name}{SUFFIX}"]) == files(sandbox, originals[name]), name
    for slug, variables in world.environments.items():
        expected = {name: value.replace(".URL}", f"{SUFFIX}.URL}}") for name, value in variables.items()}
        assert environment(sandbox, f"{slug}{SUFFIX}") == {**expected, "KEY": SECRET}
    edges = references(sandbox, originals)
    assert references(sandbox, made) == {(f"{one}{SUFFIX}", f"{other}{SUFFIX}") for one, other in edges}
    assert Decimal(planned["cost"]["monthly_after"]) == Decimal(done["cost"]["monthly_after"])
    assert Decimal(done["cost"]["monthly_after"]) == monthly_rate(sandbox) - before
    assert writes_to(sandbox, originals) == []
    assert SECRET not in str(done)


def references(sandbox: Sandbox, project: dict[str, str]) -> set[tuple[str, str]]:
    """Return which service of a project refers to which other one of it, by their names.

    A reference to anything else has no neighbour to lead to, and fails here (Cross-service references).
    """
    inside = [each for each in records(sandbox, "service") if each["id"] in project.values()]
    names = {each["alias"]: each["name"] for each in inside}
    return {
        (each["name"], names[alias])
        for each in inside
        for value in each["environment"].values()
        for alias in REFERENCE.findall(value)
    }
