# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client of the platform's API: it makes the calls of :mod:`routes`.

It takes and returns :mod:`models` and raises the errors of :mod:`errors`. Where the specification does not
show the response of a write, read the object again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from itertools import islice, takewhile
from typing import Any, TypeVar

from . import models as m
from . import routes as r
from .decoding import items_of, one
from .errors import (
    CallOutcomeUnknown,
    NotFoundResponse,
    UnexpectedAnswer,
)
from .platform_clock import PlatformClock
from .session import Session
from .text import tell_secrets

MAX_PAGES = 1000
MAX_ENTRIES = 1_000_000
MAX_LIST = 1024 * 1024 * 1024
"""How many entries a list may have on all its pages, and how many bytes these may have."""
METRICS_PER_CALL = 50
M = TypeVar("M", bound=m.Model)


def unwatched(client: Client, commitment: Any) -> AbstractContextManager[None]:
    """Let a call through: the client is nobody's task."""
    return nullcontext()


class Client:
    """Calls the platform. Ids and names are strings; an amount is in the unit that its field's name ends in.

    Not thread-safe; give each thread a :meth:`clone`.

    All methods raise :class:`HostedError`; its subclasses tell whether the platform acted on the call.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.on_write: Callable[[], None] = lambda: None
        """Told of each call that may change something, once the platform said that it had carried it out."""
        self.on_commit: Callable[[Client, Any], AbstractContextManager[None]] = unwatched
        """Entered around each call that may raise the price, with what it commits. It may refuse the call."""

    def clone(self) -> Client:
        """Return a client with the same settings and its own connections, for another thread."""
        clone = Client(self.session.clone())
        clone.on_commit = self.on_commit
        return clone

    def close(self) -> None:
        """Close all open connections."""
        self.session.close()

    def hide(self, secrets: Callable[[], Iterable[str]]) -> None:
        """Redact the strings that ``secrets`` returns from all later error messages, as the token is."""
        self.session.hide(secrets)

    def set_pace(self, next_turn: Callable[[float], float], on_refusal: Callable[[float], None]) -> None:
        """Let others decide when requests are sent: see the attributes of :class:`Session` of these names."""
        self.session.next_turn, self.session.on_refusal = next_turn, on_refusal

    def log(self, line: str) -> None:
        """Log a line beside those of the requests."""
        self.session.log(line)

    def report_pauses(self, on_pause: Callable[[str], None]) -> None:
        """Report long pauses before retries: see the attribute of :class:`Session`."""
        self.session.on_pause = on_pause

    @property
    def clock(self) -> PlatformClock:
        """The platform's clock."""
        return self.session.clock

    @property
    def last_call_was_retried(self) -> bool:
        """Whether the last call took more than one request."""
        return self.session.attempts_of_call > 1

    @property
    def account_key(self) -> str:
        """A hash that differs for each address and token, to remember something about an account by."""
        return self.session.connection.account_key

    # --- Sending ----------------------------------------------------------------------------------

    def send(
        self, route: r.Route[Any], *, query: Any = None, body: Any = None, commitment: Any = None, **ids: str
    ) -> Any:
        """Make a call; return the JSON of its response.

        :raises ValueError: if the route ``commits`` and the call does not say what, which is a defect.
        """
        if route.commits and commitment is None:
            raise ValueError(f"a call of {route} has to say what it commits")
        try:
            with self.on_commit(self, commitment) if route.commits else nullcontext():
                answer = self.session.send(route, ids, query, body)
        except CallOutcomeUnknown as error:
            if route.idempotency is r.IDEMPOTENT:  # for other routes, callers find out or say so themselves
                error.append(". Whether it was carried out is unknown")
            raise
        if route.idempotency is not r.READ:
            self.on_write()
        return answer

    def one(
        self,
        route: r.Route[r.One[M]],
        *,
        query: Any = None,
        body: Any = None,
        commitment: Any = None,
        **ids: str,
    ) -> M:
        """Call a route that answers with one item, and return it. Its secrets are redacted from then on."""
        answer = self.send(route, query=query, body=body, commitment=commitment, **ids)
        found = one(route, route.answer.model, answer)
        tell_secrets(m.secrets_in(found))
        return found

    def pages(self, route: r.Route[r.Many[M]], query: Any = None, **ids: str) -> Iterator[M]:
        """Yield the items of all pages.

        :raises UnexpectedAnswer: if the platform repeats a cursor, or the list has no end: after
            :data:`MAX_PAGES` pages, :data:`MAX_ENTRIES` entries or :data:`MAX_LIST` bytes.
        """
        query, seen = dict(query or {}), set()
        count, begun = 0, self.session.received_bytes
        for _page in range(MAX_PAGES):
            items, cursor = items_of(route, self.send(route, query=query, **ids))
            count += len(items)
            if count > MAX_ENTRIES or self.session.received_bytes - begun > MAX_LIST:
                most = f"{MAX_ENTRIES} entries or {MAX_LIST // 1024 // 1024} MB"
                raise UnexpectedAnswer(f"{route}: the list has more than {most}; stopped")
            yield from items
            if not cursor:
                return
            if cursor in seen:
                raise UnexpectedAnswer(f"{route}: the platform repeats the cursor {cursor!r}; stopped")
            seen.add(cursor)
            query["cursor"] = cursor
        raise UnexpectedAnswer(f"{route}: the list does not end after {MAX_PAGES} pages; stopped")

    def if_any(self, route: r.Route[r.One[M]], id: str) -> M | None:
        """Return the item on a route; ``None`` if it does not exist."""
        with suppress(NotFoundResponse):
            return self.one(route, id=id)
        return None

    # --- Applications -----------------------------------------------------------------------------

    def whoami(self) -> m.Whoami:
        """Return the account that the token belongs to (Authentication)."""
        return self.one(r.WHOAMI)

    def quote_app(self, host_id: str | None, dimensions: m.Dimensions | None) -> m.AppQuote:
        """Return the monthly price of an application in millicents, without creating it."""
        size = None if dimensions is None else dimensions.as_body()
        return self.one(r.APP_QUOTE, body={"hostId": host_id, "dimensions": size})

    def app_projects(self) -> list[m.AppProject]:
        """Return the projects that applications can join."""
        return list(self.pages(r.APP_PROJECTS))

    def scan(self, slug: str, tag: str, seconds: float | None = None) -> m.ScanReport | None:
        """Return the scan report of a release; ``None`` if the platform answers 404.

        The platform delays its response while the scan runs.

        :param seconds: the deadline of the whole call; by default, the connection's.
        :raises Interrupted: if the deadline passes first.
        """
        ids = {"slug": slug, "tag": tag}
        try:
            return one(r.RELEASE_SCAN, m.ScanReport, self.session.send(r.RELEASE_SCAN, ids, seconds=seconds))
        except NotFoundResponse:
            return None

    def app_logs(self, slug: str) -> list[str]:
        """Return the last lines of an application's log, oldest first."""
        return one(r.APP_LOGS, m.LogLines, self.send(r.APP_LOGS, slug=slug)).lines

    # --- Services ---------------------------------------------------------------------------------

    def metrics(self, ids: Sequence[str]) -> dict[str, m.Metrics | None]:
        """Return live metrics by service id; ``None`` for a service whose node cannot be reached.

        Takes one call for every 50 ids (Limits).
        """
        found: dict[str, m.Metrics | None] = {}
        remaining, model = iter(ids), r.METRICS.answer.model
        while batch := list(islice(remaining, METRICS_PER_CALL)):
            answer = self.send(r.METRICS, query={"ids": ",".join(batch)})
            if not isinstance(answer, dict):
                raise UnexpectedAnswer(f"{r.METRICS}: expected an object by service id")
            told = {id: answer.get(id) for id in batch}  # nothing of those that are gone
            found |= {id: None if each is None else one(r.METRICS, model, each) for id, each in told.items()}
        return found

    # --- Journals, activity, consumption ----------------------------------------------------------

    def logs(self, id: str, lines: int = 100) -> list[str]:
        """Return the last ``lines`` lines of a service's log, oldest first, at most 100 (Limits)."""
        return self.one(r.LOGS, query={"lines": lines}, id=id).lines

    def events(self, id: str, limit: int | None = None, *, since: str | None = None) -> list[m.Event]:
        """Return the activity events of a service, newest first, at most ``limit`` of them.

        With ``since``, those that are newer than the event of this id; all events if there is no such event.
        """
        newer = takewhile(lambda event: event.id != since, self.pages(r.EVENTS, id=id))
        return list(islice(newer, limit))

    def usage(self, id: str, days: int | None = None) -> m.Usage:
        """Return the spend of a service in cents over the last ``days`` days; 30 by default (Limits)."""
        return self.one(r.USAGE, query={"range": days}, id=id)

    def billed_totals(self, id: str, hour: str, day: str, week: str, month: str) -> m.BilledTotals:
        """Return the spend of a service in cents since each of four timestamps (ISO 8601, UTC)."""
        query = {"hourStart": hour, "dayStart": day, "weekStart": week, "monthStart": month}
        return self.one(r.BILLED_TOTALS, query=query, id=id)

    # --- Billing ----------------------------------------------------------------------------------

    def billing_overview(self) -> m.BillingOverview:
        """Return the account's balance, spend and forecast in cents."""
        return self.one(r.BILLING_OVERVIEW)

    def wallet(self, seconds: float | None = None) -> m.Wallet:
        """Return the account's balance in cents and its currency.

        :param seconds: the deadline of the whole call; by default, the connection's.
        """
        return one(r.WALLET, m.Wallet, self.session.send(r.WALLET, {}, seconds=seconds))

    def transactions(self) -> list[dict[str, Any]]:
        """Return the wallet's transactions, as undocumented JSON."""
        return as_they_come(self.pages(r.TRANSACTIONS))

    def daily_spend(self) -> list[dict[str, Any]]:
        """Return the current month's spend by day, as undocumented JSON."""
        return as_they_come(self.pages(r.DAILY_SPEND))

    def invoices(self) -> list[dict[str, Any]]:
        """Return the invoices, as undocumented JSON."""
        return as_they_come(self.pages(r.INVOICES))

    def statements(self) -> list[dict[str, Any]]:
        """Return the monthly statements, as undocumented JSON."""
        return as_they_come(self.pages(r.STATEMENTS))

    def statement(self, period: str) -> Any:
        """Return the statement of a month (``YYYY-MM``), as undocumented JSON."""
        return self.send(r.STATEMENT, period=period)

    # --- Ordering ---------------------------------------------------------------------------------

    def quote(self, order: dict[str, Any]) -> m.Quote:
        """Return the price of an order without placing it. ``order`` has the keys of Order fields."""
        return self.one(r.QUOTE, body=order)

    # --- Database tunnel --------------------------------------------------------------------------

    def database_rows(self, id: str, schema: str, table: str, page: int = 0) -> m.QueryResult:
        """Return a page of 50 rows of a table. The first page is 0."""
        query = {"schema": schema, "table": table, "page": page}
        return self.one(r.DATABASE_ROWS, query=query, id=id)

    def database_query(self, id: str, sql: str) -> m.QueryResult:
        """Run an SQL statement. The platform stops it after 15 seconds. It is never retried."""
        return self.one(r.DATABASE_QUERY, body={"sql": sql}, id=id)


def as_they_come(entries: Iterable[m.Entry]) -> list[dict[str, Any]]:
    """Return entries whose fields are not shown."""
    return [entry.model_extra or {} for entry in entries]
