# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Environments of clones: what is given, what is known and missing, and where references lead."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.contents import (
    read_contents,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.document import Document
from ansible_collections.hosted.services.plugins.module_utils._resources.clone import check_variables
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.environments import (
    Environments,
    read_environments,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.options import CloneOptions
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.fingerprints import (
    Fingerprints,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.module_utils._resources.clones.platform import original, source_of

WEB = original("acme-web", slug="acme-web", variables={"id-db": ["URL"]})
DB = original("Main DB", key="main-db", alias="db-7f")
BARE = original("acme-bare", slug="acme-bare")
LEFT = original("cache", alias="cache-1")
SOURCE = source_of(WEB, DB, others=[LEFT])
FILE = {
    "project": "shop",
    "services": {"store": {"name": "Main DB"}},
    "applications": {
        "web": {
            "slug": "acme-web",
            "environment": {"URL": "${store.URL}"},
            "secret_environment": {"KEY": "of-production"},
        },
        "gone": {"slug": "acme-gone", "environment": {"A": "b"}},
    },
}


def task(folder: Path, **given: Any) -> Task[CloneOptions]:
    """Return a task with these options."""
    options = CloneOptions(source="shop", project="copy", state_dir=str(folder), **given)  # type: ignore[arg-type]
    return Task(cast(Client, SimpleNamespace()), options)


def read(folder: Path, file: dict[str, Any] | None = None, **given: Any) -> Environments:
    """Return the environments of a clone."""
    contents = read_contents(Document(file, "")) if file else None
    return read_environments(task(folder, **given), SOURCE, contents)


@pytest.mark.parametrize("name", ["db-7f", "main-db"])
def test_a_reference_leads_to_the_clone_of_what_it_named(name: str, tmp_path: Path) -> None:
    found = read(tmp_path, environments={"acme-web": {"URL": f"x${{{name}.URL}}y"}})
    assert found.of(WEB) == ({"URL": "x${main-db.URL}y"}, {})


def test_a_reference_to_what_stays_behind_is_refused(tmp_path: Path) -> None:
    found = read(tmp_path, environments={"acme-web": {"URL": "${cache-1.URL}"}})
    with pytest.raises(Invalid, match=r"refers to 'cache-1', service 'cache', which is not cloned"):
        found.of(WEB)


def test_a_reference_that_names_two_is_refused(tmp_path: Path) -> None:
    twins = original("twin", key="one"), original("twin", key="two")
    found = Environments(source_of(WEB, *twins), {"acme-web": ({"A": "${twin.URL}"}, {})})
    with pytest.raises(Invalid, match="write an alias or key"):
        found.of(WEB)


def test_other_references_and_values_stay(tmp_path: Path) -> None:
    found = read(tmp_path, environments={"acme-web": {"URL": "${elsewhere.URL}", "N": 5}})
    assert found.of(WEB) == ({"URL": "${elsewhere.URL}", "N": 5}, {})


def test_what_is_known_and_not_given_is_named(tmp_path: Path) -> None:
    """Known are variables that refer to another service, and those that this controller wrote."""
    key = Fingerprints.read(str(tmp_path), None, "acme-web", "id-acme-web")
    key.keep({"LOG_LEVEL": "info", "URL": "x"})
    with pytest.raises(Invalid, match=r"'acme-web' lacks LOG_LEVEL, URL\. Nothing was ordered"):
        read(tmp_path)
    with pytest.raises(Invalid, match="'acme-web' lacks URL"):
        read(tmp_path, secret_environments={"acme-web": {"LOG_LEVEL": "debug"}})
    read(tmp_path, without_environment=["acme-web"])


def test_nothing_known_and_nothing_given_is_said(tmp_path: Path) -> None:
    own = task(tmp_path)
    read_environments(own, source_of(DB, original("acme-api", slug="acme-api")), None)
    assert "whether application 'acme-api' has an environment is not known" in own.warnings[0]
    assert len(own.warnings) == 1


def test_the_file_of_the_source_gives_what_the_options_do_not(tmp_path: Path) -> None:
    plain = {"URL": "${main-db.URL}"}
    assert read(tmp_path, FILE).of(WEB) == (plain, {})
    secret = read(tmp_path, FILE, copy_secrets=True)
    assert secret.of(WEB) == (plain, {"KEY": "of-production"})
    own = read(
        tmp_path, FILE, copy_secrets=True, secret_environments={"acme-web": {"URL": "x", "KEY": "own"}}
    )
    assert own.of(WEB) == ({}, {"URL": "x", "KEY": "own"})


def test_of_the_file_only_applications_that_are_cloned_count(tmp_path: Path) -> None:
    """One without an environment has none. A service of the same name is another thing."""
    described = {"bare": {"slug": "acme-bare"}, "main": {"slug": "main-db", "environment": {"A": "b"}}}
    file = read_contents(Document({"project": "shop", "applications": described}, ""))
    own = task(tmp_path, environments={"acme-web": {"URL": "x"}})
    found = read_environments(own, source_of(WEB, BARE, DB), file)
    assert found.given.keys() == {"acme-web", "acme-bare"}
    assert found.of(BARE) == ({}, {})


def test_options_name_applications_that_are_cloned(tmp_path: Path) -> None:
    for name in ("Main DB", "nobody"):
        with pytest.raises(
            Invalid, match=f"environments names '{name}'; the applications that are cloned: acme-web"
        ):
            read(tmp_path, environments={name: {}})
        with pytest.raises(Invalid, match=f"^secret_environments names '{name}'"):
            read(tmp_path, secret_environments={name: {}})
    with pytest.raises(Invalid, match=r"without_environment names 'x'; the .* that are cloned: none"):
        read_environments(task(tmp_path, without_environment=["x"]), source_of(DB), None)


def test_variables_of_orders_cannot_be_read() -> None:
    game = original("game", variables={"id-db": ["DB_URL"]})
    own: dict[str, dict[str, Any]] = {"game": {}, "acme-web": {}, "main-db": {}}
    with pytest.raises(Invalid, match="are not given: service 'game' lacks DB_URL"):
        check_variables(source_of(game, WEB, DB), own)
    check_variables(source_of(game), {"game": {"variables": {"DB_URL": "x"}}})
