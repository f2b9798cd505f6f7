# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running a module inside the controller, without a second Python: the fast way, taken wherever it can be."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

from ansible import constants, context
from ansible.errors import AnsibleError
from ansible.module_utils.errors import UnsupportedError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import (
    RunContext,
    execute,
    shown_options,
)
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import (
    argument_spec,
    checked_arguments,
    validate,
)
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.connection import Connection
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    ConfigurationError,
    HostedError,
)
from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import (
    HttpTransport,
    Transport,
)
from ansible_collections.hosted.services.plugins.module_utils._api.session import Session
from ansible_collections.hosted.services.plugins.module_utils._api.text import in_one_line
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.connecting import (
    read_token,
    with_selected_token,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.controller_state import (
    HOME_VARIABLE,
    PLAYBOOK_FOLDER,
    RUN_FOLDER,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    SERVICE_ID,
    Resource,
)
from ansible_collections.hosted.services.plugins.plugin_utils._broker.client import connect_to_broker
from ansible_collections.hosted.services.plugins.plugin_utils._controller.budgets import (
    budget_sources,
    with_budget,
)
from ansible_collections.hosted.services.plugins.plugin_utils._controller.connection_sources import (
    ENVIRONMENT,
    URL,
    CompletedArguments,
    complete_arguments,
)
from ansible_collections.hosted.services.plugins.plugin_utils._controller.local_paths import (
    with_absolute_paths,
)
from ansible_collections.hosted.services.plugins.plugin_utils._controller.loop_connections import (
    LoopConnections,
)
from ansible_collections.hosted.services.plugins.plugin_utils._controller.values import first_values, untagged
from ansible_collections.hosted.services.plugins.plugin_utils._controller.vaulted import with_token_decrypted

display = Display()

WATCHED = sys.stdout.isatty()
"""True if the output goes to a terminal. Read before Ansible forks, because workers have no terminal."""
SECONDS_BETWEEN_PROGRESS = 10.0
ADDRESS, HOST_NAME, KEY_FILE = "ansible_host", "inventory_hostname", "ansible_private_key_file"
NAMES_A_SERVICE = frozenset({"name", "service", "services"})
"""Options that take the name of a service; ``name`` does so in the modules on services alone."""
CONNECTIONS = LoopConnections()


class InProcessAction(ActionBase):
    """Base of the collection's actions. A subclass names its module and adds nothing else."""

    resource: ClassVar[Resource]
    _own_environment: Mapping[str, str] = MappingProxyType({})
    """The ``environment`` of the task."""
    _outer_environment: Mapping[str, str] = MappingProxyType({})
    """That of the run, without it."""
    _carried: Mapping[str, Any] = MappingProxyType({})
    """What was read here for the resource, wherever it runs."""
    _uses_broker = True
    _supports_async = True
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the task here, or hand it over where it has to run elsewhere."""
        variables = task_vars or {}
        result: dict[str, Any] = super().run(tmp, variables)
        self._outer_environment = dict(os.environ)
        with self._environment() as environment:
            # The broker has the environment of the run: another proxy needs connections of the task's own.
            self._uses_broker = not environment and boolean(
                self._variable("hosted_keep_connections", variables, True)
            )
            self._own_environment = environment
            try:  # as they were written: a path that is made whole does not look empty any more
                checked_arguments(self.resource, self._task.args)
                result.update(self._run_completed(environment, variables))
            except HostedError as error:
                result.update(self._failed_result(error.message, self._task.args))
        if not shows_arguments(variables):
            result.pop("invocation", None)
        return result

    def _run_completed(self, environment: Mapping[str, str], variables: Mapping[str, Any]) -> dict[str, Any]:
        """Run the task with what its host brings along, here or as a module."""
        known = {**self._login_keywords(), **variables}
        completed = with_host_variables(
            self.resource, self._task.args, environment, known, self._templar.template
        )
        completed = replace(completed, arguments=self._with_budget(completed.arguments, variables))
        as_module = self._task.async_val or self._must_run_as_module(variables)
        if not as_module or self._connection.transport == "local":
            folder = self._loader.get_basedir()
            whole = with_absolute_paths(self.resource, completed.arguments, self._find_needle, folder)
            completed = replace(completed, arguments=whole)
            self._carried = self._read_here(whole)
        if as_module:
            result = self._run_as_module(completed, variables)
        else:
            result = self._run_here(completed.arguments, self._progress(variables))
        add_warnings(self.resource, completed, result)
        return result

    def _read_here(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what only the controller can read for the resource: its carried options."""
        return {}

    def _login_keywords(self) -> Mapping[str, Any]:
        """Return the keywords of a delegated task that hold for a host whose variables name no user or port.

        Otherwise Ansible fills them in itself. They have the second names, so that any variable comes first.
        """
        if not self._task.delegate_to:
            return {}
        return {"ansible_ssh_user": self._task.remote_user, "ansible_ssh_port": self._task.port}

    def _with_budget(self, arguments: Mapping[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments with the limits that hold for the task, wherever they are set."""
        if "budget" not in self.resource.options:
            return dict(arguments)
        environments = [self._outer_environment, self._own_environment]
        sources = budget_sources(self._task, environments, variables, self._templar.template)
        return with_budget(arguments, sources)

    def _run_as_module(self, completed: CompletedArguments, variables: Mapping[str, Any]) -> dict[str, Any]:
        in_background = self._task.async_val and not self._connection.has_native_async
        here = self._connection.transport == "local"
        if not here:
            check_python(self._task.delegate_to, variables)
        with self._without_become(here):
            result: dict[str, Any] = self._execute_module(
                module_args={**with_readable_token(completed, here, self._loader), **self._carried},
                task_vars=variables,
                wrap_async=in_background,
            )
        return result

    @contextmanager
    def _without_become(self, here: bool) -> Iterator[None]:
        """Leave ``become`` out for a module on the controller, as it has no effect inside the controller."""
        become = self._connection.become
        if here:
            self._connection.become = None
        try:
            yield
        finally:
            self._connection.become = become

    def _must_run_as_module(self, variables: Mapping[str, Any]) -> bool:
        """Tell whether the task has to run as a module: delegated, or with ``hosted_in_process: false``."""
        if not boolean(self._variable("hosted_in_process", variables, True)):
            return True
        return bool(self._task.delegate_to) and self._connection.transport != "local"

    def _progress(self, variables: Mapping[str, Any]) -> Callable[[str], None]:
        """Return what shows the progress of the task, under the name of its host."""
        if not WATCHED or self._task.no_log:
            return lambda line: None
        host = variables.get("inventory_hostname")
        seconds = progress_interval(
            self._variable("hosted_progress_interval", variables, SECONDS_BETWEEN_PROGRESS)
        )
        return throttle(lambda line: display.display(f"  [{host}] {in_one_line(line)}"), seconds)

    def _variable(self, name: str, variables: Mapping[str, Any], default: Any) -> Any:
        """Return a variable of the host that steers how tasks run. It may be a template."""
        return self._templar.template(variables.get(name, default))

    def _run_here(self, arguments: Mapping[str, Any], progress: Callable[[str], None]) -> dict[str, Any]:
        spec = argument_spec(self.resource)
        try:
            validation = validate(self.resource, untagged(dict(arguments)))
        except HostedError as error:
            return self._failed_result(error.message, arguments)
        if validation.error_messages:
            return self._failed_result(
                self._validation_message(validation.errors), validation.validated_parameters
            )
        context = RunContext(
            check_mode=self._task.check_mode,
            diff=self._task.diff,
            progress=progress,
            log=self._log,
            connect=self._connect,
        )
        options = with_selected_token(validation.validated_parameters, arguments)
        paths = [name for name, option in spec.items() if option.get("type") == "path" and options[name]]
        for name in paths:  # from the environment; a module on this machine begins at the playbook as well
            options[name] = os.path.join(self._loader.get_basedir(), options[name])
        options = with_token_decrypted(options, self._loader)
        return execute(self.resource, {**options, **self._carried}, context)

    def _failed_result(self, message: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of a task whose arguments are wrong."""
        shown = shown_options(self.resource, untagged(dict(given)))
        return {"failed": True, "changed": False, "msg": message, "invocation": {"module_args": shown}}

    def _validation_message(self, problems: Any) -> str:
        """Say what is wrong with the arguments in the words that a module uses."""
        if isinstance(problems[0], UnsupportedError):
            return f"Unsupported parameters for ({self._task.action}) module: {problems.msg}"
        return str(problems.msg)

    def _log(self, line: str) -> None:
        if self._task.no_log:
            return
        display.vvv(f"hosted.services: {line}", host=self._task.delegate_to or self._play_context.remote_addr)

    def _connect(self, settings: Connection, log: Callable[[str], None]) -> Client:
        """Return a client whose connections stay open: for the other tasks of the run, or of the loop."""

        def open_new() -> Transport:
            return connect_to_broker(run_folder()) if self._uses_broker else HttpTransport()

        key = (settings, self._own_environment, self._uses_broker)  # each item may have another environment
        return Client(Session(settings, log, CONNECTIONS.get(key, open_new)))

    @contextmanager
    def _environment(self) -> Iterator[Mapping[str, str]]:
        """Honour the ``environment`` of the task, as a module would find it, and yield it.

        ``home`` of ansible.cfg is part of it. A module on this machine inherits it.
        """
        wanted: dict[str, str] = {}
        self._compute_environment_string(wanted)
        changes = {
            HOME_VARIABLE: ansible_home(),
            **{name: str(value) for name, value in wanted.items()},
            PLAYBOOK_FOLDER: self._loader.get_basedir(),
            RUN_FOLDER: run_folder(),
        }
        before = {name: os.environ.get(name) for name in changes}
        os.environ.update(changes)
        try:
            yield wanted
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def run_folder() -> str:
    """Return the folder that Ansible makes for each run, for its user alone, and removes at the end."""
    # Ansible makes its constants when it starts, so that their types are not known before.
    folder: str = constants.DEFAULT_LOCAL_TMP  # type: ignore[attr-defined]
    return folder


def ansible_home() -> str:
    """Return Ansible's home: ``home`` of ansible.cfg, ``ANSIBLE_HOME``, or Ansible's default."""
    home: str = constants.config.get_config_value("ANSIBLE_HOME")
    return home


def shows_arguments(variables: Mapping[str, Any]) -> bool:
    """Tell whether results carry their arguments: always, until ansible-core 2.21 made it a setting."""
    try:
        return bool(constants.config.get_config_value("INJECT_INVOCATION", variables=variables))
    except AnsibleError:
        return True


def with_host_variables(
    resource: Resource,
    arguments: Mapping[str, Any],
    environment: Mapping[str, Any],
    variables: Mapping[str, Any],
    template: Callable[[Any], Any],
) -> CompletedArguments:
    """Return the arguments of a task, completed from the variables of the play's host.

    The variables fill in the connection to the platform if the task names none. For a resource with
    ``host_options`` they also select the host's own service, unless the task selects something else or names
    another platform.

    :raises ConfigurationError: when the variables of the host contradict each other, or lead to nothing.
    """
    check_own_name(resource, arguments, variables)
    from_host = {}
    if variables.get("inventory_hostname") not in constants.LOCALHOST and resource.works_on_host(arguments):
        from_host = host_values(resource, variables, template)
    filled = {**from_host, **arguments}  # null is kept: it must be refused, not filled in
    if not resource.needs_api({**dict.fromkeys(resource.options), **filled}):
        return CompletedArguments(filled)
    completed = complete_arguments(arguments, environment, variables, template)
    if completed.same_platform:
        return replace(completed, arguments={**from_host, **completed.arguments})
    return completed


def host_values(
    resource: Resource, variables: Mapping[str, Any], template: Callable[[Any], Any]
) -> dict[str, Any]:
    """Return the options that the variables of the play's host fill in.

    :raises ConfigurationError: if they do not say where a service is. Its name is that of any other machine.
    """
    options, known = resource.host_options, own_variables(variables)
    if SERVICE_ID not in known or HOST_NAME not in options.get("host", ()):
        return first_values(options, known, template)
    addresses = [name for name in options["host"] if name != HOST_NAME]
    found = first_values({**options, "host": addresses}, {**known, ADDRESS: own_address(known)}, template)
    if "host" not in found:
        raise ConfigurationError(
            f"{variables.get(HOST_NAME)} has no {ADDRESS}, so the server of its service is unknown; nothing "
            "was done. The service may offer no SFTP or not be created yet, or the inventory could not read "
            "its SFTP access, of which it warns, or has another connect_with. To ask the platform, set "
            f"service to the host's {SERVICE_ID}"
        )
    return found


def own_variables(variables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the variables of the play's host, without those of the machine that the task is delegated to.

    Ansible fills in the address and the login of that machine where the host has none. The variables of the
    play and of the task are in ``vars`` alone, which a later ansible-core removes.
    """
    if not variables.get("ansible_delegated_vars"):
        return variables
    own = variables.get("vars") or variables.get("hostvars", {}).get(variables.get(HOST_NAME)) or {}
    filled_in = constants.COMMON_CONNECTION_VARS - set(own)
    known = {name: value for name, value in variables.items() if name not in filled_in}
    return {KEY_FILE: context.CLIARGS.get("private_key_file"), **known}


def own_address(known: Mapping[str, Any]) -> Any:
    """Return the address of the play's host; ``None`` if Ansible fills in its name because there is none."""
    name, address = known.get(HOST_NAME), known.get(ADDRESS)
    if address != name:
        return address
    own = known.get("hostvars", {}).get(name) or {}
    return address if own.get(ADDRESS) else None


def check_own_name(resource: Resource, arguments: Mapping[str, Any], variables: Mapping[str, Any]) -> None:
    """Refuse the name of a host in place of that of its service, where an inventory had to change the name.

    An order by that name would double each service of the play, and a deletion would find nothing.

    :raises ConfigurationError: naming both.
    """
    host, service = variables.get("inventory_hostname"), variables.get("hosted_name")
    if SERVICE_ID not in variables or service in (None, host):
        return
    for option in NAMES_A_SERVICE & arguments.keys():
        given = arguments[option]
        applies = option != "name" or resource.name in ("service", "service_info")
        if applies and host in (given if isinstance(given, list) else [given]):
            raise ConfigurationError(
                f"{option} is {host!r}, the name of the host in the inventory; its service is named "
                f"{service!r}. Name the service by its id, {SERVICE_ID}, or leave the option out"
            )


def check_python(delegated: str | None, variables: Mapping[str, Any]) -> None:
    """Refuse to run as a module on a host that the inventory reaches over SFTP alone.

    :raises ConfigurationError: saying where the task can run.
    """
    host = delegated or variables.get("inventory_hostname")
    known = variables.get("ansible_delegated_vars", {}).get(delegated, {}) if delegated else variables
    if known.get("ansible_facts_modules") == [] and known.get(URL):
        raise ConfigurationError(
            f"{host} is reached over SFTP, where there is no Python for a module to run on, as it does with "
            "async or hosted_in_process: false. Add delegate_to: localhost, to async_status as well"
        )


def with_readable_token(completed: CompletedArguments, here: bool, loader: DataLoader) -> dict[str, Any]:
    """Return the arguments for a module, with the token in the place of a file that it could not read.

    That is one that ansible-vault has encrypted, and one of the controller's for a module on another machine.
    """
    arguments = completed.arguments
    named = {name: arguments.get(name) for name in ("token", "token_file")}
    if here and not any(value is not None for value in named.values()):
        named = {name: os.environ.get(ENVIRONMENT[name]) for name in named}
    if here or completed.from_controller:
        read = with_token_decrypted(named, loader)
        if completed.from_controller and not here and read["token"] is None:
            path = os.path.join(loader.get_basedir(), os.path.expanduser(str(read["token_file"])))
            read["token"] = read_token(None, path)
        if read["token"] != named["token"]:
            return {**arguments, "token": read["token"], "token_file": None}
    return arguments


def add_warnings(resource: Resource, completed: CompletedArguments, result: dict[str, Any]) -> None:
    """Add what there is to say of the connection, and of an id to delete that may be another account's."""
    given, warnings = completed.arguments, [*completed.warnings]
    found_nothing = not result.get("failed") and result.get(resource.result_key, result) is None
    if completed.elsewhere and given.get("state") == "absent" and given.get("id") and found_nothing:
        warnings.append(
            f"there is nothing to delete under the id {given['id']!r}, but it may be on another platform or "
            f"of another account: {completed.elsewhere}"
        )
    if warnings:
        result["warnings"] = [*result.get("warnings", ()), *warnings]


def progress_interval(value: Any) -> float:
    """Return how many seconds lie between two lines of progress; zero means that none is wanted.

    :raises AnsibleError: for what is not a number of seconds.
    """
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = -1
    if not 0 <= seconds < math.inf:
        raise AnsibleError(
            f"the variable hosted_progress_interval is {value!r}; give a number of seconds, 0 for no progress"
        )
    return seconds


def throttle(show: Callable[[str], None], seconds: float) -> Callable[[str], None]:
    """Return a function that shows a line when the last one is ``seconds`` old; with zero it shows none."""
    last = [time.monotonic()]

    def progress(line: str) -> None:
        if seconds and time.monotonic() - last[0] >= seconds:
            last[0] = time.monotonic()
            show(line)

    return progress
