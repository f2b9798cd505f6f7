# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a run goes on: its process and its folder are both there."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import time
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.run_memory import (
    Run,
    start_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.store import (
    RUN_FOLDER,
)


def test_a_run_goes_on_as_long_as_its_process_and_its_folder(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "600"]) as process:
        run = Run(process.pid, str(tmp_path))
        assert run.goes_on()
        assert not Run(process.pid, str(tmp_path / "gone")).goes_on(), "another process got its number"
        process.kill()
    assert not run.goes_on()


def test_a_task_whose_run_was_killed_belongs_to_that_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """An orphan's parent is process 1, or whichever collects orphans: those never end."""
    monkeypatch.setenv(RUN_FOLDER, "/tmp/run")
    context = multiprocessing.get_context("fork")
    numbers = context.SimpleQueue()

    def be_run() -> None:
        run_process = os.getpid()

        def be_worker() -> None:
            while os.getppid() == run_process:
                time.sleep(0.01)
            found = Run.of_task()
            numbers.put(found and found.process)

        context.Process(target=be_worker).start()
        os._exit(0)

    run = context.Process(target=be_run)
    run.start()
    run.join()
    assert numbers.get() == run.pid


def test_another_process_with_the_number_of_a_run_that_was_killed(tmp_path: Path) -> None:
    """A power cut leaves the folder of the run, and numbers begin anew after it."""
    with subprocess.Popen(["sleep", "600"]) as process:
        started = start_of(process.pid)
        assert Run(process.pid, str(tmp_path), started).goes_on()
        assert started is None or not Run(process.pid, str(tmp_path), "before").goes_on()
        process.kill()
        while started is not None and start_of(process.pid) is not None:
            time.sleep(0.01)
        assert started is None or not Run(process.pid, str(tmp_path), started).goes_on(), (
            "nobody waited for it"
        )
    assert start_of(process.pid) is None
