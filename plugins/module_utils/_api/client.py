# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client of the platform's API: it makes the calls of :mod:`routes`, and retries where that is safe."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial, partialmethod
from itertools import islice, takewhile
from operator import attrgetter
from typing import Any, ClassVar, Final, TypeVar

from . import errors, responses
from . import models as m
from . import routes as r
from .connection import Connection
from .http_transport import HttpTransport, Request, Transport
from .platform_clock import PlatformClock
from .text import Redactor, describe_type, tell_secrets

MIN_TIME_TO_WRITE = 5.0
"""The seconds that must be left to retry a call that cannot be resent: cut off, its outcome is unknown."""
MAX_PAGES = 1000
MAX_ENTRIES = 1_000_000
MAX_LIST = 1 << 30
"""How many entries a list may have on all its pages, and how many bytes these may have."""
METRICS_PER_CALL = 50
ABSENT: Final = object()
M = TypeVar("M", bound=m.Model)


@dataclass(eq=False)
class Client:
    """Calls the platform. Not thread-safe; give each thread a :meth:`clone`.

    All methods raise :class:`HostedError`; its subclasses tell whether the platform acted on the call.
    """

    connection: Connection
    log: Callable[[str], None] = lambda line: None
    """Called with one line per request, without secrets."""
    transport: Transport = field(default_factory=HttpTransport)
    clock: PlatformClock = field(default_factory=PlatformClock)
    redactor: Callable[[str], str] | None = None
    """Returns a message without the secrets of a task; by default, without the token."""
    on_commit: Callable[[Client, Any], AbstractContextManager[None]] = lambda *_call: nullcontext()
    """Entered around each call that may raise the price, with what it commits. It may refuse the call."""
    on_pause: Callable[[str], None] = lambda line: None
    """Told every second of a pause before a retry how long it goes on and why, for progress."""
    on_write: Callable[[], None] = lambda: None
    """Told of each call that may change something, once the platform said that it had carried it out."""
    next_turn: Callable[[float], float] = lambda now: now
    """Asked before each request, retries included, when it may be sent."""
    on_refusal: Callable[[float], None] = lambda sent: None
    """Told at once when the request of each 429 was sent, be it retried or not."""
    received_bytes: int = 0
    """The size of all responses so far."""
    attempts_of_call: int = 0
    """The number of requests that the last call took, retries included."""

    account_key = property(attrgetter("connection.account_key"))

    @property
    def last_call_was_retried(self) -> bool:
        return self.attempts_of_call > 1

    def set_pace(self, next_turn: Callable[[float], float], on_refusal: Callable[[float], None]) -> None:
        self.next_turn, self.on_refusal = next_turn, on_refusal

    def clone(self) -> Client:
        """Return a client with the same settings and its own connections, for another thread."""
        known = self.clock, self.redactor, self.on_commit, self.on_pause
        return Client(self.connection, self.log, self.transport.clone(), *known)

    def close(self) -> None:
        self.transport.close()

    def redact(self, said: str) -> str:
        return (self.redactor or Redactor([self.connection.token]))(said)

    # --- Sending ----------------------------------------------------------------------------------

    def send(
        self,
        route: r.Route[Any],
        *,
        query: Any = None,
        body: Any = None,
        seconds: Any = None,
        commitment: Any = None,
        **ids: str,
    ) -> Any:
        """Make a call; return the JSON of its response, ``None`` if its body is empty.

        :param ids: the values of the path's placeholders.
        :param seconds: the deadline of the call with all its attempts; by default, the connection's.
        """
        if route.commits and commitment is None:
            raise ValueError(f"a call of {route} has to say what it commits")
        try:
            with self.on_commit(self, commitment) if route.commits else nullcontext():
                answer = self.call(route, ids, query, body, seconds)
        except errors.CallOutcomeUnknown as error:
            if route.idempotency is r.IDEMPOTENT:  # for other routes, callers find out or say so themselves
                error.append(". Whether it was carried out is unknown")
            raise
        if route.idempotency is not r.READ:
            self.on_write()
        return answer

    def call(
        self,
        route: r.Route[Any],
        ids: dict[str, Any],
        query: Any = None,
        body: Any = None,
        seconds: float | None = None,
        *,
        or_absent: bool = False,
    ) -> Any:
        """Make a call, with retries. A read needs no more than that; a change goes through :meth:`send`.

        By default, its deadline is the connection's timeout or, if longer, the route's; an attempt that can
        be retried then uses at most half of it. A call that cannot be resent is retried only while there is
        time for it.

        :param or_absent: return :data:`ABSENT` where the platform answers that there is no such item.
        """
        url, resendable = self.connection.base_url + route.url(ids, query), route.idempotency.resendable
        allowed = max(self.connection.timeout, route.min_timeout) if seconds is None else seconds
        longest = allowed / 2 if resendable and seconds is None else allowed  # leaves time for a retry
        needed = 0.0 if resendable else min(MIN_TIME_TO_WRITE, allowed / 2)
        retried = (errors.NotSent, errors.CallOutcomeUnknown) if resendable else errors.NotSent
        deadline = time.monotonic() + allowed
        self.attempts_of_call, lost = 0, None
        while True:
            now = time.monotonic()
            if (turn := self.next_turn(now) - now) > 0:
                time.sleep(turn)
                deadline += turn
            try:
                left = min(deadline - time.monotonic(), longest)
                return self._attempt(route, url, body, max(left, 0.001), or_absent)
            except errors.HostedError as error:
                again = isinstance(error, retried) and self.attempts_of_call <= self.connection.retries
                pause = responses.pause_before_retry(error, self.attempts_of_call) if again else 0.0
                if not again or time.monotonic() + pause + needed >= deadline:
                    raise (error if lost is None else error.after_lost(lost)) from error.__cause__
                if error.effect_unknown and route.idempotency is not r.READ:
                    lost = error
                reason = error.message
            responses.wait_for_retry(pause, reason, self.on_pause)

    def _attempt(self, route: r.Route[Any], url: str, body: Any, seconds: float, or_absent: bool) -> Any:
        begun, outcome = time.monotonic(), "no answer"
        self.attempts_of_call += 1
        known, fresh = self.connection, not route.idempotency.resendable
        try:
            request = Request(route.method, url, body, known.headers, known.verify, fresh)
            response = self.transport.exchange(request, seconds)
            outcome = str(response.status)
            self.received_bytes += len(response.body)
            if response.date:
                self.clock.last = response.date, time.monotonic()
            if or_absent and errors.REFUSALS.get(response.status) is errors.NotFoundResponse:
                return ABSENT
            return responses.read_response(route, response, self.redact)
        except TimeoutError:
            raise errors.Interrupted(f"{route}: no complete response within {seconds:.3g} seconds") from None
        except errors.HostedError as error:
            if isinstance(error, errors.RateLimited):
                self.on_refusal(begun)
            error.reworded(f"{route}: {self.redact(error.message)}")
            raise
        finally:
            took = (time.monotonic() - begun) * 1000
            self.log(f"{route.method} {url.partition('?')[0]} -> {outcome} in {took:.0f} ms")

    def one(self, route: r.Route[r.One[M]], **call: Any) -> M:
        """Make a call as :meth:`send` does; return the object in its response."""
        found = responses.read_model(route, route.answer.model, self.send(route, **call))
        for value in (getattr(found, name) for name in found.secret_fields):
            tell_secrets([each.value for each in value] if isinstance(value, list) else [value])
        return found

    def if_any(self, route: r.Route[r.One[M]], seconds: float | None = None, **ids: str) -> M | None:
        """Return the object on a route; ``None`` if the platform answers that there is none."""
        answer = self.call(route, ids, seconds=seconds, or_absent=True)
        return None if answer is ABSENT else responses.read_model(route, route.answer.model, answer)

    def pages(self, route: r.Route[r.Many[M]], query: Any = None, **ids: str) -> Iterator[M]:
        """Yield the items of all pages: bare arrays, or objects with ``items`` and maybe ``nextCursor``."""
        query, seen, count, begun = dict(query or {}), set(), 0, self.received_bytes
        wrong = f"the list does not end after {MAX_PAGES} pages; stopped"
        for _page in range(MAX_PAGES):
            cursor, items = None, self.call(route, ids, query)
            if isinstance(items, dict):
                cursor, items = items.get("nextCursor"), items.get("items")
            if not isinstance(items, list):
                wrong = f"expected a list of items, got {describe_type(items)}"
                break
            count += len(items)
            if count > MAX_ENTRIES or self.received_bytes - begun > MAX_LIST:
                wrong = f"the list has more than {MAX_ENTRIES} entries or {MAX_LIST >> 20} MB; stopped"
                break
            yield from [responses.read_model(route, route.answer.model, item) for item in items]
            if cursor in (None, ""):
                return
            query["cursor"] = str(cursor)
            if query["cursor"] in seen:
                wrong = f"the platform repeats the cursor {cursor!r}; stopped"
                break
            seen.add(query["cursor"])
        raise errors.UnexpectedAnswer(f"{route}: {wrong}")

    # --- Calls ------------------------------------------------------------------------------------

    whoami: ClassVar[partialmethod[m.Whoami]] = partialmethod(one, r.WHOAMI)
    wallet: ClassVar[partialmethod[m.Wallet]] = partialmethod(one, r.WALLET)
    quote: ClassVar[partialmethod[m.Quote]] = partialmethod(one, r.QUOTE)
    billing_overview: ClassVar[partialmethod[m.BillingOverview]] = partialmethod(one, r.BILLING_OVERVIEW)

    def quote_app(self, host_id: str | None, dimensions: m.Dimensions | None) -> m.AppQuote:
        size = None if dimensions is None else dimensions.as_size(as_body=True)
        return self.one(r.APP_QUOTE, body={"hostId": host_id, "dimensions": size})

    def app_projects(self) -> list[m.AppProject]:
        return list(self.pages(r.APP_PROJECTS))

    def scan(self, slug: str, tag: str, seconds: float | None = None) -> m.ScanReport | None:
        """Return the scan report of a release; ``None`` if there is none.

        :raises Interrupted: if the deadline passes first: the response is delayed while the scan runs.
        """
        return self.if_any(r.RELEASE_SCAN, slug=slug, tag=tag, seconds=seconds)

    def app_logs(self, slug: str) -> list[str]:
        """Return the last lines of an application's log, oldest first."""
        return responses.read_model(r.APP_LOGS, m.LogLines, self.send(r.APP_LOGS, slug=slug)).lines

    def metrics(self, ids: Sequence[str]) -> dict[str, m.Metrics | None]:
        """Return live metrics by service id, of 50 at most; ``None`` for one whose node cannot be reached."""
        answer = self.call(r.METRICS, {}, {"ids": ",".join(ids)})
        if not isinstance(answer, dict):
            raise errors.UnexpectedAnswer(f"{r.METRICS}: expected an object by service id")
        told = {id: answer.get(id) for id in ids}  # nothing of those that are gone
        read = partial(responses.read_model, r.METRICS, r.METRICS.answer.model)
        return {id: None if each is None else read(each) for id, each in told.items()}

    def logs(self, id: str, lines: int = 100) -> list[str]:
        """Return the last lines of a service's log, oldest first, at most 100 (Limits)."""
        return self.one(r.LOGS, query={"lines": lines}, id=id).lines

    def events(self, id: str, limit: int | None = None, *, since: str | None = None) -> list[m.Event]:
        """Return the activity events of a service, newest first, at most ``limit`` of them.

        With ``since``, those that are newer than the event of this id; all events if there is no such event.
        """
        newer = takewhile(lambda event: event.id != since, self.pages(r.EVENTS, id=id))
        return list(islice(newer, limit))

    def usage(self, id: str, days: int | None = None) -> m.Usage:
        return self.one(r.USAGE, query={"range": days}, id=id)

    def billed_totals(self, id: str, hour: str, day: str, week: str, month: str) -> m.BilledTotals:
        """Return the spend of a service since each of four timestamps (ISO 8601, UTC)."""
        query = {"hourStart": hour, "dayStart": day, "weekStart": week, "monthStart": month}
        return self.one(r.BILLED_TOTALS, query=query, id=id)

    def entries(self, route: r.Route[r.Entries[m.Model]]) -> list[dict[str, Any]]:
        return [entry.model_extra or {} for entry in self.pages(route)]

    def statement(self, period: str) -> Any:
        return self.send(r.STATEMENT, period=period)

    def database_rows(self, id: str, schema: str, table: str, page: int = 0) -> m.QueryResult:
        """Return a page of 50 rows of a table. The first page is 0."""
        query = {"schema": schema, "table": table, "page": page}
        return self.one(r.DATABASE_ROWS, query=query, id=id)

    def database_query(self, id: str, sql: str) -> m.QueryResult:
        """Run an SQL statement. The platform stops it after 15 seconds. It is never retried."""
        return self.one(r.DATABASE_QUERY, body={"sql": sql}, id=id)
