# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Count the values, and the pairs of values, that gap profiles cover.

python -m hosted_sandbox.profiles plain pairwise:1-10      # how much these profiles cover
python -m hosted_sandbox.profiles --expand pairwise        # the names of all that have every pair
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

from hosted_sandbox.gaps import POINTS, Profile, pairwise_array
from hosted_sandbox.pairwise import KIND, Pairs


def expand(names: Iterable[str], count: int) -> Iterator[str]:
    """Yield the names of profiles: `pairwise` means the whole array, `pairwise:3-9` a part."""
    for name in names:
        kind, __, places = name.partition(":")
        if kind != KIND:
            yield name
            continue
        first, dash, last = (places or f"1-{count}").partition("-")
        for place in range(int(first), int(last if dash else first) + 1):
            yield f"{KIND}:{place}"


def main() -> None:
    """Print the coverage of profiles, or expand their names."""
    parser = argparse.ArgumentParser(prog="python -m hosted_sandbox.profiles", description=main.__doc__)
    parser.add_argument("profiles", nargs="*", default=[KIND], help="pairwise, pairwise:1-9, plain, …")
    parser.add_argument("--expand", action="store_true", help="print the names of the profiles alone")
    options = parser.parse_args()
    names = list(expand(options.profiles, len(pairwise_array())))
    if options.expand:
        print(*names)
        return
    pairs = Pairs({point.name: point.values for point in POINTS.values()})
    seen: set[tuple[str, str]] = set()
    for name in names:
        row = Profile(name).describe()
        pairs.cover(row)
        seen |= set(row.items())
    covered = pairs.total - pairs.left
    print(
        f"{len(names)} profile{'s' if len(names) > 1 else ''}: {len(seen)} of {len(pairs.bit)} values of "
        f"{len(POINTS)} points, {covered} of {pairs.total} pairs of values "
        f"({100 * covered / pairs.total:.1f} %)"
    )


if __name__ == "__main__":
    main()
