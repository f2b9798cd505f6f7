# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Import what programs import, and fork for each of their runs: ``server.py ansible|python SOCKET``.

In the fork, Ansible reads its settings again from the environment of the run. If one differs that Ansible
looks up while it is imported, the fork executes the real program instead.
"""

from __future__ import annotations

import atexit
import functools
import gc
import hashlib
import importlib
import marshal
import os
import selectors
import signal
import socket
import sys
import time
import types
import zipimport
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
        for file in sorted(Path(path, COLLECTION, "plugins", folder).rglob("*.py")):
            name = ".".join(file.relative_to(path).with_suffix("").parts)
            importlib.import_module(name.removesuffix(".__init__"))


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


def keep_bytecode(folder: Path) -> None:
    """Compile each source in a zip file once: modules arrive in such files, and Python caches none."""
    compile_source = zipimport._compile_source  # type: ignore[attr-defined]

    def compiled(path: str, source: bytes) -> types.CodeType:
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
    server = Server(path)
    gc.collect()
    gc.freeze()
    print("ready", flush=True)
    request = server.serve()
    request.enter()
    if kind == "ansible":
        run_ansible(request, usual)
    run_python(request)


if __name__ == "__main__":
    main()
