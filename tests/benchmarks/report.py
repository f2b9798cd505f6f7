# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the page of a report: seconds from the figures to the file, and its size.

`make bench-report ARGS="100 1000"`. Reading is not part of it: that takes as long as the platform does.
"""

from __future__ import annotations

import sys
import time

from ansible_collections.hosted.services.plugins.plugin_utils._report.render import (
    report_html,
    report_prometheus,
)
from unit.plugins.reports import account, report_on

ROUNDS = 3
SIZES = (100, 1000)


def measure(services: int) -> tuple[float, float, int, int]:
    """Return the best seconds for the figures and for the page, and the bytes of page and metrics."""
    facts = account([f"service {number:04} of a team" for number in range(services)], max(1, services // 30))
    figures, pages = [], []
    for _round in range(ROUNDS):
        begin = time.perf_counter()
        report = report_on(facts)
        middle = time.perf_counter()
        page = report_html(report)
        figures.append(middle - begin)
        pages.append(time.perf_counter() - middle)
    return min(figures), min(pages), len(page.encode()), len(report_prometheus(report).encode())


def main() -> None:
    """Print a line for each size."""
    print("services  figures  page      page size  metrics size")
    for services in [int(size) for size in sys.argv[1:]] or SIZES:
        figures, page, size, metrics = measure(services)
        print(
            f"{services:8}  {figures:5.2f} s  {page:5.2f} s  {size / 1000:7.0f} kB  {metrics / 1000:9.0f} kB"
        )


if __name__ == "__main__":
    main()
