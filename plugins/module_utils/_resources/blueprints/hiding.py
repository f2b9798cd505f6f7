# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a blueprint is never shown: by the keys that it is under, or because it was encrypted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, TypeVar

from ..._api.errors import HostedError
from ..applications.lookup import REFERENCE
from ..shared.plan import Resource
from .document import Document, Path, SourceOptions

PLAIN_SECTION = "environment"
HIDDEN_SECTION = "secret_environment"
SECRET_KEYS = (HIDDEN_SECTION, "variables", "public_key")
"""The keys of a blueprint whose values are never shown."""
SECRET_OVERRIDES = ("variables", HIDDEN_SECTION)
"""What of an override is never shown. Names, nodes and sizes are."""
IN_BRACES = re.compile(r"\$\{([^{}.]*)")


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
    """Yield the decrypted values that no key hides, so that they have to be redacted wherever they appear.

    A key hides better: a value that is a common word would be redacted in the middle of others.
    """
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
