# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `hosted-sandbox`, also as `python -m hosted_sandbox` or `python` with this folder's path."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import time
from pathlib import Path

if __package__ in (None, ""):
    # The folder itself is no place to import from; the one above it is, even if the package is not installed.
    sys.path.pop(0)
    if (above := str(Path(__file__).resolve().parent.parent)) not in sys.path:
        sys.path.insert(0, above)

import hosted_sandbox
from hosted_sandbox.gaps import Profile
from hosted_sandbox.server import Options, SeedError, run

START_SECONDS = 30.0


def _options() -> Options:
    parser = argparse.ArgumentParser("hosted-sandbox", description=hosted_sandbox.__doc__)
    parser.add_argument("--version", action="version", version=hosted_sandbox.__version__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=8080, help="port of the API (%(default)s; 0: any)")
    parser.add_argument("--control-port", type=int, default=8081, help="the control port (%(default)s)")
    parser.add_argument("--sftp-port", type=int, default=8022, help="port of SFTP (%(default)s)")
    parser.add_argument("--registry-port", type=int, default=8083, help="port of the registry (%(default)s)")
    parser.add_argument("--data", type=Path, help="folder to keep the state in (default: memory)")
    parser.add_argument("--seed", type=Path, help="YAML file with the initial state, if the state is new")
    parser.add_argument("--profile", help="gap profile: plain, terse or wrapped (default: plain)")
    parser.add_argument(
        "--ready-file",
        type=Path,
        help="file to write addresses and tokens to, as JSON, when every port is listening",
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing")
    parser.add_argument(
        "--detach", type=Path, metavar="LOG",
        help="continue in the background once every port is listening (needs --ready-file), and print to LOG",
    )  # fmt: skip
    options = Options(**vars(parser.parse_args()))
    if options.detach and not options.ready_file:
        parser.error("--detach needs --ready-file")
    try:
        Profile(options.profile or "plain")
    except ValueError as error:
        parser.error(str(error))
    return options


def _in_background(ready: Path, log: Path) -> bool:
    """Fork. Return True in the child, and False in the parent once the child is ready.

    Exit with the output of the child if it ends before that.
    """
    ready.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        os.setsid()
        with log.open("wb") as output, Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
        return True
    end = time.monotonic() + START_SECONDS
    while not ready.exists():
        if os.waitpid(child, os.WNOHANG) != (0, 0):
            sys.exit(log.read_text().strip())
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            sys.exit(f"the sandbox was not ready within {START_SECONDS:.0f} seconds; see {log}")
        time.sleep(0.05)
    return False


def main() -> None:
    """Run the sandbox, in the foreground or detached."""
    options = _options()
    if options.detach and options.ready_file and not _in_background(options.ready_file, options.detach):
        return
    try:
        asyncio.run(run(options))
    except OSError as error:
        sys.exit(f"the sandbox cannot start: {error}")
    except SeedError as error:
        sys.exit(f"the seed makes no sense: {error}")


if __name__ == "__main__":
    main()
