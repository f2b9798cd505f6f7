# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Statements against a database that answers as a test wants, and against the sandbox's."""

from __future__ import annotations

import csv
import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import (
    RunContext,
    apply_and_report,
)
from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    Interrupted,
    Refused,
    UnexpectedAnswer,
    error_for_status,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.database_query import DATABASE_QUERY
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    EffectUnverified,
    Invalid,
)
from hosted_sandbox.testing import Sandbox
from integration.proxy_server import ProxyServer, running
from unit.plugins.fakes import Clock, FakeClient, task_of
from unit.plugins.module_utils._resources.platform import run

WRITE = {"read_only": False}


class Account(FakeClient):
    """An account with a database. ``answers`` come one for each statement; an exception is raised."""

    engine = "postgresql"
    supported = True

    def __init__(self, *answers: Any) -> None:
        super().__init__()
        self.add_service("svc_db", "db")
        self.answers = list(answers)
        self.sent: list[str] = []

    def database(self, id: str) -> m.DatabaseInventory:
        return m.DatabaseInventory.model_validate({"engine": self.engine, "supported": self.supported})

    def database_query(self, id: str, sql: str) -> m.QueryResult:
        self.sent.append(sql)
        answer = self.answers.pop(0)
        if callable(answer):
            answer = answer()
        if isinstance(answer, Exception):
            raise answer
        return m.QueryResult.model_validate(answer)


def rows(count: int, truncated: bool = False) -> dict[str, Any]:
    return {"columns": [{"name": "id"}], "rows": [["1"]] * count, "rowCount": count, "truncated": truncated}


def plan_for(client: Account, query: str, **given: Any) -> Plan:
    return DATABASE_QUERY.plan(task_of(DATABASE_QUERY, client, service="db", query=query, **given))


def done(client: Account, query: str, **given: Any) -> dict[str, Any]:
    """Return the result of a task that was carried out."""
    task = task_of(DATABASE_QUERY, client, service="db", query=query, **given)
    result: dict[str, Any] = {}
    apply_and_report(DATABASE_QUERY, DATABASE_QUERY.plan(task), task, RunContext(), result)
    return result


# --- Reads ------------------------------------------------------------------------------------------


def test_pages_until_done() -> None:
    client = Account(rows(500), rows(500), rows(0))
    result = plan_for(client, "SELECT id FROM t ORDER BY id;", all_rows=True).result
    assert (len(result["rows"]), result["row_count"], result["truncated"]) == (1000, 1000, False)
    assert [sql.partition("\n")[2] for sql in client.sent] == [
        "LIMIT 500 OFFSET 0",
        "LIMIT 500 OFFSET 500",
        "LIMIT 500 OFFSET 1000",
    ]


def test_pages_need_an_order_when_there_is_more_than_one() -> None:
    assert plan_for(Account(rows(499)), "SELECT id FROM t", all_rows=True).result["row_count"] == 499
    with pytest.raises(Invalid, match="ORDER BY"):
        plan_for(Account(rows(500)), "SELECT id FROM t", all_rows=True)


def test_a_read_is_sent_once_more_when_its_answer_is_lost() -> None:
    client = Account(Interrupted("reset"), rows(1))
    assert plan_for(client, "SELECT 1").result["row_count"] == 1
    assert len(client.sent) == 2


@pytest.mark.parametrize("seconds", [14, 15])
def test_a_refusal_after_15_seconds_names_the_limit(monkeypatch: pytest.MonkeyPatch, seconds: int) -> None:
    """Whatever its words are."""
    clock = Clock(monkeypatch)

    def refuse() -> Exception:
        clock.sleep(seconds)
        return error_for_status("canceled: time-out", 400)

    with pytest.raises(Refused) as caught:
        plan_for(Account(refuse), "SELECT 1")
    assert ("cuts every query at 15 seconds" in caught.value.message) is (seconds == 15)


# --- Writes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "count", "changed"),
    [
        ("UPDATE t SET a = 1", 0, False),
        ("UPDATE t SET a = 1", None, True),
        ("UPDATE t SET a = 1", 1, True),
        ("CREATE TABLE t (a int)", 0, True),
        ("WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone", 0, True),
        ("DELETE FROM t; DELETE FROM u", 0, True),
    ],
)
def test_changed_is_what_the_statement_did(query: str, count: int | None, changed: bool) -> None:
    assert done(Account({"rowCount": count}), query, **WRITE)["changed"] is changed


@pytest.mark.parametrize("trouble", [Interrupted("reset"), UnexpectedAnswer("no object")])
def test_a_write_whose_answer_is_lost_is_never_sent_again(trouble: Exception) -> None:
    client = Account(trouble, rows(1))
    with pytest.raises(EffectUnverified, match=r"unknown: .*not sent again"):
        done(client, "DELETE FROM t", **WRITE)
    assert len(client.sent) == 1


@pytest.mark.parametrize(("seconds", "kind"), [(14, Refused), (15, EffectUnverified)])
def test_what_became_of_a_write_that_was_cut_is_unknown(
    monkeypatch: pytest.MonkeyPatch, seconds: int, kind: type[Exception]
) -> None:
    clock = Clock(monkeypatch)

    def refuse() -> Exception:
        clock.sleep(seconds)
        return error_for_status("no", 400)

    client = Account(refuse)
    with pytest.raises(kind, match="no"):
        done(client, "DELETE FROM t", **WRITE)
    assert len(client.sent) == 1


# --- CSV --------------------------------------------------------------------------------------------


def test_csv_is_written_when_it_differs(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    answer = {"columns": [{"name": "a"}, {"name": "b"}], "rows": [['say "hi"', None], ["x,y\nz", "é"]]}
    given: dict[str, Any] = {"csv_dest": str(path)}
    assert plan_for(Account(answer), "SELECT 1", **given).changed and not path.exists()
    assert done(Account(answer), "SELECT 1", **given)["changed"]
    assert path.read_bytes().decode() == 'a,b\n"say ""hi""",\n"x,y\nz",é\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not done(Account(answer), "SELECT 1", **given)["changed"]
    path.write_bytes(b"\xff")
    assert done(Account(answer), "SELECT 1", **given)["changed"]
    assert list(tmp_path.iterdir()) == [path]


# --- The sandbox ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def query() -> Any:
    """Return a function that runs a task on a real database, with its sandbox."""
    with Sandbox() as sandbox:
        sandbox.seed({"services": [{"name": "db", "product": "postgresql"}], "delays": {"query": 1}})

        def ask(text: str, check_mode: bool = False, **given: Any) -> dict[str, Any]:
            return run(sandbox, DATABASE_QUERY, check_mode, service="db", query=text, **given)

        ask("CREATE TABLE t (id INTEGER PRIMARY KEY, note TEXT)", **WRITE)
        yield sandbox, ask


Ask = tuple[Sandbox, Callable[..., dict[str, Any]]]


SLOW = """INSERT INTO {} WITH RECURSIVE
    n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 600000) SELECT i FROM n"""


@pytest.mark.parametrize("status", ["408", "504"])
@pytest.mark.parametrize("fate", ["it is undone", "it is carried out all the same"])
def test_a_write_that_is_cut_may_have_been_carried_out(query: Ask, status: str, fate: str) -> None:
    sandbox, ask = query
    sandbox.profile("plain", **{"query.cut": fate, "refusal.query_timeout": status})
    sandbox.delays(query=0.02)
    ask("CREATE TABLE IF NOT EXISTS slow (i INTEGER)", **WRITE)
    ask("DELETE FROM slow", **WRITE)
    sandbox.clear_journal()
    result = ask(SLOW.format("slow"), **WRITE)
    sandbox.delays(query=1)
    sandbox.profile("plain")
    written = ask("SELECT count(*) AS n FROM slow")["result"]["records"][0]["n"]
    assert written == ("0" if fate == "it is undone" else "600000")
    assert len(sandbox.journal("database.query")) == 2  # the write once, and the count
    assert result["failed"] and "whether the statement was carried out is unknown" in result["msg"]
    assert "15 seconds" in result["msg"] and "check the data" in result["msg"]


@pytest.mark.parametrize("written", [str, str.upper])
@pytest.mark.parametrize("most", [80, 30])
def test_a_value_is_not_in_the_error_of_a_server_that_got_it_in_hex(
    sandbox: Sandbox, written: Callable[[str], str], most: int
) -> None:
    """MySQL and MariaDB quote 80 characters of what they do not understand, a platform maybe fewer."""
    sandbox.seed({"services": [{"name": "maria", "product": "mariadb"}]})
    value = "S3cret\\Pass-word99"
    sent: list[str] = []

    def refuse(method: str, path: str, authorization: str, body: str) -> bytes | None:
        if not path.endswith("/database/query"):
            return None
        sent.append(json.loads(body)["sql"].partition("COMMENT  ")[2])
        near = sent[0].replace(digits, written(digits))[:most]
        said = f"You have an error in your SQL syntax near '{near}' at line 1"
        return json.dumps({"statusCode": 422, "message": said}).encode()

    digits = value.encode().hex()
    options = dict[str, Any](service="maria", query="ALTER TABLE t COMMENT :c", params={"c": value}, **WRITE)
    with running(ProxyServer(sandbox, refuse, refusal=422)) as proxy:
        result = run(sandbox, DATABASE_QUERY, **options, base_url=proxy.url)
    assert sent == [f"_utf8mb4 X'{digits}'"]
    assert result["failed"] and "error in your SQL syntax near '_utf8mb4 X'********'" in result["msg"]
    assert digits[:8] not in repr(result).lower()


# --- The names of columns -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "column", "shown"),
    [
        ("CANARY-520", "length( 'CANARY-520')", "length( :p)"),
        ("CANARY-520", "CANARY-520", ":p"),
        ("CANARY-520", "concat(note, 'CANAR", "concat(note, :p"),
        ("it's CANARY", "upper('it''s CANARY')", "upper(:p)"),
        (["CANARY-1", "CANARY-2"], "x IN ( 'CANARY-1', 'CANARY-2')", "x IN ( :p, :p)"),
        (52052052, "pin = 52052052", "pin = :p"),
        (5, "round(price, 5)", "round(price, 5)"),
        (None, "coalesce(a,NULL)", "coalesce(a,NULL)"),
        ("id", "id", ":p"),
        ("id", "width", "width"),
    ],
)
@pytest.mark.parametrize("reads", [True, False])
def test_no_column_is_named_by_a_value(
    tmp_path: Path, value: Any, column: str, shown: str, reads: bool
) -> None:
    client = Account({"columns": [{"name": column}], "rows": [["10"]], "rowCount": 1})
    client.engine = "mariadb"
    path = tmp_path / "rows.csv"
    query = "SELECT f(:p)" if reads else "DELETE FROM t WHERE f(:p) RETURNING f"
    result = done(client, query, params={"p": value}, csv_dest=str(path), **({} if reads else WRITE))
    assert [found["name"] for found in result["result"]["columns"]] == [shown]
    assert result["result"]["records"] == [{shown: "10"}]
    assert next(csv.reader(path.read_text().splitlines())) == [shown]
