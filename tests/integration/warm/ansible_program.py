# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run ansible-playbook or ansible-inventory in a fork, with the settings of the run's own environment.

Ansible reads its settings again. If one differs that it looks up while it is imported, the fork executes
the real program instead.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import importlib
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

from integration.warm.forks import Request
from integration.warm.imports import import_all, import_folder

ANSIBLE = (
    "ansible.cli.inventory",
    "ansible.cli.playbook",
    "ansible.executor.task_executor",
    "ansible.plugins.action.normal",
)
# Each run of ansible-playbook loads all plugins of these kinds, and reads the documentation of each for the
# definitions of its options: half of the processor time of a short run.
KINDS = ("become", "callback", "connection", "inventory", "shell", "vars")

BROKER = "ansible_collections.hosted.services.plugins.plugin_utils._broker.server"
SHARED = Path.home()

# Ansible looks these up whenever it needs them. The folders of plugins are brought up to date as well.
LOOKED_UP_LATER = {
    "ANSIBLE_NOCOLOR", "ANSIBLE_NOCOWS", "ANSIBLE_PIPELINING", "CALLBACKS_ENABLED", "COLLECTIONS_PATHS",
    "CONFIG_FILE", "DEFAULT_CALLBACK_PLUGIN_PATH", "DEFAULT_FORKS", "DEFAULT_INTERNAL_POLL_INTERVAL",
    "DEFAULT_LOCAL_TMP", "DEFAULT_ROLES_PATH", "HOST_KEY_CHECKING", "INTERPRETER_PYTHON",
    "INVENTORY_ANY_UNPARSED_IS_FAILED", "INVENTORY_UNPARSED_WARNING", "LOCALHOST_WARNING",
    "VERBOSE_TO_STDERR",
}  # fmt: skip


def prepare(collections: str) -> dict[str, str]:
    """Import and load what runs need; return the settings that this was done with."""
    import_all(ANSIBLE)
    usual = settings()
    remember_metadata()
    read_settings_anew()
    load_plugins()
    import_collection(collections)
    return usual


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
    renew_lifeline()


def renew_lifeline() -> None:
    """Let the connection broker of a run end with the run, not with the process that forks all runs."""
    broker: Any = sys.modules.get(BROKER)
    if broker is not None:
        os.close(broker.LIFELINE)
        os.close(broker._LIFELINE_WRITER)
        broker.LIFELINE, broker._LIFELINE_WRITER = os.pipe()


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


def run(request: Request, usual: dict[str, str]) -> NoReturn:
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
