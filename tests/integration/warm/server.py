# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Import what programs import, and fork for each of their runs: ``server.py ansible|python SOCKET``.

In the fork, Ansible reads its settings again from the environment of the run. If one differs that Ansible
looks up while it is imported, the fork executes the real program instead.
"""

from __future__ import annotations

import atexit
import builtins
import functools
import gc
import hashlib
import importlib
import importlib.util
import marshal
import os
import selectors
import signal
import socket
import sys
import threading
import time
import types
import zipimport
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

HEADER = 8
COLLECTION = "ansible_collections/hosted/services"
LIBRARIES = (
    "cryptography.hazmat.primitives.asymmetric.rsa",
    "cryptography.hazmat.primitives.serialization.ssh",
    "pydantic.alias_generators",
    "pydantic.functional_validators",
    "pydantic.json_schema",
    "pydantic.main",
    "requests",
    "yaml",
)
ANSIBLE = (
    "ansible.cli.inventory",
    "ansible.cli.playbook",
    "ansible.executor.task_executor",
    "ansible.plugins.action.normal",
)
# Each run of ansible-playbook loads all plugins of these kinds, and reads the documentation of each for the
# definitions of its options: half of the processor time of a short run.
KINDS = ("become", "callback", "connection", "inventory", "shell", "vars")
STANDARD = (
    "argparse", "concurrent.futures", "ctypes", "dataclasses", "fcntl", "hashlib", "logging",
    "multiprocessing", "platform", "runpy", "shutil", "subprocess", "tempfile", "typing", "uuid", "zipfile",
)  # fmt: skip


SHARED = Path.home()


@dataclass(frozen=True)
class Request:
    """What a run was started with, and its standard streams."""

    program: str
    arguments: list[str]
    environment: dict[str, str]
    folder: str
    mask: int
    streams: list[int]

    def enter(self) -> None:
        """Let all of it be this process's own."""
        for number, stream in enumerate(self.streams):
            os.dup2(stream, number)
            os.close(stream)
        os.environ.clear()
        os.environ.update(self.environment)
        os.umask(self.mask)
        os.chdir(self.folder)
        time.tzset()

    def execute(self) -> NoReturn:
        """Become the real program."""
        os.execv(self.program, [self.program, *self.arguments])


class Server:
    """Forks for requests, and tells whoever asked how the fork ended."""

    def __init__(self, path: str) -> None:
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(64)
        self.selector = selectors.DefaultSelector()
        self.selector.register(0, selectors.EVENT_READ)
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.runs: dict[int, tuple[int, socket.socket]] = {}

    def serve(self) -> Request:
        """Go on until whoever started this process ends; in each fork, return what it was asked for."""
        while True:
            for key, _events in self.selector.select():
                if key.fd == 0:
                    sys.exit()
                if key.fd in self.runs:
                    self.report(key.fd)
                elif key.data is not None:  # whoever asked for this run was killed
                    self.selector.unregister(key.fileobj)
                    os.kill(key.data, signal.SIGKILL)
                elif request := self.accept():
                    return request

    def accept(self) -> Request | None:
        """Fork for a request; return it in the fork."""
        connection, _address = self.listener.accept()
        header, streams, _flags, _from = socket.recv_fds(connection, HEADER, 3)
        missing = int.from_bytes(header, "big")
        body = b""
        while len(body) < missing:
            body += connection.recv(missing - len(body))
        child = os.fork()
        if child == 0:
            connection.close()
            self.close()
            program, arguments, environment, folder, mask = marshal.loads(body)
            return Request(program, arguments, environment, folder, mask, streams)
        for stream in streams:
            os.close(stream)
        handle = os.pidfd_open(child)
        self.runs[handle] = (child, connection)
        self.selector.register(handle, selectors.EVENT_READ)
        self.selector.register(connection, selectors.EVENT_READ, child)
        return None

    def report(self, handle: int) -> None:
        """Tell how a run ended."""
        child, connection = self.runs.pop(handle)
        self.selector.unregister(handle)
        os.close(handle)
        _child, status = os.waitpid(child, 0)
        if connection in self.selector.get_map():
            self.selector.unregister(connection)
            connection.sendall(b"%d" % os.waitstatus_to_exitcode(status))
        connection.close()

    def close(self) -> None:
        """Let go of everything, in a fork."""
        self.selector.close()
        self.listener.close()
        for handle, (_child, connection) in self.runs.items():
            os.close(handle)
            connection.close()


def import_folder(collections: Path, folder: str) -> None:
    """Import all plugins of the collection that are in a folder."""
    for file in sorted((collections / COLLECTION / "plugins" / folder).rglob("*.py")):
        name = ".".join(file.relative_to(collections).with_suffix("").parts)
        importlib.import_module(name.removesuffix(".__init__"))


# --- ansible-playbook and ansible-inventory ----------------------------------------------------------------

# Ansible looks these up whenever it needs them. The folders of plugins are brought up to date as well.
LOOKED_UP_LATER = {
    "ANSIBLE_NOCOLOR", "ANSIBLE_PIPELINING", "CALLBACKS_ENABLED", "COLLECTIONS_PATHS", "CONFIG_FILE",
    "DEFAULT_CALLBACK_PLUGIN_PATH", "DEFAULT_LOCAL_TMP", "DEFAULT_ROLES_PATH",
    "INVENTORY_ANY_UNPARSED_IS_FAILED",
    "INVENTORY_UNPARSED_WARNING", "LOCALHOST_WARNING",
}  # fmt: skip


def settings() -> dict[str, str]:
    """Return all settings of Ansible, as if everybody's home were the same."""
    from ansible import constants

    home = os.environ["HOME"]
    names = constants.config.get_configuration_definitions()
    return {name: str(getattr(constants, name)).replace(home, "~") for name in names}


def read_settings_anew() -> None:
    """Let Ansible read its settings from this environment."""
    from ansible import constants
    from ansible.config import manager
    from ansible.plugins import loader

    atexit.unregister(manager.cleanup_tmp_file)  # the folder of the server, which goes on
    config: Any = constants.config
    loaders = [each for each in vars(loader).values() if isinstance(each, loader.PluginLoader)]
    before = {id(value): name for name, value in vars(constants).items() if isinstance(value, list)}
    definitions = config._plugins
    vars(config).clear()
    config.__init__()
    config._plugins = definitions
    for name in config.get_configuration_definitions():
        constants.set_constant(name, config.get_config_value(name, variables=vars(constants)))
    for each in loaders:
        each._clear_caches()
        if id(each.config) in before:
            each.config = getattr(constants, before[id(each.config)])


def load_plugins() -> None:
    """Load Ansible's own plugins of some kinds, with the definitions of their options."""
    from ansible.plugins import loader

    for kind in KINDS:
        list(getattr(loader, f"{kind}_loader").all(class_only=True))
    loader.cache_loader.get("memory", class_only=True)
    loader.strategy_loader.get("linear", class_only=True)


def remember_metadata() -> None:
    """Parse two long files of Ansible's, and compile the defaults of its settings, once for all runs."""
    from ansible import config
    from ansible.config import manager
    from ansible.utils.collection_loader import _collection_finder as finder

    text = Path(config.__path__[0], "ansible_builtin_runtime.yml").read_bytes()
    read = finder._meta_yml_to_dict
    metadata = read(text, None)
    finder._meta_yml_to_dict = lambda yaml_string_data, content_id: (
        metadata if yaml_string_data == text else read(yaml_string_data, content_id)
    )
    reader: Any = manager.ConfigManager
    base = reader._read_config_yaml_file(None, Path(config.__path__[0], "base.yml"))
    reader._read_config_yaml_file = lambda self, path: base  # Ansible has no other such file
    environment: Any = manager.NativeEnvironment()
    environment.from_string = functools.cache(environment.from_string)
    manager.NativeEnvironment = lambda: environment  # type: ignore[assignment,misc]


def import_collection(path: str) -> None:
    """Import the code of the collection that the runs share: it is as long as the rest of a short run."""
    from ansible.plugins import loader

    loader.init_plugin_loader()
    for folder in ("module_utils", "plugin_utils", "action"):
        import_folder(Path(path), folder)


def keep_collection() -> None:
    """Let a run use what was imported already: Ansible would prepare to find collections a second time."""
    from ansible.plugins import loader

    loader._configure_collection_loader = lambda prefix_collections_path=None: None


def forget_collection() -> None:
    """Let a run find its collections in other folders."""
    from ansible.plugins import loader
    from ansible.utils.collection_loader import AnsibleCollectionConfig
    from ansible.utils.collection_loader._collection_finder import _AnsibleCollectionFinder

    _AnsibleCollectionFinder._remove()
    AnsibleCollectionConfig.on_collection_load -= loader._on_collection_load_handler
    for name in [name for name in sys.modules if name.partition(".")[0] == "ansible_collections"]:
        del sys.modules[name]


def local_folder() -> str:
    """Return the folder of this run for temporary files."""
    from ansible import constants

    return str(getattr(constants, "DEFAULT_LOCAL_TMP"))  # noqa: B009 - it has no annotation


def share_modules(collections: str) -> None:
    """Let all runs that have the same collections use the archives that one of them makes of a module."""
    shared = SHARED / hashlib.sha256(collections.encode()).hexdigest()
    shared.mkdir(exist_ok=True)
    Path(local_folder(), "ansiballz_cache").symlink_to(shared)


def run_ansible(request: Request, usual: dict[str, str]) -> NoReturn:
    """Go on as ansible-playbook does from its first line, or another of these programs."""
    from ansible.config import manager

    read_settings_anew()
    now = settings()
    if {name for name, value in now.items() if usual.get(name) != value} - LOOKED_UP_LATER:
        manager.cleanup_tmp_file(local_folder())
        request.execute()
    if now["COLLECTIONS_PATHS"] == usual["COLLECTIONS_PATHS"]:
        keep_collection()
    else:
        forget_collection()
    share_modules(now["COLLECTIONS_PATHS"])
    folder, name = os.path.split(request.program)
    sys.argv = [request.program, *request.arguments]
    sys.path[0] = folder
    sys.exit(importlib.import_module(name.replace("ansible-", "ansible.cli.")).main())


# --- python ------------------------------------------------------------------------------------------------


CODES: dict[bytes, types.CodeType] = {}
"""What the server has compiled itself, by source."""


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


def run_python(request: Request) -> None:
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


def main() -> None:
    """Serve one of the two kinds of programs."""
    kind, path = sys.argv[1:]
    for name in (*STANDARD, *LIBRARIES, *(ANSIBLE if kind == "ansible" else ())):
        importlib.import_module(name)
    usual = {}
    if kind == "ansible":
        usual = settings()
        remember_metadata()
        read_settings_anew()
        load_plugins()
        import_collection(os.environ["ANSIBLE_COLLECTIONS_PATH"])
    else:
        keep_bytecode(Path.home())
        ReadyModules(os.environ["ANSIBLE_COLLECTIONS_PATH"])
    server = Server(path)
    gc.collect()
    gc.freeze()
    print("ready", flush=True)
    request = server.serve()
    # A run is short: to look for circles in all that it was given costs a tenth of its time.
    gc.set_threshold(50_000)
    request.enter()
    if kind == "ansible":
        end(lambda: run_ansible(request, usual))
    end(lambda: run_python(request))


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
