# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A typed call for each route of the platform.

Methods carry the name of what they do, take and return models, and raise the errors of :mod:`errors`.
Where the specification does not show the answer of a write, the method returns nothing: read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice, pairwise
from typing import Any, TypeVar

from . import models as m
from . import routes as r
from .decoding import items_of, one
from .errors import (
    BadRequest,
    CallOutcomeUnknown,
    HostedError,
    NotFoundResponse,
    Refused,
    TokenRejected,
    UnexpectedAnswer,
)
from .session import Session
from .values import ServiceStatus

MAX_PAGES = 1000
METRICS_PER_CALL = 50
FILES_PER_DELETE = 100
M = TypeVar("M", bound=m.Model)


class Client:
    """The platform as Python calls. Ids and names are strings; money is in the unit that a name ends in."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.carried_out = 0
        """How many calls that may change something the platform said it had carried out."""

    def clone(self) -> Client:
        """Return a client of the same settings, with connections of its own, for another thread."""
        return Client(self.session.clone())

    def close(self) -> None:
        """Close the connections that are kept open."""
        self.session.close()

    def hide(self, secrets: Callable[[], Iterable[str]]) -> None:
        """Hide what ``secrets`` returns in the messages of all errors from now on, as the token is."""
        self.session.hide(secrets)

    @property
    def last_call_was_retried(self) -> bool:
        """Whether the last call had to be sent more than once."""
        return self.session.attempts_of_call > 1

    # --- How every call is made -------------------------------------------------------------------

    def _send(self, route: r.Route[Any], *, query: Any = None, body: Any = None, **ids: str) -> Any:
        try:
            answer = self.session.send(route, ids, query, body)
        except CallOutcomeUnknown as error:
            if route.idempotency is r.IDEMPOTENT:  # of the others those who call find out, or say so
                error.message += ". Whether it was carried out is unknown"
            raise
        if route.idempotency is not r.READ:
            self.carried_out += 1
        return answer

    def _one(self, route: r.Route[r.One[M]], *, query: Any = None, body: Any = None, **ids: str) -> M:
        return one(route, route.answer.model, self._send(route, query=query, body=body, **ids))

    def _pages(
        self,
        route: r.Route[r.Many[M]],
        query: Any = None,
        keep: Callable[[Any], object] = lambda item: True,
        **ids: str,
    ) -> Iterator[M]:
        """Yield the items of all pages that are to be kept.

        What would never end is an error, as a cursor that comes twice is.
        """
        query, seen = dict(query or {}), set()
        for _page in range(MAX_PAGES):
            items, cursor = items_of(route, self._send(route, query=query, **ids), keep)
            yield from items
            if not cursor:
                return
            if cursor in seen:
                raise UnexpectedAnswer(f"{route}: the platform repeats the cursor {cursor!r}; stopped")
            seen.add(cursor)
            query["cursor"] = cursor
        raise UnexpectedAnswer(f"{route}: the list does not end after {MAX_PAGES} pages; stopped")

    def _delete(self, route: r.Route[Any], is_there: Callable[[], bool], **ids: str) -> None:
        """Delete one item; one that is not there any more is as good.

        A try whose answer was lost may have deleted it, or another hand. With which status the next one is
        refused then is not shown, and a 404 may be a gateway's, so it is read whether the item is there.
        """
        with self._unless_listed(is_there, "there"):
            self._send(route, **ids)

    def _or_absent(self, read: Callable[[], M], listed: Callable[[], bool]) -> M | None:
        """Read one item; ``None`` when it is refused with 404, or with any other status and is on no list.

        Which status an item has that does not exist is not shown.
        """
        try:
            return read()
        except Refused as error:
            if not isinstance(error, NotFoundResponse) and not is_gone(error, listed):
                raise
            return None

    @contextmanager
    def _unless_listed(self, listed: Callable[[], bool], where: str = "on the list") -> Iterator[None]:
        """Take a refused deletion for done, unless the list still has the item: gateways send 404 as well.

        Where the list is not found either, the whole service is gone.
        """
        try:
            yield
        except NotFoundResponse as error:
            with suppress(NotFoundResponse):
                if listed():
                    message = f"{error.message}, but what was to be deleted is still {where}"
                    raise UnexpectedAnswer(message) from None
            self.carried_out += 1
        except Refused as error:
            check_gone(error, listed)
            self.carried_out += 1

    # --- Applications -----------------------------------------------------------------------------

    def whoami(self) -> m.Whoami:
        """Return whose token it is."""
        return self._one(r.WHOAMI)

    def apps(self) -> list[m.App]:
        """Return the applications of the account.

        One of the catalogue, such as a database, is an application as well, and a platform may list it.
        It has no slug then, so none of the routes of applications is for it.
        """
        return list(self._pages(r.APPS, keep=lambda item: not isinstance(item, dict) or item.get("slug")))

    def create_app(
        self, slug: str, host_id: str | None, project_id: str | None, dimensions: m.Dimensions | None
    ) -> None:
        """Create an application; ``None`` leaves a choice to the platform."""
        size = None if dimensions is None else dimensions.model_dump(by_alias=True)
        body = {"slug": slug, "hostId": host_id, "projectId": project_id, "dimensions": size}
        self._send(r.APP_CREATE, body=body)

    def quote_app(self, host_id: str | None, dimensions: m.Dimensions | None) -> m.AppQuote:
        """Return the price of an application."""
        size = None if dimensions is None else dimensions.model_dump(by_alias=True)
        return self._one(r.APP_QUOTE, body={"hostId": host_id, "dimensions": size})

    def app_nodes(self) -> Any:
        """Return the nodes that can carry applications, as they come."""
        return self._send(r.APP_NODES)

    def app_projects(self) -> Any:
        """Return the projects that applications can join, as they come."""
        return self._send(r.APP_PROJECTS)

    def registry_credentials(self) -> m.RegistryCredentials:
        """Return the login of the account's registry space."""
        return self._one(r.REGISTRY_CREDENTIALS)

    def declare_release(self, slug: str, tag: str, digest: str) -> None:
        """Declare the image ``digest`` as the release ``tag``."""
        self._send(r.RELEASE_DECLARE, slug=slug, body={"tag": tag, "digest": digest})

    def releases(self, slug: str, query: dict[str, Any] | None = None) -> Any:
        """Return a page of the releases of an application, as it comes."""
        return self._send(r.RELEASES, query=query or None, slug=slug)

    def scan(self, slug: str, tag: str, seconds: float | None = None) -> m.ScanReport | None:
        """Return the scan of a release; ``None`` when the tag is not declared.

        The platform waits with its answer while the analysis runs; ``seconds`` bounds the whole call.
        """
        ids = {"slug": slug, "tag": tag}
        try:
            return one(r.RELEASE_SCAN, m.ScanReport, self.session.send(r.RELEASE_SCAN, ids, seconds=seconds))
        except NotFoundResponse:
            return None

    def deploy(self, slug: str, tag: str) -> None:
        """Put a release into service. Returns once the application has restarted."""
        self._send(r.APP_DEPLOY, slug=slug, body={"tag": tag})

    def replace_environment(self, slug: str, environment: dict[str, str]) -> None:
        """Replace the whole environment of an application."""
        self._send(r.APP_ENVIRONMENT, slug=slug, body={"environment": environment})

    def app_logs(self, slug: str) -> Any:
        """Return the log of an application, as it comes."""
        return self._send(r.APP_LOGS, slug=slug)

    # --- Services ---------------------------------------------------------------------------------

    def services(self) -> list[m.ServiceSummary]:
        """Return the services of the account, deleted ones excepted."""
        return list(self._pages(r.SERVICES))

    def service(self, id: str) -> m.Service | None:
        """Return a service in full, or ``None`` when there is none of this id."""
        return self._or_absent(
            lambda: self._one(r.SERVICE, id=id),
            lambda: any(service.id == id for service in self.services()),
        )

    def metrics(self, ids: Sequence[str]) -> dict[str, m.Metrics | None]:
        """Return the live metrics by service id, ``None`` where the node cannot be reached."""
        found: dict[str, m.Metrics | None] = dict.fromkeys(ids)
        remaining = iter(ids)
        while batch := list(islice(remaining, METRICS_PER_CALL)):
            found.update(self._metrics_of(batch))
        return found

    def _metrics_of(self, ids: Sequence[str]) -> dict[str, m.Metrics | None]:
        """Return the metrics of at most :data:`METRICS_PER_CALL` services.

        What the platform says of an id that it does not know is not shown. Where it refuses all for one, such
        as a service deleted a moment ago, the others are asked for in smaller numbers.
        """
        try:
            answer = self._send(r.METRICS, query={"ids": ",".join(ids)})
        except Refused as error:
            if not isinstance(error, (BadRequest, NotFoundResponse)):
                raise
            half = len(ids) // 2
            return self._metrics_of(ids[:half]) | self._metrics_of(ids[half:]) if half else {}
        if not isinstance(answer, dict):
            raise UnexpectedAnswer(f"{r.METRICS}: expected an object by service id")
        told = {id: answer.get(id) for id in ids}
        model = r.METRICS.answer.model
        return {id: None if value is None else one(r.METRICS, model, value) for id, value in told.items()}

    def settings(self, id: str) -> m.Settings:
        """Return what can be changed on a game server or an application."""
        return self._one(r.SETTINGS, id=id)

    def set_network(self, id: str, is_public: bool) -> None:
        """Open a service to the Internet or close it. The container is recreated."""
        self._send(r.NETWORK, id=id, body={"isPublic": is_public})

    def set_scale(self, id: str, dimensions: m.Dimensions) -> None:
        """Give a service its whole wanted size."""
        self._send(r.SCALE, id=id, body=dimensions.model_dump(by_alias=True))

    def set_command(self, id: str, command: str) -> None:
        """Set the line that is launched at the next start; an empty one restores the original."""
        self._send(r.COMMAND, id=id, body={"command": command})

    def set_project(self, id: str, project_id: str) -> None:
        """Move a service into another project's network."""
        self._send(r.MOVE, id=id, body={"projectId": project_id})

    def power(self, id: str, signal: str) -> None:
        """Send ``start``, ``stop``, ``restart`` or ``kill``."""
        self._send(r.POWER, id=id, body={"signal": signal})

    def suspend(self, id: str) -> None:
        """Stop a service and bill its storage only."""
        self._send(r.SUSPEND, id=id)

    def resume(self, id: str) -> None:
        """Take a suspended service back into service."""
        self._send(r.RESUME, id=id)

    def delete_service(self, id: str) -> None:
        """Destroy a service with its disk and its backups."""

        def is_there() -> bool:
            service = self.service(id)  # a list may be cut, so that what is not on it need not be gone
            return service is not None and service.status not in ServiceStatus.DELETING_OR_DELETED

        self._delete(r.SERVICE_DELETE, is_there, id=id)

    # --- Files ------------------------------------------------------------------------------------

    def files(self, id: str, directory: str) -> list[m.FileEntry]:
        """Return the entries of a directory, its path relative to the service's root."""
        return list(self._pages(r.FILES, {"directory": directory}, id=id))

    def read_file(self, id: str, path: str) -> str:
        """Return the text of a file of at most 2 MB."""
        return self._one(r.FILE_CONTENTS, query={"path": path}, id=id).content

    def write_file(self, id: str, path: str, content: str) -> None:
        """Create a file or replace it whole."""
        self._send(r.FILE_WRITE, id=id, body={"path": path, "content": content})

    def create_directory(self, id: str, root: str, name: str) -> None:
        """Create the directory ``name`` in ``root``."""
        self._send(r.FILE_DIRECTORY, id=id, body={"root": root, "name": name})

    def rename_file(self, id: str, root: str, old: str, new: str) -> None:
        """Rename an entry of ``root``."""
        self._send(r.FILE_RENAME, id=id, body={"root": root, "from": old, "to": new})

    def delete_files(self, id: str, root: str, names: Sequence[str]) -> None:
        """Delete entries of ``root`` for good, in calls of at most 100 names."""
        remaining = iter(names)
        while batch := list(islice(remaining, FILES_PER_DELETE)):
            self._send(r.FILE_DELETE, id=id, body={"root": root, "files": batch})

    # --- Backups and snapshots --------------------------------------------------------------------

    def backups(self, id: str) -> list[m.Backup]:
        """Return the backups of a service."""
        return list(self._pages(r.BACKUPS, id=id))

    def create_backup(self, id: str, name: str) -> None:
        """Begin a backup; the list tells when it is complete."""
        self._send(r.BACKUP_CREATE, id=id, body={"name": name})

    def restore_backup(self, id: str, backup_id: str) -> None:
        """Put a backup's data back in place of the service's."""
        self._send(r.BACKUP_RESTORE, id=id, backup_id=backup_id)

    def delete_backup(self, id: str, backup_id: str) -> None:
        """Delete a backup."""
        with self._unless_listed(lambda: any(backup.id == backup_id for backup in self.backups(id))):
            self._send(r.BACKUP_DELETE, id=id, backup_id=backup_id)

    def snapshots(self, id: str) -> list[m.Snapshot]:
        """Return the snapshots of a service."""
        return list(self._pages(r.SNAPSHOTS, id=id))

    def create_snapshot(self, id: str, name: str) -> None:
        """Take a snapshot."""
        self._send(r.SNAPSHOT_CREATE, id=id, body={"name": name})

    def roll_back(self, id: str, name: str) -> None:
        """Take a service back to a snapshot."""
        self._send(r.SNAPSHOT_ROLLBACK, id=id, name=name)

    def delete_snapshot(self, id: str, name: str) -> None:
        """Delete a snapshot."""
        with self._unless_listed(lambda: any(snapshot.name == name for snapshot in self.snapshots(id))):
            self._send(r.SNAPSHOT_DELETE, id=id, name=name)

    # --- Journals, activity, consumption ----------------------------------------------------------

    def logs(self, id: str, lines: int = 100) -> list[str]:
        """Return the last 1 to 100 lines of a service's log."""
        return self._one(r.LOGS, query={"lines": lines}, id=id).lines

    def events(self, id: str, limit: int | None = None) -> list[m.Event]:
        """Return the activity of a service, the newest first, at most ``limit`` entries.

        In which order the platform lists events is not shown. Where the oldest come first, all pages are
        read; where the first ones are of one moment, so many that another moment tells.
        """
        found = self._pages(r.EVENTS, id=id)
        events = list(islice(found, limit and max(limit, 2)))
        while not is_rising(events) and not is_rising(events[::-1]):
            more = next(found, None)
            if more is None:
                return events[:limit]
            events.append(more)
        return newest_first([*events, *found] if is_rising(events) else events)[:limit]

    def usage(self, id: str, days: int | None = None) -> m.Usage:
        """Return the spend of a service over a window of ``days``."""
        return self._one(r.USAGE, query={"range": days}, id=id)

    def billed_totals(self, id: str, hour: str, day: str, week: str, month: str) -> m.BilledTotals:
        """Return the spend of a service since four moments, given as timestamps."""
        query = {"hourStart": hour, "dayStart": day, "weekStart": week, "monthStart": month}
        return self._one(r.BILLED_TOTALS, query=query, id=id)

    # --- Billing ----------------------------------------------------------------------------------

    def billing_overview(self) -> m.BillingOverview:
        """Return balance, spend and forecast."""
        return self._one(r.BILLING_OVERVIEW)

    def wallet(self) -> m.Wallet:
        """Return the money on the account and its currency."""
        return self._one(r.WALLET)

    def transactions(self, query: dict[str, Any] | None = None) -> Any:
        """Return a page of transactions, as it comes."""
        return self._send(r.TRANSACTIONS, query=query)

    def daily_spend(self, query: dict[str, Any] | None = None) -> Any:
        """Return a page of the spend of each day of this month, as it comes."""
        return self._send(r.DAILY_SPEND, query=query)

    def invoices(self, query: dict[str, Any] | None = None) -> Any:
        """Return a page of the invoices, as it comes."""
        return self._send(r.INVOICES, query=query)

    def statements(self, query: dict[str, Any] | None = None) -> Any:
        """Return a page of the monthly statements, as it comes."""
        return self._send(r.STATEMENTS, query=query)

    def statement(self, period: str) -> Any:
        """Return the statement of a month ``YYYY-MM``, as it comes."""
        return self._send(r.STATEMENT, period=period)

    # --- Projects ---------------------------------------------------------------------------------

    def projects(self) -> list[m.Project]:
        """Return the projects of the account."""
        return list(self._pages(r.PROJECTS))

    def create_project(self, name: str) -> None:
        """Create a project."""
        self._send(r.PROJECT_CREATE, body={"name": name})

    def rename_project(self, id: str, name: str) -> None:
        """Give a project another name."""
        self._send(r.PROJECT_RENAME, id=id, body={"name": name})

    def delete_project(self, id: str) -> None:
        """Delete a project; its services join the default project."""
        self._delete(r.PROJECT_DELETE, lambda: self.project(id) is not None, id=id)

    def project(self, id: str) -> m.ProjectDetail | None:
        """Return a project with its services, or ``None`` when there is none of this id."""
        return self._or_absent(
            lambda: self._one(r.PROJECT, id=id),
            lambda: any(project.id == id for project in self.projects()),
        )

    def project_spend(self, id: str, query: dict[str, Any] | None = None) -> m.ProjectSpend:
        """Return what a project cost. The query parameters are not shown by the specification."""
        return self._one(r.PROJECT_SPEND, query=query, id=id)

    def project_graph(self, id: str) -> m.ProjectGraph:
        """Return the services of a project and what refers to what."""
        return self._one(r.PROJECT_GRAPH, id=id)

    # --- Ordering ---------------------------------------------------------------------------------

    def quote(self, order: dict[str, Any]) -> m.Quote:
        """Return the price of an order without placing it. ``order`` has the fields of an order."""
        return self._one(r.QUOTE, body=order)

    def order(self, order: dict[str, Any]) -> m.Order:
        """Place an order. Its answer is the only one that holds the generated secrets."""
        return self._one(r.ORDER, body=order)

    # --- SSH keys and SFTP ------------------------------------------------------------------------

    def ssh_keys(self) -> list[m.SshKey]:
        """Return the SSH keys of the account."""
        return list(self._pages(r.SSH_KEYS))

    def add_ssh_key(self, name: str, public_key: str) -> None:
        """Register a public key."""
        self._send(r.SSH_KEY_ADD, body={"name": name, "publicKey": public_key})

    def delete_ssh_key(self, id: str) -> None:
        """Remove a public key; it opens nothing from then on."""
        self._delete(r.SSH_KEY_DELETE, lambda: any(key.id == id for key in self.ssh_keys()), id=id)

    def sftp(self, id: str) -> m.SftpAccess:
        """Return where and as whom a service's files are reached."""
        return self._one(r.SFTP, id=id)

    def new_sftp_password(self, id: str) -> m.SftpPassword:
        """Generate an SFTP password, which ends the one before."""
        return self._one(r.SFTP_PASSWORD, id=id)

    # --- Database tunnel --------------------------------------------------------------------------

    def database_connection(self, id: str) -> m.DatabaseConnection:
        """Return how neighbours reach a database, password included."""
        return self._one(r.CONNECTION, id=id)

    def database(self, id: str) -> m.DatabaseInventory:
        """Return what is in a database."""
        return self._one(r.DATABASE, id=id)

    def database_rows(self, id: str, schema: str, table: str, page: int = 0) -> m.QueryResult:
        """Return a page of 50 rows of a table, counted from page 0."""
        query = {"schema": schema, "table": table, "page": page}
        return self._one(r.DATABASE_ROWS, query=query, id=id)

    def database_query(self, id: str, sql: str) -> m.QueryResult:
        """Run a statement. It is cut at 15 seconds and never sent twice."""
        return self._one(r.DATABASE_QUERY, body={"sql": sql}, id=id)


def is_gone(error: Refused, is_there: Callable[[], bool]) -> bool:
    """Tell whether what the platform refuses to read is gone; what cannot be read is not."""
    if isinstance(error, TokenRejected):
        return False
    try:
        return not is_there()
    except HostedError:
        return False


def check_gone(error: Refused, is_there: Callable[[], bool]) -> None:
    """Raise the refusal of a deletion again, unless the item is gone: an earlier try may have deleted it.

    :raises Refused: the same one; where nobody can look, it says that this is unknown.
    """
    if isinstance(error, TokenRejected):
        raise error
    try:
        there = is_there()
    except HostedError as failed:
        error.message += f". Whether it is still there is unknown: {failed.message}"
        error.args = (error.message,)
        raise error from failed
    if there:
        raise error


def is_rising(events: Sequence[m.Event]) -> bool:
    """Tell whether an event comes right after an older one."""
    moments = [event.at for event in events if event.at]
    return any(before < after for before, after in pairwise(moments))


def newest_first(events: list[m.Event]) -> list[m.Event]:
    """Return events in the order of their moments; those of one moment as the list has them.

    A list that begins with the oldest is turned round as a whole. One that is in neither order is sorted.
    """
    if not is_rising(events):
        return events
    if not is_rising(events[::-1]):
        return events[::-1]
    return sorted(events, key=lambda event: event.at or "", reverse=True)
