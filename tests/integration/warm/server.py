# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Import what programs import, and fork for each of their runs.

Start it with ``python -m integration.warm.server ansible|python SOCKET``.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from integration.warm import ansible_program, python_program
from integration.warm.forks import Request, Server
from integration.warm.imports import LIBRARIES, STANDARD, import_all


def main() -> None:
    """Serve one of the two kinds of programs."""
    kind, path = sys.argv[1:]
    sys.path.remove(os.environ["PYTHONPATH"])  # no run may import from here
    import_all((*STANDARD, *LIBRARIES))
    run = prepare(kind, os.environ["ANSIBLE_COLLECTIONS_PATH"])
    server = Server(path)
    gc.collect()
    gc.freeze()
    print("ready", flush=True)
    request = server.serve()
    # A run is short: to look for circles in all that it was given costs a tenth of its time.
    gc.set_threshold(50_000)
    request.enter()
    end(partial(run, request))


def prepare(kind: str, collections: str) -> Callable[[Request], None]:
    """Import what programs of this kind need; return the function that runs one."""
    if kind == "ansible":
        return partial(ansible_program.run, usual=ansible_program.prepare(collections))
    python_program.prepare(collections)
    return python_program.run


def end(run: Callable[[], None]) -> NoReturn:
    """Run something, and end as Python does, but leave it to the system to take everything apart."""
    code: Any = 0
    try:
        run()
    except KeyboardInterrupt:
        raise
    except SystemExit as exit:
        code = exit.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    os._exit((code or 0) & 0xFF)


if __name__ == "__main__":
    main()
