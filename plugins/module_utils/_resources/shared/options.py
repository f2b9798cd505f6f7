# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options with types: each resource declares its own as a dataclass, and all else is derived from that.

A type hint gives Ansible's type, a default its default (a field without one is required), and :func:`option`
takes what a hint cannot say. From that come the argument spec, the selectors, the secrets, the files to
read, and the variables of a host that fill an option.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from decimal import Decimal
from functools import cache, partial
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    NewType,
    Self,
    TypedDict,
    TypeVar,
    Union,
    Unpack,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from .money import read_amount
from .task_errors import Invalid

T = TypeVar("T")
Converter = Callable[[Any], Any]
FilePath = NewType("FilePath", str)
"""A path on this machine: Ansible expands ``~`` and variables of the environment in it."""

MaxParallel = NewType("MaxParallel", int)
"""How many things are worked on at the same time at most. Users may write ``auto``, which is ``None``."""
AUTO = "auto"
MaxMonthly = NewType("MaxMonthly", Decimal)
"""What something may cost a month at most. Users write it as text: YAML would round a number."""

PLAIN_TYPES: dict[Any, str] = {
    str: "str",
    bool: "bool",
    int: "int",
    float: "float",
    dict: "dict",
    FilePath: "path",
    MaxParallel: "str",
    MaxMonthly: "str",
    Any: "raw",
}


class OptionAttributes(TypedDict, total=False):
    """What a type hint does not say about an option."""

    choices: Sequence[str]
    aliases: Sequence[str]
    no_log: bool
    """For Ansible's own redaction. ``False`` says that a name that looks like that of a secret is none."""
    secret: bool
    """The value is never shown. Unlike ``no_log`` this suits a dictionary of short values."""
    selects: bool
    """The option identifies, narrows or limits what the task touches, so it must hold something."""
    filled: bool
    """The option may be null, as if it were omitted. If it is written otherwise, it must hold something."""
    names_target: bool
    """A task with this option, whatever it holds, does not work on the host of the play."""
    reads_file: bool
    """It names a file or a folder of this machine that a role or a play may bring along."""
    host_variables: Sequence[str]
    """The variables of the play's host that fill it, if the task works on that host."""
    environment: str
    """The variable of the environment that fills it."""


def option(default: T, **about: Unpack[OptionAttributes]) -> T:
    """Declare an option. The value of a secret stays out of its `repr`."""
    settings: dict[str, Any] = {"default": default}
    if isinstance(default, (list, dict)):
        settings = {"default_factory": lambda: copy.deepcopy(default)}
    shown = not (about.get("secret") or about.get("no_log"))
    # pylint expects it in the body of a dataclass, where `option` and `required` are called.
    declaration: Any = field(metadata=about, repr=shown, **settings)  # pylint: disable=invalid-field-call
    return cast(T, declaration)


def required(**about: Unpack[OptionAttributes]) -> Any:
    """Declare a required option."""
    return option(MISSING, **about)


def names_given(**options: Any) -> list[str]:
    """Return the names of the options that are set."""
    return [name for name, value in options.items() if value is not None]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of every resource: the connection to the platform."""

    base_url: str | None = option(None, environment="HOSTED_SERVICES_URL")
    token: str | None = option(None, no_log=True, environment="HOSTED_SERVICES_TOKEN")
    token_file: FilePath | None = option(
        None, no_log=False, reads_file=True, environment="HOSTED_SERVICES_TOKEN_FILE"
    )
    auth_header: str = option("Authorization", environment="HOSTED_SERVICES_AUTH_HEADER")
    auth_scheme: str = option("Bearer", environment="HOSTED_SERVICES_AUTH_SCHEME")
    validate_certs: bool = option(True, environment="HOSTED_SERVICES_VALIDATE_CERTS")
    ca_path: FilePath | None = option(None, reads_file=True, environment="HOSTED_SERVICES_CA_PATH")
    timeout: float = option(60.0, environment="HOSTED_SERVICES_TIMEOUT")
    retries: int = option(5, environment="HOSTED_SERVICES_RETRIES")
    allow_http_hosts: list[str] = option([], environment="HOSTED_SERVICES_ALLOW_HTTP_HOSTS")

    @classmethod
    def from_ansible(cls, arguments: Mapping[str, Any]) -> Self:
        """Return the options from validated arguments. Other arguments are ignored."""
        return read_as(cls, arguments)


@dataclass(frozen=True, kw_only=True)
class WaitOptions(Options):
    """The options of a resource that waits."""

    wait: bool = True
    wait_timeout: float = 600.0
    wait_interval: float = 5.0


@dataclass(frozen=True, kw_only=True)
class StateDirOptions(Options):
    """The option of a resource that keeps records on the controller between runs."""

    state_dir: FilePath | None = None


SHARED_OPTIONS = frozenset(
    each.name for kind in (Options, WaitOptions, StateDirOptions) for each in fields(kind)
)


def shared_arguments(options: Options) -> dict[str, Any]:
    """Return the options of a task that hold for each of its parts: connection, waiting and state."""
    return {name: value for name, value in vars(options).items() if name in SHARED_OPTIONS}


def is_carried(name: str) -> bool:
    """Tell whether an option is none that users set: the action hands on in it what it has read."""
    return name.startswith("_")


MAX_PROJECT_NAME = 60
MAX_LOG_LINES = 100


def check_log_lines(log_lines: int) -> None:
    """Refuse a number of log lines that the platform does not take (Limits)."""
    if not 1 <= log_lines <= MAX_LOG_LINES:
        raise Invalid(f"log_lines is {log_lines}; it must be from 1 to {MAX_LOG_LINES}")


def check_max_parallel(number: int | None) -> None:
    """Refuse a number with which nothing could ever begin; ``None`` is as many as the platform takes."""
    if number is not None and number < 1:
        raise Invalid(f"max_parallel is {number}; it must be 1 or more")


def names_with(declarations: Iterable[Field[Any]], key: str) -> frozenset[str]:
    """Return the names of the options with an attribute."""
    return frozenset(each.name for each in declarations if each.metadata.get(key))


@cache
def hints_of(options: Any) -> Mapping[str, Any]:
    """Return its type hints. Cached, so that Ansible's workers inherit them."""
    return get_type_hints(options)


def argument_spec_of(options: Any) -> Mapping[str, dict[str, Any]]:
    """Return Ansible's argument spec for an options class, without environment variables."""
    spec = dict[str, dict[str, Any]]()
    for each in fields(options):
        if is_carried(each.name):
            continue
        hint, about = hints_of(options)[each.name], each.metadata
        spec[each.name] = entry = ansible_type(hint)
        entry.update({key: list(about[key]) for key in ("choices", "aliases") if about.get(key)})
        if about.get("no_log") is not None:
            entry["no_log"] = about["no_log"]
        default = each.default if each.default_factory is MISSING else each.default_factory()
        if default is MISSING:
            entry["required"] = True
        elif default is not None:
            entry["default"] = str(default) if without_none(hint) is MaxParallel else default
    return spec


def ansible_type(hint: Any) -> dict[str, Any]:
    """Return the type of an option in Ansible's terms."""
    hint = without_none(hint)
    if hint in PLAIN_TYPES:
        return {"type": PLAIN_TYPES[hint]}
    origin = get_origin(hint)
    if origin is Literal:
        return {"type": "str", "choices": list(get_args(hint))}
    if origin is list:
        inner = ansible_type(get_args(hint)[0])
        return {**inner, "type": "list", "elements": inner["type"]}
    if origin is dict:
        return {"type": "dict"}
    if is_dataclass(hint):
        return {"type": "dict", "options": dict(argument_spec_of(hint))}
    raise TypeError(f"an option cannot have the type {hint!r}")


def without_none(hint: Any) -> Any:
    if get_origin(hint) not in (Union, UnionType):
        return hint
    [left] = [each for each in get_args(hint) if each is not NoneType]
    return left


def read_as(kind: Callable[..., T], arguments: Mapping[str, Any]) -> T:
    """Return options from validated arguments: missing ones keep their defaults."""
    converters = converters_of(kind)
    return kind(
        **{
            name: value if value is None or (convert := converters[name]) is None else convert(value)
            for name, value in arguments.items()
            if name in converters
        }
    )


@cache
def converters_of(options: Any) -> Mapping[str, Converter | None]:
    """Return its options with what converts their values, if anything does. Cached like the hints."""
    hints = hints_of(options)
    return {each.name: converter_of(hints[each.name]) for each in fields(options)}


def converter_of(hint: Any) -> Converter | None:
    """Return what makes objects of suboptions and lists of them."""
    hint = without_none(hint)
    if hint is MaxParallel:
        return read_max_parallel
    if hint is MaxMonthly:
        return partial(read_amount, option="max_monthly")
    if get_origin(hint) is list:
        inner = converter_of(get_args(hint)[0])
        if inner is None:
            return list
        return lambda values: [None if value is None else inner(value) for value in values]
    if isinstance(hint, type) and is_dataclass(hint):
        converters_of(hint)  # now, so that Ansible's workers inherit these as well
        return partial(read_as, hint)
    return None


def read_max_parallel(value: Any) -> int | None:
    text = str(value).strip()
    if text == AUTO:
        return None
    try:
        return int(text)
    except ValueError:
        raise Invalid(f"max_parallel is {text!r}; it must be a number, 1 or more, or {AUTO}") from None
