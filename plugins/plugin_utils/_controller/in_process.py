# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running a module inside the controller, without a second Python: the fast way, taken wherever it can be."""

from __future__ import annotations

import atexit
import fcntl
import gc
import math
import os
import stat
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

from ansible import constants, context
from ansible.errors import AnsibleError, AnsibleFileNotFound
from ansible.module_utils.common.arg_spec import ModuleArgumentSpecValidator
from ansible.module_utils.errors import UnsupportedError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.task import Task
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ...module_utils._ansible.execution import RunContext, execute, shown_options
from ...module_utils._ansible.options import (
    CONVERSION_ERRORS,
    argument_spec,
    checked_arguments,
    find_invalid_argument,
)
from ...module_utils._api.client import Client
from ...module_utils._api.errors import ConfigurationError, HostedError
from ...module_utils._api.text import in_one_line
from ...module_utils._resources.shared.budget import ENVIRONMENT as BUDGET_VARIABLE
from ...module_utils._resources.shared.budget import VARIABLE, Budget, read_budget
from ...module_utils._resources.shared.connecting import token_in_file
from ...module_utils._resources.shared.plan import SERVICE_ID, Resource
from ...module_utils._resources.shared.store import HOME_VARIABLE, PLAYBOOK_FOLDER, RUN_FOLDER
from .._broker.client import connect_to_broker
from .connection_sources import ENVIRONMENT, URL, CompletedArguments, complete_arguments
from .values import untagged, with_token_decrypted

display = Display()

WATCHED = sys.stdout.isatty()
"""True if the output goes to a terminal. Read before Ansible forks, because workers have no terminal."""
IN_PROCESS, KEEP_CONNECTIONS = "hosted_in_process", "hosted_keep_connections"
PROGRESS_INTERVAL, SECONDS_BETWEEN_PROGRESS = "hosted_progress_interval", 10.0
BUDGET, GROUP = "budget", "group/hosted.services.all"
"""An option, and the name in ``module_defaults`` of the group of all modules."""
INVENTORY_VARIABLE = "hosted_inventory_budget"
BUDGET_VARIABLES = (VARIABLE, INVENTORY_VARIABLE, "hosted_held_budget")
"""Those of users, of the inventory file and of the rulebook hold_orders: one would hide the others."""
FREEZE_SWITCH = "HOSTED_SERVICES_FREEZE"
"""The environment variable that switches :func:`freeze_imports` off, with 0."""
PATHS_OF_CONNECTION = ("token_file", "ca_path")
ADDRESS, HOST_NAME, KEY_FILE = "ansible_host", "inventory_hostname", "ansible_private_key_file"
NAMES_A_SERVICE = frozenset({"name", "service", "services"})
"""Options that take the name of a service; ``name`` does so in the modules on services alone."""
Template = Callable[[Any], Any]
ReadSource = Callable[[Resource, Mapping[str, Any], DataLoader, Template], dict[str, Any]]


class InProcessAction(ActionBase):
    """Base of the collection's actions: see :func:`action_for`."""

    resource: ClassVar[Resource]
    read_source: ReadSource | None = None
    """Returns what only the controller can read for the resource: its carried options."""
    _supports_async = True
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the task here, or hand it over where it has to run elsewhere.

        Both find the ``environment`` of the task, as a module would, and ``home`` of ansible.cfg in it.
        """
        variables = task_vars or {}
        result: dict[str, Any] = super().run(tmp, variables)
        outer, self._own_environment = dict(os.environ), dict[str, Any]()
        self._compute_environment_string(self._own_environment)
        inner = {
            HOME_VARIABLE: constants.config.get_config_value("ANSIBLE_HOME"),
            **{name: str(value) for name, value in self._own_environment.items()},
            PLAYBOOK_FOLDER: self._loader.get_basedir(),
            # Ansible makes it for each run, for its user alone, and removes it at the end.
            RUN_FOLDER: constants.DEFAULT_LOCAL_TMP,  # type: ignore[attr-defined]
        }
        try:
            os.environ.update(inner)  # which ends at what cannot be in one
            result.update(self._run_completed(outer, variables))
        except HostedError as error:
            result.update(self._failed_result(error.message, self._task.args))
        finally:
            for name in os.environ.keys() - outer.keys():
                del os.environ[name]
            os.environ.update({name: value for name, value in outer.items() if os.environ.get(name) != value})
        with suppress(AnsibleError):  # always shown, until ansible-core 2.21 made it a setting
            if not constants.config.get_config_value("INJECT_INVOCATION", variables=variables):
                result.pop("invocation", None)
        return result

    def _run_completed(self, outer: Mapping[str, str], variables: Mapping[str, Any]) -> dict[str, Any]:
        """Run the task with what its host brings along, here or as a module."""
        resource, task, template = self.resource, self._task, self._templar.template
        known = variables
        if task.delegate_to:
            # Ansible fills these in for a host whose variables name no user or port. They have the second
            # names, so that any variable comes first.
            known = {"ansible_ssh_user": task.remote_user, "ansible_ssh_port": task.port, **variables}
        completed = with_host_variables(resource, task.args, self._own_environment, known, template)
        # As they were written: a path that is made whole does not look empty any more.
        arguments = checked_arguments(resource, completed.arguments)
        if BUDGET in resource.options:
            environments = [outer, self._own_environment]
            arguments = with_budget(arguments, task, environments, variables, template)
        here = self._connection.transport == "local"
        in_process = boolean(template(variables.get(IN_PROCESS, True)))
        as_module = task.async_val or (task.delegate_to and not here) or not in_process
        carried: dict[str, Any] = {}
        if here or not as_module:
            folder = self._loader.get_basedir()
            arguments = with_absolute_paths(resource, arguments, self._find_needle, folder)
            if self.read_source:
                carried = self.read_source(resource, arguments, self._loader, template)
        if as_module:
            readable = with_readable_token(arguments, completed.from_controller, here, self._loader)
            result = self._run_as_module({**readable, **carried}, here, variables)
        else:
            result = self._run_here(arguments, carried, variables)
        if completed.warnings or completed.elsewhere:
            add_warnings(resource, completed, result)
        return result

    def _run_as_module(
        self, arguments: dict[str, Any], here: bool, variables: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Run the module. ``become`` has no effect on the controller, as it has none inside of it."""
        delegated, become = self._task.delegate_to, self._connection.become
        host = delegated or variables.get(HOST_NAME)
        known = variables.get("ansible_delegated_vars", {}).get(delegated, {}) if delegated else variables
        if not here and known.get("ansible_facts_modules") == [] and known.get(URL):
            raise ConfigurationError(
                f"{host} is reached over SFTP, where there is no Python for a module to run on, as it does "
                "with async or hosted_in_process: false. Add delegate_to: localhost, to async_status as well"
            )
        if here:
            self._connection.become = None
        try:
            result: dict[str, Any] = self._execute_module(
                module_args=arguments,
                task_vars=variables,
                wrap_async=self._task.async_val and not self._connection.has_native_async,
            )
        finally:
            self._connection.become = become
        return result

    def _run_here(
        self, arguments: dict[str, Any], carried: Mapping[str, Any], variables: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Validate the arguments as a module does, and run the task."""
        task, resource, template = self._task, self.resource, self._templar.template
        spec, given = argument_spec(resource), untagged(arguments)
        try:
            validation = ModuleArgumentSpecValidator(spec, **resource.rules).validate(given)
        except CONVERSION_ERRORS:
            wrong = find_invalid_argument(spec, given)
            raise ConfigurationError(f"{wrong} has a value that the option cannot have") from None
        if validation.error_messages:
            message = str(validation.errors.msg)
            if isinstance(validation.errors[0], UnsupportedError):
                message = f"Unsupported parameters for ({task.action}) module: {message}"
            return self._failed_result(message, validation.validated_parameters)
        keeps = boolean(template(variables.get(KEEP_CONNECTIONS, True)))
        own, context = str(self._own_environment or ""), RunContext(task.check_mode, task.diff)
        context.connect = lambda settings, log: Client(
            settings, log, connect_to_broker(os.environ[RUN_FOLDER], own, keeps=keeps)
        )
        if not task.no_log:
            host = task.delegate_to or self._play_context.remote_addr
            context.log = lambda line: display.vvv(f"hosted.services: {line}", host=host)
            if WATCHED:
                seconds = template(variables.get(PROGRESS_INTERVAL, SECONDS_BETWEEN_PROGRESS))
                context.progress = Progress(variables.get(HOST_NAME), seconds)
        options = validation.validated_parameters
        for name in PATHS_OF_CONNECTION:  # from the environment; a module here begins at the playbook as well
            if options[name]:
                options[name] = os.path.join(self._loader.get_basedir(), options[name])
        if options["token"] is None:
            options = with_token_decrypted(options, self._loader)
        return execute(resource, {**options, **carried}, context)

    def _failed_result(self, message: str, given: Mapping[str, Any]) -> dict[str, Any]:
        shown = shown_options(self.resource, untagged(dict(given)))
        return {"failed": True, "changed": False, "msg": message, "invocation": {"module_args": shown}}


def action_for(resource: Resource, read_source: ReadSource | None = None) -> type[InProcessAction]:
    """Return the action of a module; its argument spec is made here, before Ansible forks its workers."""
    argument_spec(resource)
    freeze_imports()
    own = {"resource": resource, "read_source": read_source and staticmethod(read_source)}
    return type("ActionModule", (InProcessAction,), own)


@cache
def freeze_imports() -> None:
    """Exempt what is there by now from garbage collection, once in a process, before Ansible forks.

    To free all that was imported took a third of the time of a start. A file that another plugin left open in
    a reference cycle is written to its end only by the collection at the end of the run. So nothing stays
    exempt where a file is open for writing by then.
    """
    if os.environ.get(FREEZE_SWITCH) != "0":
        gc.freeze()
        atexit.register(unfreeze_for_open_files)


def unfreeze_for_open_files() -> None:
    """Collect everything, as ever, if a file that has a name is open for writing."""
    handles = {int(name) for name in os.listdir("/dev/fd")} if os.path.isdir("/dev/fd") else set[int]()
    for handle in handles - {0, 1, 2}:  # Python flushes the standard streams by itself
        with suppress(OSError):  # such as the handle that the folder was read with
            found, flags = os.fstat(handle), fcntl.fcntl(handle, fcntl.F_GETFL)
            if stat.S_ISREG(found.st_mode) and found.st_nlink and flags & os.O_ACCMODE != os.O_RDONLY:
                gc.unfreeze()


class Progress:
    """Shows lines of progress under the name of the host, the next one when the last is old enough."""

    def __init__(self, host: str | None, seconds: Any) -> None:
        self.host, self.shown, self.seconds = host, time.monotonic(), -1.0
        with suppress(TypeError, ValueError):
            self.seconds = float(seconds)
        if not 0 <= self.seconds < math.inf:
            raise AnsibleError(
                f"the variable {PROGRESS_INTERVAL} is {seconds!r}; give a number of seconds, 0 for none"
            )

    def __call__(self, line: str) -> None:
        now = time.monotonic()
        if self.seconds and now - self.shown >= self.seconds:
            self.shown = now
            display.display(f"  [{self.host}] {in_one_line(line)}")


def with_budget(
    arguments: dict[str, Any],
    task: Task,
    environments: Sequence[Mapping[str, Any]],
    variables: Mapping[str, Any],
    template: Template,
) -> dict[str, Any]:
    """Return the arguments of a task with the limits of all places in the option ``budget``. Each holds.

    Unlike the settings of the connection, the nearest does not win: a guard that a nearer setting raises is
    none. A module that runs elsewhere finds there what the controller's variables and environment set.
    """
    found = [(BUDGET_VARIABLE, each[BUDGET_VARIABLE]) for each in environments if BUDGET_VARIABLE in each]
    found += [(name, template(variables[name])) for name in BUDGET_VARIABLES if name in variables]
    for level in task.module_defaults or ():  # Ansible passes on the nearest one only
        for name in (task.resolved_action, GROUP):
            defaults = template(level[name]) if level and name in level else None
            if isinstance(defaults, Mapping) and BUDGET in defaults:
                found.append(("budget of module_defaults", template(defaults[BUDGET])))
    if BUDGET in arguments:
        found.append((BUDGET, arguments[BUDGET]))
    budget = Budget()
    for source, value in found:
        budget = budget.with_limits_of(read_budget(untagged(value), source))
    return {**arguments, BUDGET: budget.as_option()} if found else arguments


# --- What the host of the play brings along --------------------------------------------------------------


def with_host_variables(
    resource: Resource,
    arguments: Mapping[str, Any],
    environment: Mapping[str, Any],
    variables: Mapping[str, Any],
    template: Template,
) -> CompletedArguments:
    """Return the arguments of a task, completed from the variables of the play's host.

    The variables fill in the connection to the platform if the task names none. For a resource with
    ``host_options`` they also select the host's own service, unless the task selects something else or names
    another platform.
    """
    if SERVICE_ID in variables:
        check_own_name(resource, arguments, variables)
    from_host = {}
    if variables.get(HOST_NAME) not in constants.LOCALHOST and resource.works_on_host(arguments):
        from_host = host_values(resource, variables, template)
    filled = {**from_host, **arguments}  # null is kept: it must be refused, not filled in
    if not resource.needs_api(filled):
        return CompletedArguments(filled)
    completed = complete_arguments(arguments, environment, variables, template)
    if completed.same_platform and from_host:
        return replace(completed, arguments={**from_host, **completed.arguments})
    return completed


def host_values(resource: Resource, variables: Mapping[str, Any], template: Template) -> dict[str, Any]:
    known, found = own_variables(variables), {}
    of_service = SERVICE_ID in known and HOST_NAME in resource.host_options.get("host", ())
    if of_service:
        name = known.get(HOST_NAME)
        # Ansible fills in the name where there is no address.
        has_address = known.get(ADDRESS) != name or (known.get("hostvars", {}).get(name) or {}).get(ADDRESS)
        known = {**known, ADDRESS: known.get(ADDRESS) if has_address else None, HOST_NAME: None}
    for option, names in resource.host_options.items():
        value = next((known[name] for name in names if known.get(name) not in (None, "")), None)
        if value is not None:
            found[option] = template(value)
    if of_service and "host" not in found:
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


def check_own_name(resource: Resource, arguments: Mapping[str, Any], variables: Mapping[str, Any]) -> None:
    """Refuse the name of a host in place of that of its service, where an inventory had to change the name.

    An order by that name would double each service of the play, and a deletion would find nothing.
    """
    host, service = variables.get(HOST_NAME), variables.get("hosted_name")
    if service in (None, host):
        return
    for option in NAMES_A_SERVICE & arguments.keys():
        given = arguments[option]
        applies = option != "name" or resource.name in ("service", "service_info")
        if applies and host in (given if isinstance(given, list) else [given]):
            raise ConfigurationError(
                f"{option} is {host!r}, the name of the host in the inventory; its service is named "
                f"{service!r}. Name the service by its id, {SERVICE_ID}, or leave the option out"
            )


def with_absolute_paths(
    resource: Resource, arguments: Mapping[str, Any], find: Callable[[str, str], str], folder: str
) -> dict[str, Any]:
    """Return the arguments of a task with absolute paths in place of relative ones, however it runs.

    A file to read is looked for as ``ansible.builtin.copy`` looks for its source, by ``find``: in the folder
    ``files`` of the role, in the role, then in ``files`` next to the playbook. What is not found, or written,
    is in ``folder``, that of the playbook.
    """
    resolved = dict(arguments)
    for name, may_be_brought in resource.local_paths(arguments).items():
        value = arguments.get(name)
        path = os.path.expandvars(value) if isinstance(value, str) and name in resource.paths else value
        if not isinstance(path, str) or not path or path.startswith(("/", "~")):
            continue
        resolved[name] = os.path.join(folder, path)
        if may_be_brought:
            with suppress(AnsibleFileNotFound):
                resolved[name] = os.path.abspath(find("files", path))
    return resolved


def with_readable_token(
    arguments: dict[str, Any], of_controller: bool, here: bool, loader: DataLoader
) -> dict[str, Any]:
    """Return the arguments for a module, with the token in the place of a file that it could not read.

    That is one that ansible-vault has encrypted, and one ``of_controller`` for a module on another machine.
    """
    named = {name: arguments.get(name) for name in ("token", "token_file")}
    if here and set(named.values()) == {None}:
        named = {name: os.environ.get(ENVIRONMENT[name]) for name in named}
    if here or of_controller:
        read = with_token_decrypted(named, loader)
        if of_controller and not here and read["token"] is None:
            path = os.path.join(loader.get_basedir(), os.path.expanduser(str(read["token_file"])))
            read["token"] = token_in_file(path)
        if read["token"] != named["token"]:
            return {**arguments, "token": read["token"], "token_file": None}
    return arguments


def add_warnings(resource: Resource, completed: CompletedArguments, result: dict[str, Any]) -> None:
    """Add what there is to say of the connection, and of an id to delete that may be another account's."""
    given, warnings = completed.arguments, [*result.get("warnings", ()), *completed.warnings]
    found_nothing = not result.get("failed") and result.get(resource.result_key, result) is None
    if completed.elsewhere and given.get("state") == "absent" and given.get("id") and found_nothing:
        warnings.append(
            f"there is nothing to delete under the id {given['id']!r}, but it may be on another platform or "
            f"of another account: {completed.elsewhere}"
        )
    if warnings:
        result["warnings"] = warnings
