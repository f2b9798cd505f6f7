# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command takes: time, time of the processor, memory."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """What a command took: seconds, seconds of the processor, MB at the most."""

    seconds: float
    processor: float
    memory: float

    def __sub__(self, other: Cost) -> Cost:
        """Return what is left without ``other``, which uses less memory at another time."""
        return Cost(self.seconds - other.seconds, self.processor - other.processor, self.memory)


def median(costs: list[Cost]) -> Cost:
    """Return the medians, each by itself."""
    columns = zip(*((cost.seconds, cost.processor, cost.memory) for cost in costs), strict=True)
    return Cost(*(statistics.median(column) for column in columns))


def measure(
    command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None
) -> tuple[Cost, str]:
    """Run a command to its end; return what it took, its children included, and what it printed."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        begun = time.perf_counter()
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=output, stderr=errors)
        __, status, usage = os.wait4(process.pid, 0)
        took = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        said = output.read()
        if process.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{said}{errors.read()}")
    return Cost(took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024), said
