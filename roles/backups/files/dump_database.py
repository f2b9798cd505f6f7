# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dump a database with its engine's own program into a folder: a whole file, or none.

    dump_database.py FOLDER < connection.json

The connection comes on standard input, so that its password is in no argument: `engine`, `host`, `port`,
`user`, `password`, `database`, and where the service is open to the Internet `public_host` and `public_port`.
Prints the result as one line of JSON; ends with 1 and one sentence on standard error when there is no dump.

What does the work is shared with the modules of the collection, and read from its folder by path: a process
of its own does not know the collection by its name.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

LIBRARY = Path(__file__).parents[3] / "plugins" / "module_utils" / "_resources" / "databases" / "dump.py"
OTHER_WAY = "leave it out with offsite.databases: skip; its backup on the platform is not affected"


def load() -> ModuleType:
    """Return what dumps databases."""
    loader = SourceFileLoader("hosted_services_dump", str(LIBRARY))
    module = ModuleType(loader.name)
    sys.modules[loader.name] = module  # its dataclasses look for their module there
    loader.exec_module(module)
    return module


def main() -> None:
    """Dump what standard input tells."""
    os.umask(0o077)
    library = load()
    try:
        print(json.dumps(library.dump(Path(sys.argv[1]), json.load(sys.stdin))))
    except library.NotDumpableError as error:
        sys.exit(f"{error}. Or {OTHER_WAY}")
    except library.NoDumpError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"the dump could not be written: {error}")


if __name__ == "__main__":
    main()
