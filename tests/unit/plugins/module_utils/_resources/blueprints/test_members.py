# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a project and what of it is described; which of what is deleted goes first."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.models import App, Edge
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.contents import Contents
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.document import Entry
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.members import (
    Member,
    Members,
    by_references,
    check_describes,
    check_prune,
    list_members,
    not_described,
    read_members,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Ambiguous,
    Invalid,
)
from unit.plugins.fakes import FakeClient

IDS = st.sampled_from([f"svc_{number}" for number in range(6)])
EDGES = st.lists(st.tuples(IDS, IDS), max_size=15)


class Account(FakeClient):
    """An account with a project and applications."""

    def __init__(self, *names: str, apps: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.slugs = apps
        self.add_project("prj_shop", "shop", createdAt="2026-02-01T00:00:00Z")
        self.project_records["prj_default"]["createdAt"] = "2026-01-01T00:00:00Z"
        for number, name in enumerate((*names, *apps)):
            self.add_service(f"svc_{number}", name, projectId="prj_shop")

    def apps(self) -> list[App]:
        return [
            App(id=each.id, slug=each.name, status="ACTIVE")
            for each in self.services()
            if each.name in self.slugs
        ]


def members_of(account: Account) -> Members:
    """Return the project with what is in it."""
    found = read_members(cast(Client, account), "prj_shop")
    assert found is not None
    return found


def extras(account: Account, *entries: Entry, ids: tuple[str, ...] = ()) -> list[str]:
    """Return the names of what a blueprint does not describe."""
    contents = Contents(
        "shop",
        services=[each for each in entries if each.section == "services"],
        applications=[each for each in entries if each.section == "applications"],
    )
    return [each.name for each in not_described(members_of(account), contents, ids)]


def test_only_what_is_in_the_project_and_stays_is_a_member() -> None:
    account = Account("db", "cache", apps=("acme-web",))
    account.add_service("svc_7", "elsewhere")
    account.add_service("svc_8", "going", status="DELETING", projectId="prj_shop")
    found = members_of(account)
    assert [(each.name, each.section) for each in found.found] == [
        ("acme-web", "applications"),
        ("cache", "services"),
        ("db", "services"),
    ]
    assert not found.may_be_default
    assert read_members(cast(Client, account), "prj_gone") is None


def test_the_oldest_project_may_be_the_default_one() -> None:
    account = Account("db")
    account.project_records["prj_default"]["createdAt"] = "2026-03-01T00:00:00Z"
    assert members_of(account).may_be_default
    account.project_records["prj_default"]["createdAt"] = None
    account.project_records["prj_shop"]["createdAt"] = None
    assert members_of(account).may_be_default


@pytest.mark.parametrize(
    ("entry", "left"),
    [
        (Entry("services", "db", {}), ["Main-Cache"]),
        (Entry("services", "DB", {}), ["Main-Cache", "db"]),
        (Entry("services", "x", {"name": "Main-Cache"}), ["db"]),
        (Entry("applications", "db", {}), ["Main-Cache"]),
        (Entry("services", "x", {"id": "svc_0"}), ["Main-Cache", "db"]),
    ],
)
def test_what_has_the_name_or_the_id_of_an_entry_is_described(entry: Entry, left: list[str]) -> None:
    assert extras(Account("db", "Main-Cache"), entry) == left


def test_what_an_entry_stands_for_is_described() -> None:
    assert extras(Account("db", "cache"), Entry("services", "x", {"id": "svc_0"}), ids=("svc_0",)) == [
        "cache"
    ]


def test_an_application_is_described_by_its_slug_or_its_name() -> None:
    account = Account("db", apps=("acme-web",))
    assert extras(account, Entry("applications", "web", {"slug": "acme-web"})) == ["db"]


def test_an_entry_finds_one_of_its_kind_by_its_exact_name() -> None:
    found = members_of(Account("db", "twin", "twin", apps=("acme-web",)))

    def id_of(section: str, key: str, **values: Any) -> str | None:
        member = found.of(Entry(section, key, values))
        return member.id if member else None

    assert id_of("services", "db") == "svc_0"
    assert id_of("services", "DB") is None
    assert id_of("services", "acme-web") is None
    assert id_of("applications", "db") is None
    assert id_of("applications", "web", slug="acme-web") == "svc_3"
    assert id_of("services", "anything", id="svc_2") == "svc_2"
    with pytest.raises(Ambiguous, match="Write the id of the one"):
        id_of("services", "twin")


@given(EDGES)
def test_what_refers_to_another_goes_first(pairs: list[tuple[str, str]]) -> None:
    going = members_of(Account(*"abcdef")).found
    order = by_references(going, [Edge(from_=user, to=used) for user, used in pairs])
    assert sorted(order) == [f"svc_{number}" for number in range(6)]
    place = {id: number for number, id in enumerate(order)}
    for id, users in order.items():
        assert all(place[user] < place[id] for user in users)
    dropped = [(u, t) for u, t in set(pairs) if u != t and u not in order[t]]
    for user, used in dropped:  # only where they lead back to where they begin
        assert reaches(set(pairs), used, user)


def reaches(edges: set[tuple[str, str]], start: str, end: str) -> bool:
    """Tell whether references lead from one service to another."""
    seen, left = set[str](), [start]
    while left:
        here = left.pop()
        if here not in seen:
            seen.add(here)
            left += [used for user, used in edges if user == here]
    return end in seen


def test_references_from_what_is_not_there_do_not_count() -> None:
    found = members_of(Account("db"))
    edges = [Edge(from_="svc_9", to="svc_0"), Edge(from_="svc_0", to="svc_0"), Edge(to="svc_0")]
    assert Members(found.project, found.found, edges).users_of({"svc_0"}) == []


# --- Refusals -----------------------------------------------------------------------------------------

DB, CACHE, WEB, API = ("svc_0", "svc_1", "svc_2", "svc_3")


def shop(*edges: tuple[str, str, str], **about: Any) -> Members:
    """Return a project with two services and two applications, and references by variables."""
    account = Account("db", "cache", apps=("acme-web", "acme-api"))
    found = members_of(account)
    aliases = {DB: "db", CACHE: "cache", WEB: "acme-web", API: "acme-api"}
    references = [Edge(from_=user, to=used, through=[name] if name else None) for user, used, name in edges]
    return Members(found.project, found.found, references, aliases, **about)


def app(slug: str, **values: Any) -> Entry:
    """Return an entry for an application."""
    return Entry("applications", slug, values)


def refusal(members: Members, going: tuple[str, ...], *apps: Entry, most: int = 9) -> str:
    """Return why it is refused to prune some services; empty if it is not."""
    chosen = [each for each in members.found if each.id in going]
    contents = Contents("shop", services=[Entry("services", "db", {})], applications=apps)
    try:
        check_prune(members, contents, chosen, {DB}, most)
    except Invalid as error:
        return error.message
    return ""


def test_what_nothing_speaks_against_is_pruned() -> None:
    assert refusal(shop(), ()) == ""
    assert refusal(shop(), (CACHE,)) == ""
    assert refusal(shop((CACHE, DB, "URL"), (WEB, DB, "URL")), (CACHE,)) == ""
    assert refusal(shop((WEB, CACHE, "URL")), (CACHE, WEB)) == ""
    assert refusal(shop(), (CACHE, WEB), most=2) == ""


def test_the_default_project_is_not_pruned_whatever_is_in_it() -> None:
    for going in ((), (CACHE,)):
        assert "may be the default project" in refusal(shop(may_be_default=True), going)


def test_a_project_of_which_nothing_is_described_is_not_pruned() -> None:
    members = shop()
    contents = Contents("shop", services=[Entry("services", "other", {})])
    with pytest.raises(Invalid, match=r"may be the wrong one.* To be deleted: service 'db' \(svc_0\)$"):
        check_prune(members, contents, [members.of(Entry("services", "db", {}))], {"svc_9"}, 9)  # type: ignore[list-item]
    check_prune(members, contents, [], {"svc_9"}, 9)


def test_no_more_than_max_delete_are_pruned() -> None:
    members = shop()
    going = [each for each in members.found if each.id in (CACHE, WEB)]
    contents = Contents("shop", services=[Entry("services", "db", {})])
    with pytest.raises(Invalid, match="prune would delete 2 services, and max_delete is 1") as refused:
        check_prune(members, contents, going, {DB}, 1)
    assert refused.value.details["would_delete"] == [
        "application 'acme-web' (svc_2)",
        "service 'cache' (svc_1)",
    ]


@pytest.mark.parametrize(("through", "told"), [("URL", " through URL"), ("", "")])
def test_what_something_that_stays_refers_to_is_not_pruned(through: str, told: str) -> None:
    said = refusal(shop((WEB, CACHE, through)), (CACHE,))
    assert f"application 'acme-web' (svc_2) refers to service 'cache' (svc_1){told}. Nothing" in said


def test_an_environment_in_the_file_replaces_the_references_of_its_application_alone() -> None:
    """Once it is deployed: without an image, the application runs with the environment that it has."""
    members, image = shop((WEB, CACHE, "URL")), {"tag": "v1"}
    for section in ("environment", "secret_environment"):
        own: dict[str, Any] = {section: {"LEVEL": "info"}}
        assert refusal(members, (CACHE,), app("acme-web", image=image, **own)) == ""
        assert "takes effect at a deploy" in refusal(members, (CACHE,), app("acme-web", **own))
    assert "refers to" in refusal(members, (CACHE,), app("acme-web"))
    assert "refers to" in refusal(members, (CACHE,), app("acme-web", environment={}))
    assert "refers to" in refusal(members, (CACHE,), app("acme-api", environment={"LEVEL": "info"}))
    assert "refers to" in refusal(members, (CACHE,), app("acme-new", environment={"LEVEL": "info"}))


def test_an_alias_in_the_file_keeps_what_it_names() -> None:
    web = app("acme-web", environment={"LEVEL": "info", "URL": "${cache.URL}"})
    said = refusal(shop(), (CACHE,), web)
    assert "application 'acme-web' refers to service 'cache' (svc_1) through URL. Nothing" in said
    assert refusal(shop(), (API,), web) == ""
    assert refusal(shop(), (CACHE,), app("acme-web", environment={"URL": "${db.URL}"})) == ""


def test_a_key_of_the_file_is_no_alias() -> None:
    """The key `cache` is an application by now, whatever service has that alias."""
    apps = [
        app("acme-web", environment={"URL": "${cache.URL}"}),
        Entry("applications", "cache", {"slug": "acme-api"}),
    ]
    assert refusal(shop(), (CACHE,), *apps) == ""


def test_a_file_that_describes_nothing_is_refused() -> None:
    with pytest.raises(Invalid, match="would empty project 'shop'"):
        check_describes(Contents("shop", ssh_keys=[Entry("ssh_keys", "me", {})]))
    check_describes(Contents("shop", services=[Entry("services", "db", {})]))
    check_describes(Contents("shop", applications=[app("acme-web")]))


def test_a_long_list_is_cut() -> None:
    found = members_of(Account(*(f"s{number:02}" for number in range(12)))).found
    assert list_members(found[:10]).endswith("service 's09' (svc_9)")
    assert list_members(found).endswith("service 's09' (svc_9) and 2 more")
    assert list_members([Member(found[0].service, "acme")]) == "application 'acme' (svc_0)"


def test_the_graph_of_the_project_is_read() -> None:
    account = Account("db", "cache")
    graph = account.project_graph("prj_shop")
    for edges in ([Edge(from_=CACHE, to=DB)], None):
        account.project_graph = lambda id, edges=edges: graph.model_copy(update={"edges": edges})  # type: ignore[method-assign, misc]
        assert members_of(account).edges == (edges or [])


def test_two_that_refer_to_each_other_have_an_order_and_one_to_itself_does_not_matter() -> None:
    going = members_of(Account("a", "b")).found
    pairs = [(DB, CACHE), (CACHE, DB), (DB, DB), ("svc_9", DB), (DB, "svc_9")]
    order = by_references(going, [Edge(from_=user, to=used) for user, used in pairs])
    assert sorted(order) == [DB, CACHE]
    assert sorted(map(len, order.values())) == [0, 1]
