# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a Python program in a fork. Most of them are Ansible's modules."""

from __future__ import annotations

import builtins
import hashlib
import importlib
import importlib.util
import marshal
import os
import sys
import types
import zipimport
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from integration.warm.forks import Request
from integration.warm.imports import import_folder

CODES: dict[bytes, types.CodeType] = {}
"""What the server has compiled itself, by source."""


def prepare(collections: str) -> None:
    """Import and compile what modules bring along."""
    keep_bytecode(Path.home())
    ReadyModules(collections)


def keep_bytecode(folder: Path) -> None:
    """Compile each source in a zip file once: modules arrive in such files, and Python caches none."""
    compile_source = zipimport._compile_source  # type: ignore[attr-defined]

    def compiled(path: str, source: bytes) -> types.CodeType:
        if source in CODES:
            return CODES[source]
        kept = folder / hashlib.sha256(source).hexdigest()
        try:
            code: types.CodeType = marshal.loads(kept.read_bytes())
        except FileNotFoundError:
            code = compile_source(path, source)
            part = kept.with_suffix(f".{os.getpid()}")
            part.write_bytes(marshal.dumps(code))
            part.rename(kept)
        return code

    zipimport._compile_source = compiled  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Ready:
    """A module that was imported in the server: from which source, and what it imported in turn."""

    module: types.ModuleType
    source: bytes
    imports: list[tuple[str, tuple[str, ...], int]]

    @property
    def place(self) -> str:
        """Where it is in an archive."""
        path = self.module.__name__.replace(".", "/")
        return f"{path}/__init__.py" if hasattr(self.module, "__path__") else f"{path}.py"


class ReadyModules:
    """What Ansible's modules bring along in their archives, imported once: two thirds of a short module.

    A run gets these modules only if all of their sources in its archive are the same. It still looks for each
    module in the archive, in the usual order, so what is missing there is missing.
    """

    def __init__(self, collections: str) -> None:
        self.imports: dict[str, list[tuple[str, tuple[str, ...], int]]] = {}
        self.ready: dict[str, Ready] = {}
        self.same: bool | None = None
        self.load(Path.home() / "payload", Path(collections))
        self.execute: Any = zipimport.zipimporter.exec_module

        def execute(archive: zipimport.zipimporter, module: types.ModuleType) -> None:
            self.take(archive, module)

        zipimport.zipimporter.exec_module = execute  # type: ignore[method-assign,assignment]

    def load(self, folder: Path, collections: Path) -> None:
        """Import from a folder that is like an archive: it lacks the controller's part of Ansible."""
        (folder / "ansible").mkdir(parents=True)
        (folder / "ansible" / "__init__.py").touch()
        spec = importlib.util.find_spec("ansible")
        assert spec is not None and spec.origin is not None
        (folder / "ansible" / "module_utils").symlink_to(Path(spec.origin).with_name("module_utils"))
        (folder / "ansible_collections").symlink_to(collections / "ansible_collections")
        sys.path.insert(0, str(folder))
        usual, builtins.__import__ = builtins.__import__, self.note(builtins.__import__)
        for name in ("_internal._ansiballz._loader", "basic"):
            importlib.import_module(f"ansible.module_utils.{name}")
        import_folder(folder, "module_utils")
        builtins.__import__ = usual
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if is_brought_along(name)]:
            module = sys.modules.pop(name)
            if (file := getattr(module, "__file__", None)) is None:
                continue  # a folder without a file of its own, or made by another module
            source = Path(file).read_bytes()
            if not hasattr(module, "__path__") or b"class " in source or b"def " in source:
                self.ready[name] = Ready(module, source, self.imports.get(name, []))
                CODES[source] = compile(source, file, "exec", dont_inherit=True)

    def note(self, usual: Any) -> Any:
        """Return an import function that notes what each module imports of what is brought along."""

        def noting(
            name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
        ) -> Any:
            module = usual(name, globals, locals, fromlist, level)
            if (level or is_brought_along(name)) and is_brought_along(importer := globals["__name__"]):
                self.imports.setdefault(importer, []).append((name, tuple(fromlist or ()), level))
            return module

        return noting

    def take(self, archive: zipimport.zipimporter, module: types.ModuleType) -> None:
        """Let a module of an archive be the one that is ready, if there is one; import what it imports."""
        if self.same is None:
            self.same = self.compare(archive)
        ready = self.ready.get(module.__name__) if self.same else None
        if ready is None:
            self.execute(archive, module)
            return
        mine = vars(ready.module)
        for name in ("__spec__", "__loader__", "__file__", "__path__"):
            if name in vars(module):
                mine[name] = vars(module)[name]
        for child in [name for name in mine if f"{module.__name__}.{name}" in self.ready]:
            del mine[child]
        sys.modules[module.__name__] = ready.module
        for name, fromlist, level in ready.imports:
            __import__(name, mine, None, fromlist, level)

    def compare(self, archive: zipimport.zipimporter) -> bool:
        """Tell whether an archive has no other sources than those of the modules that are ready."""
        for ready in self.ready.values():
            try:
                source = archive.get_data(ready.place)
            except OSError:
                continue
            if source != ready.source:
                return False
        return True


def is_brought_along(name: str) -> bool:
    """Tell whether a module is one that comes in archives."""
    return name.partition(".")[0] in ("ansible", "ansible_collections")


def run(request: Request) -> None:
    """Run the program on the standard input, or the file that is named, as Python does."""
    arguments = request.arguments
    if arguments and arguments[0].startswith("-"):
        request.execute()
    main = types.ModuleType("__main__")
    name = arguments[0] if arguments else "<stdin>"
    if arguments:
        main.__file__ = name
    with open(name if arguments else 0, "rb") as file:
        code = compile(file.read(), name, "exec")
    sys.argv = arguments or [""]
    sys.path[0] = os.path.dirname(os.path.abspath(name)) if arguments else ""
    sys.modules["__main__"] = main
    exec(code, vars(main))
