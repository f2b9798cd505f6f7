# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documents: the data that a user wrote, the place of each value, what is wrong, and what is not shown."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, TypeVar

from ..._api.errors import HostedError
from ..._api.libraries import yaml
from ..._api.text import counted, in_one_line
from ..applications.lookup import REFERENCE
from ..shared.names import check_path
from ..shared.options import FilePath, StateDirOptions, option
from ..shared.plan import Resource
from ..shared.task_errors import Invalid, NoSuchItem
from ..shared.yaml_text import UNSAFE_TAG, is_template

Path = tuple[Any, ...]
"""The keys and numbers that lead to a value: ``("services", "db", "host")``."""
VAULT_TAGS = ("!vault", "!vault-encrypted")
YAML_TAGS = "tag:yaml.org,2002:"
RESOLVED_TAG = "tag:hosted.services,2026:resolved"
"""Of a node whose value is the one that the controller has read."""
TEXT_TAG, MERGE_TAG = f"{YAML_TAGS}str", f"{YAML_TAGS}merge"
NUMBER_TAGS = frozenset({f"{YAML_TAGS}int", f"{YAML_TAGS}float"})
PLAIN_NUMBER = re.compile(r"[-+]?(0|[1-9][0-9]{0,99})?(\.[0-9]{0,99})?([eE][-+]?[0-9]{1,2})?")
OTHER_NUMBER = (
    "it is not a number in plain digits, and YAML may read another one, as 010 is 8 and 1:30 is 90; write it "
    "as 8 or 1.5, or put it in quotes"
)
UNQUOTED = "a key is a list or a mapping; write a text, and put a template in quotes"
PLAIN_TAGS = {"scalar": "str", "sequence": "seq", "mapping": "map"}
"""The tag of each kind of node that is marked as one without templates."""

PLAIN_SECTION = "environment"
HIDDEN_SECTION = "secret_environment"
SECRET_KEYS = (HIDDEN_SECTION, "variables", "public_key")
SECRET_OVERRIDES = ("variables", HIDDEN_SECTION)
"""What of an override is never shown. Names, nodes and sizes are."""
IN_BRACES = re.compile(r"\$\{([^{}.]*)")


@dataclass(frozen=True)
class Entry:
    section: str
    key: str
    values: Mapping[str, Any]
    """What is written for it or in the defaults; nothing else."""
    hides_command: bool = False
    """Whether its launch command was encrypted, so that neither that nor the platform's is shown."""
    references: Sequence[str] = ()

    @property
    def path(self) -> Path:
        return (self.section, self.key)

    @property
    def name(self) -> str:
        """Its name on the platform: the slug of an application."""
        return str(self.values.get("name") or self.values.get("slug") or self.key)


@dataclass
class Document:
    data: Any
    source: str
    """The path of the file; empty if it is an option of the task."""
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)
    """The line and column of each key and item, both from 1."""
    problems: list[tuple[Path, str]] = field(default_factory=list)
    folder: str = ""
    encrypted: bool = False
    """Whether the file is encrypted as a whole."""
    decrypted: list[tuple[Path, str]] = field(default_factory=list)
    """The values that are encrypted by themselves, decrypted, and where they are."""

    def add_problem(self, path: Path, message: str) -> None:
        self.problems.append((path, message))

    def note(self, path: Path, check: Callable[..., object], *given: Any) -> None:
        try:
            check(*given)
        except HostedError as error:
            self.add_problem(path, error.message)

    def check(self) -> None:
        if not self.problems:
            return
        found = sorted(self.problems, key=lambda problem: self.places.get(self._written(problem[0]), (0, 0)))
        lines = list(dict.fromkeys(in_one_line(f"{self.where(path)}: {message}") for path, message in found))
        told = f" {lines[0]}" if len(lines) == 1 else "".join(f"\n- {line}" for line in lines)
        raise Invalid(
            f"the blueprint has {counted(len(lines), 'problem')}, and nothing was done.{told}", problems=lines
        )

    def where(self, path: Path) -> str:
        keys = ".".join(map(str, path)) or "the blueprint"
        mark = self.mark(self._written(path))
        return f"{mark}: {keys}" if mark else keys

    def mark(self, path: Path) -> str:
        """Return the file, line and column of a value; empty if it was not written, or not in a file."""
        place = self.places.get(path)
        return f"{self.source}:{place[0]}:{place[1]}" if place else ""

    def _written(self, path: Path) -> Path:
        """Return the path of a value, or of what it is in if it was not written itself."""
        while path and path not in self.places:
            path = path[:-1]
        return path


# --- What only the controller can read ------------------------------------------------------------------
# Templates, and what Ansible Vault encrypted. The action on the controller resolves each of them once. Its
# answers reach the reader of the file by the line and column of the value, inside the controller and in a
# module alike.


@dataclass(frozen=True)
class Unread:
    """A value that only the controller can read: a template, or one that is encrypted."""

    text: str
    path: Path
    place: tuple[int, int]
    encrypted: bool = False

    @property
    def key(self) -> str:
        return f"{self.place[0]}:{self.place[1]}"


@dataclass(frozen=True)
class Answer:
    """The value that stands in its place, or why there is none."""

    value: Any = None
    problem: str = ""
    omitted: bool = False
    """Whether it is left out with its key, as ``omit`` asks for."""


Resolve = Callable[[Unread], Answer]


@dataclass(frozen=True)
class Rendered:
    text: str
    encrypted: bool = False
    """Whether the file is encrypted as a whole."""
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, unread: Unread, answer: Answer) -> Answer:
        self.answers[unread.key] = asdict(answer)
        return answer

    def resolve(self, unread: Unread) -> Answer:
        """Return the answer to a value; a problem if there is none, as where there is no controller."""
        if found := self.answers.get(unread.key):
            return Answer(**found)
        kind, verb = ("!vault", "decrypted") if unread.encrypted else ("a template", "rendered")
        return Answer(
            problem=f"{kind} is {verb} in a file of the controller alone, and this task runs on another "
            "host; run it on localhost, or give the whole as the option blueprint"
        )


# --- The file -------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SourceOptions(StateDirOptions):
    src: FilePath | None = option(None, selects=True, reads_file=True)
    blueprint: dict[str, Any] | None = option(None, selects=True, secret=True)
    max_parallel: int = 16
    _rendered: dict[str, Any] | None = None
    """What the action has read of the file, if there is something that only the controller can read."""

    def read(self) -> Document:
        """Return the blueprint. What YAML forgives, such as a key written twice, is a problem."""
        if self.src is None:
            return Document(self.blueprint, "")
        path = self.src
        check_path("src", path)
        rendered = Rendered(**self._rendered) if self._rendered else Rendered(read_text(path))
        try:
            document = parse_document(rendered.text, os.path.basename(path), rendered.resolve)
        except yaml.YAMLError as error:  # without the excerpt, which may hold a secret
            mark, told = getattr(error, "problem_mark", None), getattr(error, "problem", None)
            told = f"{told} in line {mark.line + 1}, column {mark.column + 1}" if mark else told
            raise Invalid(f"src {path!r} is not valid YAML: {told or type(error).__name__}") from None
        except RecursionError:
            raise Invalid(f"src {path!r} is nested too deeply; no blueprint needs that") from None
        document.folder = os.path.dirname(os.path.abspath(os.path.expanduser(path)))
        document.encrypted = rendered.encrypted
        return document


def read_text(path: str) -> str:
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError) as error:  # not there, or not text
        raise NoSuchItem(f"src {path!r} cannot be read: {error}") from None


def parse_document(text: str, source: str, resolve: Resolve | None = None) -> Document:
    """Parse YAML, keeping the place of each value. ``resolve`` reads what only the controller can read."""

    class Loader(yaml.SafeLoader):
        """The loader of this text. The class is made here because the library may be missing on import."""

    Loader.add_constructor(RESOLVED_TAG, lambda __, resolved: resolved.value)
    Loader.add_constructor(f"{YAML_TAGS}timestamp", lambda __, written: written.value)
    loader = Loader(text)
    try:
        node = loader.get_single_node()
        document = Document(None, source, {(): position(node) if node else (1, 1)})
        walk = Walk(document, resolve or Rendered(text).resolve)
        for found in walk.visit(node, ()) if node else ():
            if walk.is_sound:
                document.data = loader.construct_document(found)
        return document
    finally:
        loader.dispose()


def position(node: Any) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


@dataclass
class Walk:
    """Notes the place of each value and what is wrong, and puts in what only the controller can read."""

    document: Document
    resolve: Resolve
    is_sound: bool = True
    """Whether the data can be trusted as far as it could be read."""
    above: set[int] = field(default_factory=set)
    """The nodes that the present one is in."""
    done: set[int] = field(default_factory=set)
    """The nodes that were visited. One with an anchor is visited once, however often it is used."""

    def refuse(self, path: Path, message: str) -> None:
        self.document.add_problem(path, message)
        self.is_sound = False

    def visit(self, node: Any, path: Path, literal: bool = False) -> list[Any]:
        """Visit a node and all below it; return it, or its substitute. A ``literal`` one has no templates."""
        if not literal and (node := self.resolved(node, path)) is None:
            return []
        if id(node) in self.above:
            self.refuse(path, "it holds itself, through an anchor; write it out")
        if id(node) in self.done:
            return [node]
        self.done.add(id(node))
        self.above.add(id(node))
        if node.tag == UNSAFE_TAG:
            node.tag, literal = YAML_TAGS + PLAIN_TAGS[node.id], True
        if isinstance(node, yaml.MappingNode):
            node.value = self.visit_mapping(node.value, path, literal)
        elif isinstance(node, yaml.SequenceNode):
            items, node.value = node.value, []
            for number, item in enumerate(items):
                self.document.places.setdefault((*path, number), position(item))
                node.value += self.visit(item, (*path, number), literal)
        self.check_tag(node, path)
        self.above.remove(id(node))
        return [node]

    def check_tag(self, node: Any, path: Path) -> None:
        if not node.tag.startswith((YAML_TAGS, RESOLVED_TAG)):
            self.refuse(path, f"the tag {node.tag} means nothing in a blueprint; remove it")
        elif node.tag in NUMBER_TAGS and not PLAIN_NUMBER.fullmatch(str(node.value)):
            self.refuse(path, OTHER_NUMBER)

    def visit_mapping(
        self, pairs: Sequence[tuple[Any, Any]], path: Path, literal: bool
    ) -> list[tuple[Any, Any]]:
        """Visit a mapping. YAML itself lets the last of two equal keys win in silence."""
        seen: dict[str, int] = {}
        left = []
        for key, value in pairs:
            if not isinstance(key, yaml.ScalarNode):
                self.refuse(path, UNQUOTED)
                continue
            if key.tag != MERGE_TAG:
                key.tag = TEXT_TAG  # not the truth value that YAML makes of `on`
            name = str(key.value)
            here = (*path, name)
            if name in seen:
                self.refuse(here, f"the key is written twice, also in line {seen[name]}; remove one")
            self.document.places[here] = position(key)
            seen[name] = position(key)[0]
            left += [(key, found) for found in self.visit(value, here, literal)]
        return left

    def resolved(self, node: Any, path: Path) -> Any:
        """Return a node, or its substitute if only the controller can read it; ``None`` for nothing."""
        encrypted = node.tag in VAULT_TAGS
        is_text = isinstance(node, yaml.ScalarNode) and node.tag == TEXT_TAG
        if not encrypted and not (is_text and is_template(node.value)):
            return node
        if isinstance(node, yaml.ScalarNode):
            answer = self.resolve(Unread(node.value, path, position(node), encrypted))
        else:
            answer = Answer(problem=f"{node.tag} is for a text")
        if answer.problem:
            self.document.add_problem(path, answer.problem)
        if answer.problem or answer.omitted:
            return None
        if encrypted:
            self.document.decrypted.append((path, str(answer.value)))
        return yaml.ScalarNode(RESOLVED_TAG, answer.value, node.start_mark, node.end_mark)


# --- What is never shown ------------------------------------------------------------------------------
# By the keys that it is under, or because it was encrypted.

SourceT = TypeVar("SourceT", bound=SourceOptions)


class OnBlueprint(Resource[SourceT]):
    """A resource that a blueprint describes, from a file or an option."""

    rules: ClassVar[dict[str, Any]] = {
        "required_one_of": [("src", "blueprint")],
        "mutually_exclusive": [("src", "blueprint")],
    }

    def secret_values(self, options: Mapping[str, Any]) -> Any:
        """Return the values of secret environments and of orders. The rest of a blueprint may be shown."""
        overrides = options.get("overrides")
        entries = overrides.values() if isinstance(overrides, Mapping) else ()
        found = [each.get(name) for each in entries if isinstance(each, Mapping) for name in SECRET_OVERRIDES]
        found.append(options.get("secret_environments"))
        with suppress(HostedError):
            found += secret_values_of(self.read_options(options).read())
        return found

    def redacted_values(self, options: Mapping[str, Any]) -> Sequence[str]:
        with suppress(HostedError):
            return list(redacted_values_of(self.read_options(options).read()))
        return []


def secret_values_of(document: Document) -> Iterator[Any]:
    more = (PLAIN_SECTION, "command") if document.encrypted else ()
    yield from secrets_in(document.data, (*SECRET_KEYS, *more))
    yield [value for _path, value in document.decrypted]


def secrets_in(data: Any, keys: tuple[str, ...]) -> Iterator[Any]:
    """Yield the values below some keys, and what is always secret in the others."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            if key == "ssh_keys" and isinstance(value, Mapping):  # somebody will paste a private key
                yield [each for each in value.values() if isinstance(each, str)]
            yield from secrets_in(value, keys)  # an entry may be called as a field is
            if key not in keys:
                continue
            yield value
            # A platform that takes what is in braces for a reference quotes that alone.
            for text in value.values() if isinstance(value, Mapping) else ():
                if isinstance(text, str) and not REFERENCE.fullmatch(text):
                    yield from IN_BRACES.findall(text)


def redacted_values_of(document: Document) -> Iterator[str]:
    """Yield the decrypted values that no key hides. A key hides better: a value may be a common word."""
    # The key of a field hides its value. An entry may have such a name, too.
    found = [
        value
        for path, value in document.decrypted
        if path[:1] != ("ssh_keys",) and not {*SECRET_KEYS, PLAIN_SECTION}.intersection(path[2:])
    ]
    if document.encrypted:
        found += [each for each in secrets_in(document.data, ("command", "url")) if isinstance(each, str)]
    for value in found:
        yield value
        yield from value.splitlines()


def hides_command(document: Document, section: str, key: str) -> bool:
    """Tell whether the launch command of an entry was encrypted. The platform's may hold the same secret."""
    paths = {(section, key, "command"), ("defaults", section, "command")}
    return document.encrypted or any(path in paths for path, _value in document.decrypted)


def with_hidden_environment(document: Document, entry: Path, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of an entry with decrypted variables among the secret ones."""
    decrypted = {value for _path, value in document.decrypted}
    plain, secret = (values.get(name) or {} for name in (PLAIN_SECTION, HIDDEN_SECTION))
    moved = {
        name: value
        for name, value in plain.items()
        if value.strip() and name not in secret and (document.encrypted or value in decrypted)
    }
    if not moved:
        return values
    for name in moved:  # what is wrong with it is where it was written
        if written := document.places.get((*entry, PLAIN_SECTION, name)):
            document.places[(*entry, HIDDEN_SECTION, name)] = written
    left = {name: value for name, value in plain.items() if name not in moved}
    return {**values, PLAIN_SECTION: left, HIDDEN_SECTION: {**secret, **moved}}
