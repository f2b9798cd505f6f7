# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the platform and the token of a task or lookup: in the task, its host, or the environment.

The nearest of these wins. A token is bound to the platform that it is for: what a host brings along is used
as a whole or not at all, and not when the task names another platform than the host's own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils._ansible.options import CONNECTION_SPEC
from ...module_utils._api.errors import ConfigurationError
from .values import untagged

URL, OWN_URL = "hosted_url", "hosted_services_url"
"""The variable that the inventory hands on to its hosts, and the one that users set."""
SETTINGS = {
    option: f"hosted_services_{option}"
    for option in CONNECTION_SPEC
    if option not in ("base_url", "token", "token_file")
}
"""The variable of each option that is neither the address nor a token."""
OWN_TOKENS = {"token": "hosted_services_token", "token_file": "hosted_services_token_file"}
"""Variables that users set: the token itself, mostly from a vault, or a file."""
PASSED_VARIABLES = {
    "token_file": "hosted_token_file",
    "token_env": "hosted_token_env",
    "token_variable": "hosted_token_variable",
}
"""Options of the inventory that say where the token is, and the variables that hand that on."""
UNPASSED_VARIABLES = "hosted_token_handed_on"
"""False on the hosts of an inventory with a token of its own, for which it names no source."""
ACCOUNT_OF = "hosted_account_of"
"""The host of the inventory on whose account a task on another host, such as localhost, works."""
ACCOUNT_VARIABLES = (URL, OWN_URL, *OWN_TOKENS.values(), *PASSED_VARIABLES.values(), UNPASSED_VARIABLES)
VARIABLES = (ACCOUNT_OF, *ACCOUNT_VARIABLES, *SETTINGS.values())
ENVIRONMENT = {option: spec["fallback"][1][0] for option, spec in CONNECTION_SPEC.items()}
MAY_BE_EMPTY = {"auth_scheme": SETTINGS["auth_scheme"]}
IDENTIFYING = ("base_url", "token", "token_file")
AS_OPTIONS = {name: name for name in OWN_TOKENS}

Template = Callable[[Any], Any]


@dataclass(frozen=True)
class CompletedArguments:
    """The arguments of a task or lookup with what its host brings along, and how they relate to the host."""

    arguments: dict[str, Any]
    same_platform: bool = True
    """True if the host is on this platform, so that the ids in its variables are valid there."""
    from_controller: bool = False
    """True if the host names a file of the controller that has the token, wherever the task runs."""
    warnings: tuple[str, ...] = ()
    elsewhere: str = ""
    """The difference of platform or account from those of the host's inventory; empty if there is none."""


def complete_arguments(
    arguments: Mapping[str, Any],
    environment: Mapping[str, Any],
    variables: Mapping[str, Any],
    template: Template,
) -> CompletedArguments:
    """Return ``arguments`` with the connection that the variables of a host name, where that is nearest.

    ``environment`` is what the task's own keyword sets. The controller's comes last, and is checked only.
    """
    for name in IDENTIFYING:  # another one would be used in its place
        if name in arguments and arguments[name] is None:
            raise ConfigurationError(
                f"{name} is null; give it a value, or leave it out, as default(omit) does in a template"
            )
    own_token = token_in("the task or its module_defaults", arguments, AS_OPTIONS)
    own_token = own_token or token_in("the environment of the task", environment, ENVIRONMENT)
    filled = {**arguments, **own_token}
    if any(name in variables for name in VARIABLES):
        return completed_by_host(filled, own_token, environment, variables, template)
    if not own_token:
        token_in("the environment", os.environ, ENVIRONMENT)
    return CompletedArguments(filled)


def completed_by_host(
    filled: dict[str, Any],
    own_token: Mapping[str, Any],
    environment: Mapping[str, Any],
    variables: Mapping[str, Any],
    template: Template,
) -> CompletedArguments:
    """Return the arguments with the connection of a host that names one, unless the task has another."""
    variables = variables_of_account(variables, template)
    host = variables.get("inventory_hostname")
    own_url = filled.get("base_url") or environment.get(ENVIRONMENT["base_url"])
    values = [value_of(name, variables, template) for name in (OWN_URL, URL) if is_set(name, variables)]
    urls = list(dict.fromkeys(map(plain_url, values)))
    is_own = own_url is None or not urls or [plain_url(own_url)] == urls
    if own_url is None and urls:
        if len(urls) > 1:  # which was set with more thought cannot be seen
            raise ConfigurationError(
                f"the variables {OWN_URL} ({urls[0]}) and {URL} ({urls[1]}) of {host} name two platforms; "
                "set one, or base_url on the task"
            )
        filled["base_url"] = urls[0]
    from_host = host_token(variables, template) if is_own and not own_token else {}
    if is_own:
        filled.update(host_settings(filled, environment, variables, template))
    warnings = list[str]()
    if not own_token and not from_host:
        if is_own and variables.get(UNPASSED_VARIABLES) is False:
            raise ConfigurationError(
                f"the inventory read {host} with its own token, which it does not pass on and which is not "
                "the one in the environment. Name it with token_env, token_file or token_variable in the "
                "inventory file, or set it on the task"
            )
        token_in("the environment", os.environ, ENVIRONMENT)
        other = plain_url(os.environ.get(ENVIRONMENT["base_url"]) or "")
        if own_url is None and urls and other not in ("", urls[0]):
            warnings.append(
                f"the token of the environment, which names {other} as the platform, was used on {urls[0]}: "
                "the host names that platform, but no token. Name one in its inventory with token_env, "
                "token_file or token_variable"
            )
    return CompletedArguments(
        {**filled, **from_host},
        same_platform=is_own,
        from_controller="token_file" in from_host,
        warnings=tuple(warnings),
        elsewhere=describe_difference(filled, bool(own_token), variables, template),
    )


def variables_of_account(variables: Mapping[str, Any], template: Template) -> Mapping[str, Any]:
    """Return the variables, with the connection of the host that ``hosted_account_of`` names, if any."""
    if not is_set(ACCOUNT_OF, variables):
        return variables
    name, hosts = value_of(ACCOUNT_OF, variables, template), variables["hostvars"]
    if name not in hosts:
        raise ConfigurationError(f"{ACCOUNT_OF} is {name!r}, which is no host of the inventory")
    host = hosts[name]
    its_own = ("inventory_hostname", *ACCOUNT_VARIABLES, *SETTINGS.values())
    vaulted = host.get(PASSED_VARIABLES["token_variable"])  # which only that host may have
    return {
        **variables,
        **dict.fromkeys(ACCOUNT_VARIABLES, ""),
        **{each: host[each] for each in (*its_own, vaulted) if each and each in host},
    }


def plain_url(url: Any) -> str:
    return str(url).rstrip("/\r\n")


# --- The token ----------------------------------------------------------------------------------------


def token_in(place: str, settings: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the token of one place, or its file, as an option; nothing if it has neither.

    A place has one of them: Ansible does not say which of two is nearer to a task.

    :param names: what the place calls the two.
    """
    token, file = settings.get(names["token"]), settings.get(names["token_file"])
    if token not in (None, "") and file not in (None, ""):
        raise ConfigurationError(
            f"{place} has both {names['token']} and {names['token_file']}, which may belong to two accounts; "
            "keep only one of them. A default for many tasks or an outer block must be of the same kind as "
            "what replaces it"
        )
    if token is not None:
        return {"token": token}
    return {} if file is None else {"token_file": file}


def host_token(variables: Mapping[str, Any], template: Template) -> dict[str, Any]:
    """Return the token of a host, or its file, as one option; nothing when its variables name none."""
    sources = [name for name in (*OWN_TOKENS.values(), *PASSED_VARIABLES.values()) if is_set(name, variables)]
    if len(sources) > 1:
        raise ConfigurationError(
            f"the variables {' and '.join(sources)} of {variables.get('inventory_hostname')} each name "
            "a token, and they may belong to two accounts; keep the one for the account of the host's "
            "service, and remove the others or set them to an empty string"
        )
    for name in sources:
        value = value_of(name, variables, template)
        if name == PASSED_VARIABLES["token_env"]:
            return {"token": token_in_environment(str(value), name)}
        if name != PASSED_VARIABLES["token_variable"]:
            return {"token" if name == OWN_TOKENS["token"] else "token_file": value}
        if is_set(str(value), variables):
            return {"token": value_of(str(value), variables, template)}
        raise ConfigurationError(
            f"{name} says that the token is in the variable {value}, which is not set for this host"
        )
    return {}


def token_in_environment(variable: str, source: str) -> str:
    token = os.environ.get(variable)
    if not token:
        raise ConfigurationError(
            f"{source} says that the token is in the environment variable {variable}, which is not set"
        )
    return token


# --- All else -----------------------------------------------------------------------------------------


def host_settings(
    filled: Mapping[str, Any],
    environment: Mapping[str, Any],
    variables: Mapping[str, Any],
    template: Template,
) -> dict[str, Any]:
    """Return the other options of the connection that the host's variables set and the task does not."""
    return {
        option: value_of(name, variables, template)
        for option, name in SETTINGS.items()
        if filled.get(option) is None
        and ENVIRONMENT[option] not in environment
        and (is_set(name, variables) or (option in MAY_BE_EMPTY and variables.get(name) is not None))
    }


def describe_difference(
    filled: Mapping[str, Any], own_token: bool, variables: Mapping[str, Any], template: Template
) -> str:
    """Say how platform or account of a task differ from those of the host's inventory, if they do."""
    if not is_set(URL, variables):
        return ""
    url, host = plain_url(value_of(URL, variables, template)), variables.get("inventory_hostname")
    used = plain_url(filled.get("base_url") or os.environ.get(ENVIRONMENT["base_url"]))
    if used != url:
        return f"the inventory read {host} from {url}, and the task uses {used}"
    if own_token:
        return f"the inventory read {host} with another token than the task, perhaps of another account"
    return ""


def is_set(name: str, variables: Mapping[str, Any]) -> bool:
    """Tell whether a variable is set. An empty string takes a value back that another place has set."""
    return variables.get(name) not in (None, "")


def value_of(name: str, variables: Mapping[str, Any], template: Template) -> Any:
    """Return a variable as it is rendered."""
    value = untagged(template(variables[name]))
    if value is None or (isinstance(value, str) and not value.strip() and name not in MAY_BE_EMPTY.values()):
        raise ConfigurationError(f"the variable {name} is set, but empty")
    return value
