# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a resource as an ordinary Ansible module, for example on a remote host or with ``async``."""

from __future__ import annotations

from typing import Any, NoReturn

from ansible.module_utils.basic import AnsibleModule

from .._api.errors import HostedError
from .._resources.shared.plan import Resource
from .execution import RunContext, execute, shown_options
from .options import argument_spec, checked_arguments


class HostedModule(AnsibleModule):
    """An Ansible module that never shows a secret option, not even if its arguments are invalid."""

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        super().__init__(  # type: ignore[no-untyped-call]
            argument_spec=argument_spec(resource),
            supports_check_mode=True,
            **resource.rules,
        )

    def _load_params(self) -> None:
        """Read and check the arguments before Ansible converts their types."""
        super()._load_params()  # type: ignore[no-untyped-call]
        names = {name for name in self.resource.carried_options if name in self.params}
        self.carried = {name: self.params.pop(name) for name in names}
        self.given = {name: value for name, value in self.params.items() if not name.startswith("_ansible_")}
        self.objection = ""
        try:
            self.params.update(checked_arguments(self.resource, self.given))
        except HostedError as error:
            self.objection = error.message

    def _log_invocation(self) -> None:
        """Log the invocation to syslog with secret options hidden.

        Ansible's own method hides ``no_log`` options only, and shows a dictionary that holds secrets.
        """
        shown = shown_options(self.resource, self.params)
        said = {name: str(value) for name, value in shown.items()}
        line = " ".join(f"{name}={value}" for name, value in said.items())
        self.log(f"Invoked with {line}", log_args=said)

    def fail_json(self, msg: str, **kwargs: Any) -> NoReturn:
        """Fail as any module does, with secret options hidden in ``invocation``."""
        kwargs.setdefault("invocation", {"module_args": shown_options(self.resource, self.params)})
        super().fail_json(msg, **kwargs)


def run_module(resource: Resource) -> None:
    """Run ``resource`` as a module: read the arguments, run the task, print the result and exit."""
    module = HostedModule(resource)
    if module.objection:
        module.fail_json(module.objection, invocation={"module_args": shown_options(resource, module.given)})
    diff: bool = module._diff  # noqa: SLF001 - the only name that Ansible gives it
    context = RunContext(check_mode=module.check_mode, diff=diff)
    result = execute(resource, {**module.params, **module.carried}, context)
    for warning in result.pop("warnings", []):
        module.warn(warning)
    if result.pop("failed", False):
        module.fail_json(**result)
    module.exit_json(**result)
