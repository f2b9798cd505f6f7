# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans as data: a resource makes a plan; the runner shows or applies it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, get_args

from ..._api.client import Client
from ..._api.errors import OF_A_CALL, HostedError
from ..._api.platform_clock import CLOCKS_DIFFER
from ..._api.text import printable
from .account import Account, Reads
from .budget import Guard
from .identify import as_sentence
from .money import NEW, PRICED, Commitment, Cost
from .options import (
    Options,
    WaitOptions,
    argument_spec_of,
    converters_of,
    is_carried,
    names_with,
    read_as,
    shared_arguments,
)
from .run_memory import FORESEEN, run_record
from .store import state_key
from .waiting import MAX_PARALLEL

if TYPE_CHECKING:  # Python itself knows defaults of type variables only from 3.13 on
    from typing_extensions import TypeVar

    OptionsT_co = TypeVar("OptionsT_co", bound=Options, default=Options, covariant=True)
    OwnOptions = TypeVar("OwnOptions", bound=Options, default=Any)
else:
    from typing import TypeVar

    OptionsT_co = TypeVar("OptionsT_co", covariant=True)
    OwnOptions = TypeVar("OwnOptions")

T = TypeVar("T")
NOTHING_DONE: Final = object()
"""What a step returns that found nothing left to do: it is not among the actions, and changed nothing."""
SERVICE_ID = "hosted_service_id"
"""The host variable that holds the id of its service, whatever the prefix of the others."""


@dataclass
class Effects:
    """What a task has done so far. The runner, the client and the resource add to it."""

    actions: list[str] = field(default_factory=list)
    """What was changed, a sentence for each step."""
    begun: list[str] = field(default_factory=list)
    """Those of the actions that the platform was still at when the task gave up waiting."""
    unknown: list[str] = field(default_factory=list)
    """Steps of which nobody knows whether they changed anything. They are not among the actions."""
    writes: int = 0
    """How many calls that may change something the platform has accepted."""
    moves: list[Commitment] = field(default_factory=list)
    """What was done that moves money."""
    unsure_moves: list[Commitment] = field(default_factory=list)
    """What may have been done that moves money."""
    billed: Cost | None = None
    """The price that the platform bills, where it is not the one that was announced."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Keys that the result carries even when a later step fails, such as secrets shown only once."""
    nothing_changed: bool = False
    """Whether the steps turned out to change nothing, where only carrying them out tells."""

    def changed_before(self, error: Exception | None) -> bool:
        """Tell whether a call failed after others of its step. Other errors say what was changed."""
        return isinstance(error, OF_A_CALL) and self.writes > 0

    def wrote(self) -> None:
        """Record that the platform accepted a call that may change something."""
        self.writes += 1

    def cost(self, planned: Cost) -> Cost | None:
        """Return what was done to the price; ``None`` if nothing was, an unknown one if that is not sure."""
        if self.unsure_moves:
            return replace(planned, after=None)
        if self.billed is not None:
            return replace(planned, after=self.billed.after)
        if not self.moves:
            return None
        # What was ordered has its id once that is done.
        services = {made.id or self.facts.get("service_id") or made.key for made in self.moves}
        # What is made by a move cost nothing before it.
        since = [Decimal(0) if made.kind in NEW else made.before for made in self.moves]
        if len(services) == 1 and planned.before == since[0]:  # the price is that of this service alone
            return replace(planned, after=self.moves[-1].forecast)
        amounts = [planned.before, *(made.forecast for made in self.moves)]
        amounts += [None if rate is None else -rate for rate in since]
        known = [amount for amount in amounts if amount is not None]
        return replace(planned, after=sum(known, Decimal(0)) if len(known) == len(amounts) else None)

    def branch(self) -> Effects:
        """Return the effects for a part of the task. Facts are always recorded in the whole."""
        return Effects(facts=self.facts)

    def absorb(self, part: Effects) -> None:
        """Add the effects of a part of the task."""
        self.actions += part.actions
        self.begun += part.begun
        self.unknown += part.unknown
        self.writes += part.writes
        self.moves += part.moves
        self.unsure_moves += part.unsure_moves


@dataclass(frozen=True)
class Composition:
    """What a larger plan asks of the tasks that are parts of it. A task by itself has the defaults."""

    part: bool = False
    """Whether the plan is a part of a larger one, which creates what is missing: nobody need be told."""
    unmade: bool = False
    """Whether the task is on a service that is still to be made, as is all that it lacks. Check mode only."""
    copies: bool = False
    """Whether what is ordered is a copy, whose names say nothing of those of other services."""
    creating: Callable[[], AbstractContextManager[None]] = nullcontext
    """Entered around the call that creates a service, so that a larger plan can remember it before."""
    adopting: Callable[[str], None] = lambda id: None
    """Asked with its id before what is there already is taken for what the task creates; may raise."""
    created: Callable[[str], None] = lambda id: None
    """Told the id of a service that was created, as soon as something is known to have it."""


@dataclass
class Task(Generic[OptionsT_co]):
    """The context of a plan. It has no client if :meth:`Resource.needs_api` is false.

    Helpers declare the options that they need: a ``Task[WaitOptions]`` is any task with the waiting options.
    """

    client: Client
    options: OptionsT_co
    check_mode: bool = False
    progress: Callable[[str], None] = lambda line: None
    warnings: list[str] = field(default_factory=list)
    effects: Effects = field(default_factory=Effects)
    closing: ExitStack = field(default_factory=ExitStack)
    """What is open from the plan to the last step, such as a connection; closed when the task ends."""
    reads: Reads = field(default_factory=partial(Reads, kept=False))
    """What was read of the account, kept while the task plans."""
    memory: dict[str, Any] = field(default_factory=dict)
    """What was read and does not change while the task runs."""
    guard: Guard = field(default_factory=Guard)
    composition: Composition = field(default_factory=Composition)
    tell: Callable[[Client, Step, str], None] = lambda client, step, outcome: None
    """Told of each change, with what became of it, for the history."""

    @property
    def account(self) -> Account:
        """The account, to read from."""
        return Account(self.client, self.reads, self)

    @property
    def foreseen(self) -> dict[str, str]:
        """What earlier tasks of the run would have made, in check mode, by its name.

        A release is named by slug and tag, with its digest, and what gets a new name by that, with its id.
        """
        record = (
            run_record(FORESEEN, state_key(self.options.base_url, "foreseen")) if self.check_mode else None
        )
        return record.read() if record else {}

    def expect_created(self, error: HostedError, name: str) -> None:
        """In check mode, go on where ``name`` is missing: the play may make it before. Else raise ``error``.

        Warns unless an earlier task of the run planned it, or named it and warned, or it belongs to a service
        that is still to be made itself.
        """
        if not self.check_mode:
            raise error
        if not (self.composition.part or self.composition.unmade) and name not in self.foreseen:
            self.warn(
                f"{as_sentence(error.message)} That is right only if the play makes it before this task"
            )

    def warn(self, message: str) -> None:
        """Warn the user. Each message is shown once."""
        shown = printable(message)
        if shown not in self.warnings:
            self.warnings.append(shown)

    def platform_now(self) -> datetime | None:
        """Return the platform's time, if a response has a ``Date``. Warns if this machine's differs."""
        now, here = self.client.clock.shown(), datetime.now(UTC)
        if now is not None and abs(now - here) > CLOCKS_DIFFER:
            hours, minutes = divmod(round(abs(now - here).total_seconds() / 60), 60)
            far = f"{hours} h {minutes} min {'behind' if here < now else 'ahead of'}"
            told = f"the clock of this machine is {far} the platform's, by which ages are told"
            self.warn(self.memory.setdefault("clocks differ", told))
        return now


@dataclass(eq=False)
class Branch:
    """An independent part of a plan, with effects of its own. Its error stops only its own steps."""

    task: Task[Any]
    error: HostedError | None = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False)
class Step:
    """One change: a sentence for people, and the call that makes it."""

    summary: str
    run: Callable[[], Any]
    needs: Sequence[Step] | None = None
    """The steps that have to be done first; if not said, the step before it in the plan."""
    regardless: bool = False
    """Whether it runs once those that it needs have ended, even if some of them failed."""
    changes: bool = True
    """Whether it changes anything. A step that only waits or reads does not make a task changed."""
    branch: Branch | None = None
    commitment: Commitment | None = None
    """What it does to the running rate, for the budget and the result."""

    @property
    def commits(self) -> list[Commitment]:
        """What it is going to commit, as far as that is known."""
        return [] if self.commitment is None else [self.commitment]


@dataclass(frozen=True, eq=False)
class Expansion(Step):
    """A step whose ``run`` returns further steps, which ``summary`` represents until then."""

    run: Callable[[], Sequence[Step]]
    expects: Sequence[Commitment] = ()
    """What the further steps are expected to commit."""

    @property
    def commits(self) -> list[Commitment]:
        """That with its further steps."""
        return [*super().commits, *self.expects]


@dataclass
class Plan:
    """The state before, the state after, the steps between them, and the cost.

    ``before`` and ``after`` hold only what the task manages; an empty one means that nothing exists. Text is
    shown in a diff unchanged.
    """

    result: Any
    """What is returned under the resource's result key: the expected state if there are steps."""
    steps: Sequence[Step] = ()
    reread: Callable[[], Any] | None = None
    """Returns the result after the steps."""
    before: Mapping[str, Any] | str = field(default_factory=dict)
    after: Mapping[str, Any] | str = field(default_factory=dict)
    cost: Cost | None = None
    failure: Callable[[], HostedError | None] | None = None
    """Returns the combined error of the branches after the steps."""
    max_parallel: int | None = MAX_PARALLEL
    subject: str = ""
    """The names of what it is about, for the header of a diff; otherwise the options tell."""
    budgeted_whole: bool = False
    """Whether nothing is begun unless a budget holds all of it. Otherwise each branch is refused alone."""

    @property
    def commitments(self) -> list[Commitment]:
        """What the plan is going to commit, as far as that is known."""
        return [made for step in self.steps for made in step.commits]

    @property
    def moves(self) -> list[Commitment]:
        """What is going to move money."""
        changes = [made for step in self.steps if step.changes for made in step.commits]
        return [made for made in changes if made.kind in PRICED]

    @property
    def actions(self) -> list[str]:
        """The planned changes, a sentence for each step."""
        return [step.summary for step in self.steps if step.changes]

    @property
    def needs(self) -> Mapping[Step, set[Step]]:
        """The steps that each step needs: those that it names, or else the previous one."""
        needs, last = dict[Step, set[Step]](), set[Step]()
        for step in self.steps:
            needs[step] = last if step.needs is None else set(step.needs)
            if not needs[step] <= needs.keys():
                raise ValueError(f"the step {step.summary!r} needs one that does not come before it")
            last = {step}
        return needs

    @property
    def changed(self) -> bool:
        """Whether anything will change, as far as that is known."""
        return any(step.changes for step in self.steps)

    def become(self, other: Plan) -> None:
        """Replace the shown state by that of another plan, which was made while this one was applied."""
        self.result, self.reread, self.cost = other.result, other.reread, other.cost
        self.before, self.after, self.subject = other.before, other.after, other.subject


def after_waiting(summary: str, wait: Callable[[], T], then: Callable[[T], Plan], until: Plan) -> Plan:
    """Return a plan that waits, and then makes a plan of what ``wait`` returns. ``until`` is shown before."""
    plan, waited = replace(until), list[T]()

    def decide() -> Sequence[Step]:
        later = then(waited[0])
        plan.become(later)
        return later.steps

    plan.steps = [
        Step(summary, lambda: waited.append(wait()), changes=False),
        Expansion("decide what is left to do", decide, changes=False),
    ]
    return plan


def union(branches: Iterable[tuple[Branch, Sequence[Step]]], after: Sequence[Step] = ()) -> list[Step]:
    """Return the steps of all branches as one graph. Each depends on ``after``, and none on another."""
    united: list[Step] = []
    for branch, steps in branches:
        renewed: dict[Step, Step] = {}
        before = after
        for step in steps:
            named = [renewed[needed] for needed in step.needs or ()]
            needs = before if step.needs is None else named or after
            renewed[step] = replace(step, needs=needs, branch=branch)
            before = (renewed[step],)
        united += renewed.values()
    return united


class Resource(ABC, Generic[OwnOptions]):
    """One kind of item on the platform: its options, and how to plan for it. Stateless.

    A subclass names its options: ``class SshKeyResource(Resource[SshKeyOptions])``. The class variables from
    ``options`` on are derived from them.
    """

    result_key: ClassVar[str]
    rules: ClassVar[dict[str, Any]] = {}
    """What must or must not come together: ``required_one_of`` and its kin."""
    api_option: ClassVar[str | None] = None
    """The option without which a task calls nobody. If there is none, every task calls the platform's API."""
    name: ClassVar[str]
    """That of its module and its file."""

    read_options: ClassVar[staticmethod[[Mapping[str, Any]], Any]]
    """Returns the typed options for arguments that Ansible has validated."""
    options: ClassVar[dict[str, Any]] = {}
    """The options in Ansible's form, those of the connection and of waiting excepted."""
    aliases: ClassVar[Mapping[str, str]] = {}
    """The other names of options, each with the option that it stands for."""
    selectors: ClassVar[frozenset[str]]
    """The options that identify, narrow or limit what the task touches, and must hold something."""
    filled_options: ClassVar[frozenset[str]] = frozenset()
    """The options that may be null and must otherwise hold something."""
    waits: ClassVar[bool] = False
    """Whether there is something to wait for, and so the options for it."""
    secret_options: ClassVar[frozenset[str]] = frozenset()
    """Options whose values are never shown."""
    host_options: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Where the task works on the very host of the play: options and the host variables that fill them."""
    places: ClassVar[Collection[str]] = ()
    """Options that name what to work on. A task that has one, whatever it holds, uses nothing of the host."""
    carried_options: ClassVar[frozenset[str]] = frozenset()
    """Options that are no arguments: the action hands on in them what it has read for the module."""
    paths: ClassVar[Mapping[str, bool]] = {}
    """The options that name files or folders of this machine, and whether a role may bring these along."""

    def __init_subclass__(cls) -> None:
        """Derive what the options say, as soon as the resource is there: before Ansible forks its workers."""
        super().__init_subclass__()
        cls.name = vars(cls).get("name") or cls.__module__.rpartition(".")[2]
        named: Any = [each for base in vars(cls).get("__orig_bases__", ()) for each in get_args(base)]
        found = next((each for each in named if isinstance(each, type)), None)
        if found is None:  # a base that leaves its options open, or a module with those of its base
            return
        spec, waiting = argument_spec_of(found), {each.name for each in fields(WaitOptions)}
        own = [each for each in fields(found) if each.name in spec and each.name not in waiting]
        read, targets = names_with(fields(found), "reads_file"), names_with(own, "names_target")
        cls.read_options, cls.waits = staticmethod(partial(read_as, found)), issubclass(found, WaitOptions)
        cls.options = {each.name: spec[each.name] for each in own}
        cls.aliases = {alias: each.name for each in own for alias in each.metadata.get("aliases", ())}
        cls.selectors, cls.filled_options = names_with(own, "selects"), names_with(own, "filled")
        cls.secret_options = names_with(own, "secret")
        filled_in = {each.name: each.metadata.get("host_variables") for each in own}
        cls.host_options = {name: tuple(variables) for name, variables in filled_in.items() if variables}
        cls.places = {*targets, *(alias for alias, name in cls.aliases.items() if name in targets)}
        cls.carried_options = frozenset(each.name for each in fields(found) if is_carried(each.name))
        cls.paths = {name: name in read for name, entry in spec.items() if entry["type"] == "path"}
        converters_of(found)

    def works_on_host(self, given: Mapping[str, Any]) -> bool:
        """Tell whether a task works on the play's host: it selects nothing else."""
        return not any(place in given for place in self.places)

    def needs_api(self, options: Mapping[str, Any]) -> bool:
        """Tell whether the task calls the platform's API, and so needs its URL and a token."""
        return self.api_option is None or bool(options.get(self.api_option))

    def secret_values(self, options: Mapping[str, Any]) -> Any:
        """Return what of the secret options is never shown, as text or nested data."""
        return [options.get(name) for name in self.secret_options]

    def redacted_values(self, options: Mapping[str, Any]) -> Sequence[str]:
        """Return values of secret options that no key of a result hides: they are redacted everywhere."""
        return []

    def local_paths(self, arguments: Mapping[str, Any]) -> Mapping[str, bool]:
        """Return :attr:`paths`, where other arguments decide which options are among them.

        It may refuse what only the arguments as written show, such as the slash at the end of a path.
        """
        return self.paths

    @abstractmethod
    def plan(self, task: Task[OwnOptions]) -> Plan:
        """Read the platform and return the plan. Changes nothing."""


def plan_with(
    task: Task[Any], resource: Resource[Any], given: Mapping[str, Any], effects: Effects | None = None
) -> Plan:
    """Return the plan of another module for a part of the task."""
    options = resource.read_options({**shared_arguments(task.options), **given})
    composition = replace(task.composition, part=True)
    effects = effects or task.effects
    return resource.plan(replace(task, options=options, composition=composition, effects=effects))
