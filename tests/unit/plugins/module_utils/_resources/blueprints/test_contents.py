# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a blueprint says, and everything that is wrong with it before the platform is asked."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.contents import (
    Contents,
    check_targets,
    read_contents,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.document import (
    parse_document,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid

DIGEST = f"sha256:{'a' * 64}"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG6yYkCXXvMuxtVVm0hZ8Fcdve0O8Vu6yDCxkQIcwkoA"
SHOP = """
project: shop
defaults:
  services: {host: node-1, dimensions: {ram_gb: 2}}
services:
  db: {product: postgresql}
  world: {name: Survival, product: minecraft, host: node-2}
applications:
  acme-api:
    environment: {URL: "${db.URL}"}
    secret_environment: {OTHER: "${world.ADDRESS} ${outside.URL}"}
ssh_keys:
  deploy: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG6yYkCXXvMuxtVVm0hZ8Fcdve0O8Vu6yDCxkQIcwkoA
  ops: {public_key_file: ops.pub, name: Ops}
budget: {account: 12.50}
"""


def contents(text: str) -> Contents:
    """Return what a text says."""
    return read_contents(parse_document(text, "shop.yml"))


def problems(text: str) -> list[str]:
    """Return all that is wrong with a text."""
    with pytest.raises(Invalid) as failure:
        contents(text)
    found: list[str] = failure.value.details["problems"]
    return found


def test_entries_have_what_their_section_says_by_default() -> None:
    found = contents(SHOP)
    assert found.project == "shop"
    db, world = found.services
    assert db.values == {"product": "postgresql", "host": "node-1", "dimensions": {"ram_gb": 2}}
    assert (world.key, world.name, world.values["host"]) == ("world", "Survival", "node-2")


def test_keys_are_texts_or_mappings() -> None:
    deploy, ops = contents(SHOP).ssh_keys
    assert (deploy.name, deploy.values) == ("deploy", {"public_key": KEY})
    assert (ops.key, ops.name) == ("ops", "Ops")


def test_references_name_keys() -> None:
    [api] = contents(SHOP).applications
    assert api.references == ["db", "world"]  # what the blueprint does not describe is a neighbor, or nothing


def test_a_budget_is_read() -> None:
    assert contents(SHOP).budget.account == Decimal("12.50")


def test_a_neighbor_may_be_referred_to() -> None:
    document = parse_document(SHOP, "shop.yml")
    found = read_contents(document)
    check_targets(document, found, ["outside"])
    document.check()
    check_targets(document, found, ["outsider"])
    with pytest.raises(Invalid, match=r"shop\.yml:11:26: .*OTHER: a reference in its value names neither"):
        document.check()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the blueprint: it is empty"),
        ("- a", "the blueprint: it is a list"),
        ("services: {}", "project: it is missing"),
        ("{project: a, service: {}}", "service: there is no such key; did you mean 'services'?"),
        ("{project: a, services: {db: {prodct: x}}}", "services.db.prodct: there is no such key; did you"),
        ("{project: a, services: {db: {zzz: x}}}", "the keys are name, id"),
        ("{project: a, defaults: {services: {zzz: x}}}", "defaults.services.zzz: there is no such key"),
        ("{project: a, services: {db: {dimensions: {ram: 1}}}}", "did you mean 'ram_gb'?"),
        ("{project: a, services: {db: {dimensions: {ram_gb: yes}}}}", "it is true, a truth value"),
        ("{project: a, services: {db: {dimensions: {ram_gb: big}}}}", "it must be a whole number"),
        ("{project: a, services: {db: {state: on}}}", "it is True; it must be 'present'"),
        ("{project: a, services: {db: {name: 1.10}}}", "it must be a text: put it in quotes"),
        ("{project: a, services: {db: {name: ' '}}}", "name is blank"),
        ("{project: a, services: {db: {max_monthly: free}}}", "max_monthly is 'free'"),
        ("{project: a, services: {db: {max_monthly: yes}}}", "a truth value"),
        ("{project: a, services: {Db: {}}}", "the key 'Db' must be of lowercase letters"),
        ("{project: a, services: {db: {dimensions: {}, preset: s}}}", "both dimensions and preset"),
        ("{project: a, services: []}", "services: it is a list; it must be a mapping"),
        ("{project: a, defaults: {services: {name: x}}}", "each entry needs its own; remove this"),
        ("{project: '', services: {}}", "project: project is empty"),
        (f"{{project: {'a' * 61}}}", "the name has 61 characters; at most 60"),
        (f"{{project: a, services: {{db: {{name: {'a' * 81}}}}}}}", "the name has 81 characters; at most 80"),
        ("{project: a, services: {a: {name: web}, b: {name: web}}}", "give each a name of its own"),
        (
            "{project: a, services: {a: {name: web}, b: {name: web, allow_duplicate_name: true}}}",
            "give each a name of its own",
        ),
        (
            "{project: a, services: {web-1: {}}, applications: {web-1: {slug: other}}}",
            "a reference could mean",
        ),
        ("{project: a, applications: {ab: {}}}", "the slug 'ab' has 2 characters"),
        ("{project: a, applications: {abc: {dimensions: {ram_gb: 1}}}}", "it lacks cpu_cores, storage_gb"),
        ("{project: a, applications: {abc: {environment: {}}}}", "its environment is empty"),
        ("{project: a, applications: {abc: {environment: {PORT: '1'}}}}", "the variable PORT is reserved"),
        ("{project: a, applications: {abc: {environment: {A: 4}}}}", "it is a number; it must be a text"),
        (
            "{project: a, applications: {abc: {environment: {A: x}, secret_environment: {A: y}}}}",
            "give each variable once",
        ),
        ("{project: a, applications: {abc: {environment: {A: '${abc.URL}'}}}}", "to the application itself"),
        ("{project: a, applications: {abc: {image: {}}}}", "applications.abc.image.tag: it is missing"),
        ("{project: a, applications: {abc: {image: {tga: x}}}}", "did you mean 'tag'?"),
        ("{project: a, applications: {abc: {image: {tag: a b}}}}", "the tag 'a b' is invalid"),
        ("{project: a, applications: {abc: {image: {tag: a, digest: b}}}}", "'b' is not a digest"),
        ("{project: a, applications: {abc: {image: {tag: a, archive: ' '}}}}", "archive is blank"),
        ("{project: a, applications: {abc: {image: {tag: a, name: b}}}}", "choose an image of an archive"),
        (
            f"{{project: a, applications: {{abc: {{image: {{tag: a, archive: b, digest: {DIGEST}}}}}}}}}",
            "both archive and digest",
        ),
        ("{project: a, budget: }", "budget: it is null; give it a value, or leave it out"),
        ("{project: a, services: {db: {max_monthly: }}}", "services.db.max_monthly: it is null"),
        ("{project: a, services: {db: {host: , state: }}}", "services.db.host: it is null"),
        ("{project: a, defaults: {services: {host: }}}", "defaults.services.host: it is null"),
        ("{project: a, services: {db: {dimensions: {ram_gb: 1.5}}}}", "it has a fraction"),
        (f"{{project: a, ssh_keys: {{me: {KEY} a, you: {KEY} b}}}}", "it is the same key as shop.yml:1:25"),
        ("{project: a, ssh_keys: {me: ssh-ed25519 AAAA}}", "ssh_keys.me: public_key is damaged"),
        ("{project: a, ssh_keys: {me: {}}}", "it must have public_key or public_key_file"),
        ("{project: a, ssh_keys: {me: 4}}", "ssh_keys.me: it is a number; write the public key as text"),
        ("{project: a, services: {db: 4}}", "services.db: it is a number; it must be a mapping"),
        ("{project: a, budget: lots}", "budget: budget is 'lots'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, said: str) -> None:
    assert any(said in problem for problem in problems(text)), problems(text)


@pytest.mark.parametrize(
    ("text", "kept", "telling"),
    [
        (
            "{project: a, services: {a: {name: web, id: svc_1}, b: {name: web, id: svc_2}}}",
            [("a", "web"), ("b", "web")],
            ", id: svc_2",
        ),
        (
            "{project: a, services: {db: {name: acme-web, id: svc_1}}, applications: {acme-web: {}}}",
            [("db", "acme-web"), ("acme-web", "acme-web")],
            ", id: svc_1",
        ),
    ],
)
def test_names_that_something_else_tells_apart_may_be_alike(
    text: str, kept: list[tuple[str, str]], telling: str
) -> None:
    """An id, or that the platform is told to keep both. Without that, they may not."""
    found = contents(text)
    assert [(each.key, each.name) for each in (*found.services, *found.applications)] == kept
    assert problems(text.replace(telling, ""))


def test_everything_is_said_at_once() -> None:
    found = problems("{project: '', services: {Db: {max_monthly: x}}, ssh_keys: {me: {}}}")
    assert len(found) == 4


def test_a_cycle_is_named_with_its_path() -> None:
    [found] = problems(
        """
project: a
applications:
  web: {environment: {A: "${api.URL}"}}
  api: {environment: {A: "${web.URL}"}}
"""
    )
    assert "web -> api -> web" in found or "api -> web -> api" in found


@pytest.mark.parametrize("section", ["environment", "secret_environment"])
def test_values_of_environments_are_never_said(section: str) -> None:
    """A value of the wrong type may be a secret as well."""
    found = problems(f"{{project: a, applications: {{abc: {{{section}: {{A: [hunter2]}}}}}}}}")
    assert "hunter2" not in str(found)
    found = problems("{project: a, services: {db: {variables: hunter2}}}")
    assert "hunter2" not in str(found)
    found = problems("{project: a, applications: {abc: {secret_environment: {A: 'x${abc.HUNTER}y'}}}}")
    assert "a reference in its value refers to the application itself" in str(found)
    assert "HUNTER" not in str(found)


def test_a_budget_does_not_limit_the_former_name_of_the_project() -> None:
    [problem] = problems("project: store\nwas: shop\nbudget:\n  projects: {shop: 50}\n")
    assert problem.startswith("shop.yml:4:") and "by its former name" in problem and "'store'" in problem
    assert contents("project: store\nwas: shop\nbudget:\n  projects: {store: 50}\n").was == "shop"
    assert contents("project: store\nwas: shop\nbudget: 50\n").budget.account == Decimal(50)
