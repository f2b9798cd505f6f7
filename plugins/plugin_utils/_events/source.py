# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The event source: polls the platform in a thread, and puts events on the queue of ansible-rulebook.

It needs the Python of ansible-rulebook and the libraries of the collection, but not Ansible itself.
"""

from __future__ import annotations

import asyncio
import logging
import random
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from ...module_utils._api.client import Client
from ...module_utils._api.errors import AccessDenied, ConfigurationError, HostedError
from ...module_utils._api.libraries import require
from ...module_utils._api.text import Redactor, harmless
from ...module_utils._resources.account_events.changes import advance, unmatched_patterns
from ...module_utils._resources.account_events.observer import Drift, Observer
from ...module_utils._resources.account_events.state import (
    SourceOptions,
    State,
    StateFile,
    expanded,
    open_state,
    read_arguments,
    record_of,
)
from ...module_utils._resources.blueprint_info import BlueprintInfoOptions, compared
from ...module_utils._resources.shared.account import Account, Reads
from ...module_utils._resources.shared.connecting import connection, is_encrypted, owner_of
from ...module_utils._resources.shared.plan import Task
from ...module_utils._resources.shared.task_errors import Invalid

NAME = "hosted.services.account"
LOG = logging.getLogger(NAME)
TAKEN_INTERVAL = 0.02
"""How often to look whether an event was taken from the queue, in seconds."""
GROWTH = 1.5
"""By what the pause grows with each poll in which nothing changed."""
LONGEST_AFTER_FAILURE = 600.0
LONGEST_ASKED = 3600.0
"""The longest pause that the platform may ask for."""
LIMITED = (
    "the token may only read applications (scope REGISTRY). Events come from their list alone: deploys, "
    "verdicts, statuses. A token of scope FULL shows the rest"
)
UNMATCHED = "backup_services: no service has a name like {!r}, so nobody is told if its backups are too old"
T = TypeVar("T")
ACTIVE = re.compile(
    r"""(?P<words>            # kept: "Map (new)", also in a message, calls none of Ansible's plugins
          (?:^|(?<=\w\ )|(?<=\w\ ['"]))(?!(?:lookup|query|q)\ )\w+\ \()
    | [{(]                    # a template or a dictionary; a call
    | [\\]                    # a character that a literal hides
    | =                       # an argument of a module
    | \#(?!\d)                # "#jinja2:", but not "Map #1"
    | \$(?=ANSIBLE_VAULT)""",
    re.VERBOSE,
)
TWIN = 0xFEE0
"""How far the full-width twin of a character of ASCII is."""


async def watch(queue: Any, arguments: Mapping[str, Any]) -> None:
    """Send events to the queue of ansible-rulebook until this is cancelled.

    :raises HostedError: at the start alone, if an argument is wrong or the token is not accepted.
    """
    require()
    options = read_arguments(arguments)
    if options.token is None and options.token_file and is_encrypted(expanded(options.token_file)):
        raise ConfigurationError(
            f"token_file {options.token_file!r} is encrypted with ansible-vault. ansible-rulebook decrypts "
            "values in the rulebook and in files of variables, but no other files: give the token in token"
        )
    with open_state(record_of(options)) as file:
        poller = Poller(options, file.state.owner)
        try:
            await in_thread(poller.begin)
            await Source(poller, file, arguments.get("eda_feedback_queue")).run(queue)
        finally:
            poller.close()


async def in_thread(call: Callable[..., T], *arguments: Any) -> T:
    """Return what a call in a thread gives. If this is cancelled, wait for the call first.

    Otherwise it might still write to the state file when that belongs to another source.
    """
    task = asyncio.ensure_future(asyncio.to_thread(call, *arguments))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


class Poller:
    """The account as the token opens it. Reads the token again once it is not accepted any more."""

    def __init__(self, options: SourceOptions, owner: str) -> None:
        self.options = options
        self.owner = owner
        self.unmatched: list[str] = []
        """The patterns of backup_services that matched nothing at the last poll."""
        self._connect()
        for warning in self.settings.warnings:
            LOG.warning("%s: %s", NAME, warning)

    def _connect(self) -> None:
        self.settings = connection(self.options, "event source account")
        self.checked = False
        """Whether it is known whom the token belongs to."""
        account = Account(Client(self.settings, LOG.debug))
        self.observer = Observer(account, self.options, self._compare, Redactor([self.settings.token]))

    def _compare(self, client: Client, path: str) -> Drift:
        """Compare a blueprint with its project, as module ``blueprint_info`` does."""
        options = BlueprintInfoOptions.from_ansible({**vars(self.options), "src": path})
        task = Task(client, options, check_mode=True, reads=Reads())
        with task.closing:
            found = compared(task)
        return Drift(found["project"], [each for each in found["differences"] if each["drift"]])

    def begin(self) -> None:
        """Find out whether the token is accepted.

        :raises HostedError: if it is not. A platform that cannot be reached is waited for later.
        """
        try:
            self._check()
        except AccessDenied as error:
            raise error.append(". Check token, token_file, or the environment of ansible-rulebook") from None
        except ConfigurationError:
            raise
        except HostedError as error:
            LOG.warning("%s: the platform cannot be read, and will be tried again: %s", NAME, error.message)

    def _check(self) -> None:
        if self.checked:
            return
        owner = owner_of(self.observer.account.client.whoami().email)
        if owner and self.owner and owner != self.owner:
            raise ConfigurationError(
                "the token belongs to another account than the one that the state file is about: to it, all "
                "services would be deleted. Name another file in state_file"
            )
        self.owner, self.checked = owner or self.owner, True

    def look(self, before: State) -> State:
        try:
            return self._look(before)
        except AccessDenied:
            if connection(self.options, "event source account").token == self.settings.token:
                raise
            self.close()  # another token is in the file by now
            self._connect()
            return self._look(before)

    def _look(self, before: State) -> State:
        self._check()
        now = datetime.now(UTC)
        seen = self.observer.observe(before, now)
        if seen.services is not None:
            self.unmatched = unmatched_patterns(self.options, seen.services.values())
        known = before.model_copy(update={"owner": self.owner})
        return advance(known, seen, now, self.options, self.settings.base_url)

    def close(self) -> None:
        self.observer.account.client.close()


class Source:
    """Polls an account, and delivers its events."""

    def __init__(self, poller: Poller, file: StateFile, feedback: Any = None) -> None:
        self.poller = poller
        self.file = file
        self.feedback = feedback
        self.pause = poller.options.min_interval
        """Seconds to the next poll: longer while nothing happens, or calls fail."""
        self.failures = 0
        self.told: set[str] = set()
        """The problems that were logged, and last."""
        if poller.options.feedback and feedback is None:
            LOG.warning("%s: this ansible-rulebook gives no feedback; update it, or leave feedback out", NAME)

    async def run(self, queue: Any) -> None:
        """Poll and deliver for ever. What an earlier start has left is delivered first."""
        await self.deliver(queue)
        while True:
            await self.turn()
            await self.deliver(queue)
            await asyncio.sleep(self.pause)

    async def turn(self) -> None:
        """Poll once. The state with its events is on disk when this ends, or nothing happened."""
        before = self.file.state
        try:
            after = await in_thread(self.poller.look, before)
            if after != before:
                await in_thread(self.file.save, after)
        except HostedError as error:
            self.fail(error)
        except Exception as error:  # a defect, whose text may hold a secret; the next poll may do better
            self.fail(ConfigurationError(f"a defect of the collection ({type(error).__name__})"))
            LOG.debug("%s: a defect", NAME, exc_info=True)
        else:
            self.succeed(before, after)

    def fail(self, error: HostedError) -> None:
        """Wait twice as long after each poll that fails. Say so at once, and then after twice as many."""
        self.failures += 1
        options = self.poller.options
        longest = max(options.max_interval, LONGEST_AFTER_FAILURE)
        pause = min(options.min_interval * 2 ** min(self.failures, 20), longest)
        pause *= (1 + random.random()) / 2  # noqa: S311 - no secret; so that sources part
        self.pause = max(pause, min(error.pause_asked or 0.0, LONGEST_ASKED))
        if self.failures & (self.failures - 1):
            return
        what = "nothing new is sent" if isinstance(error, Invalid) else "the account cannot be read"
        count = "" if self.failures == 1 else f" (failed {self.failures} times)"
        LOG.warning("%s: %s: %s%s, next try in %.0f s", NAME, what, error.message, count, self.pause)

    def succeed(self, before: State, after: State) -> None:
        """Adapt the pause after a poll, and say what could not be read. Each problem is logged once."""
        observer, options = self.poller.observer, self.poller.options
        problems = {error.message: error for error in observer.problems}
        there = before.known_services
        moved = after.sequence != before.sequence or any(
            id not in there or (memory.status, memory.state) != (there[id].status, there[id].state)
            for id, memory in after.known_services.items()
        )
        if self.failures:
            LOG.warning("%s: the account can be read again", NAME)
        begun_anew = moved or self.failures
        pause = options.min_interval if begun_anew else min(self.pause * GROWTH, options.max_interval)
        asked = max((error.pause_asked or 0.0 for error in problems.values()), default=0.0)
        self.pause, self.failures = max(pause, min(asked, LONGEST_ASKED)), 0
        news = [f"not read: {message}" for message in problems]
        news += [LIMITED] if observer.limited_since else []
        news += [UNMATCHED.format(pattern) for pattern in self.poller.unmatched]
        for line in news:
            if line not in self.told:
                LOG.warning("%s: %s", NAME, line)
        # What the token may not read is tried once an hour, and is not news then.
        self.told = {*news, *(self.told if observer.limited_since else ())}

    async def deliver(self, queue: Any) -> None:
        """Put the events on the queue, oldest first, and note each that was taken."""
        while (event := self.file.next_event()) is not None:
            id = str(event["id"])
            # ansible-rulebook would give each delivery an id of its own.
            await queue.put({**inert(event), "meta": {"uuid": id}})
            while self.feedback is not None:  # until the rule engine has it, if the rulebook asks for that
                taken = await self.feedback.get()
                if isinstance(taken, Mapping) and taken.get("id") == id:
                    break
            # What is still on the queue is lost with the process. That of ansible-rulebook holds one event,
            # and filters of the rulebook wrap it. A queue without a limit is there to keep events.
            inner = getattr(queue, "queue", queue)
            while getattr(inner, "maxsize", 0) and not inner.empty():
                await asyncio.sleep(TAKEN_INTERVAL)
            try:
                await in_thread(self.file.note_delivered, id)
            except Invalid as error:
                LOG.warning("%s: a delivery cannot be noted, a start may repeat it: %s", NAME, error)


# --- Texts that nothing evaluates, wherever a rulebook hands them on ------------------------------------
# ansible-rulebook renders an argument, reads what comes out as a literal of Python, and decrypts it if it is
# a vault's. Ansible then splits text into arguments, takes it for a template, and evaluates conditions: all
# extra variables are trusted. So the characters that any of them needs become their full-width twins, each by
# itself, so that texts stay inert when they are joined.


def inert(value: Any) -> Any:
    """Return an event, or a part of it, with every text in it such that nothing evaluates it."""
    if isinstance(value, str):
        shown = "".join(char if harmless(char) and char not in "\n\t" else " " for char in value)
        return ACTIVE.sub(lambda found: found["words"] or chr(ord(found[0]) + TWIN), shown)
    if isinstance(value, dict):
        return {key: inert(item) for key, item in value.items()}
    if isinstance(value, list):
        return [inert(item) for item in value]
    return value
