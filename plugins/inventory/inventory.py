# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: inventory
short_description: Use services as hosts, grouped by project and family
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Adds every service of the account as a host, in a group for its project, such as C(project_games), and in one for
    its family, such as C(family_game). The name of the file must end in C(hosted.yml) or C(hosted.yaml).
  - Hosts are ready for SFTP. Tasks with this collection's modules read the address of the platform from the inventory,
    and need no other setting than the token.
  - If the platform returns an error, the inventory fails. If only the SFTP access or the settings of some services
    cannot be read, a warning names these, and their hosts are added without them.
  - A host has the name of its service. Characters other than letters, digits, C(_), C(-) and C(.) become C(_). If a
    name is taken by an older service, a group, C(all) or C(localhost), the host gets the name of its project in front,
    as in C(staging-db), and the first characters of its id at the end if that is not enough.
  - The file is refused if another source uses one of its host names for another service, platform or token. Give
    inventories of several accounts O(hostnames) that differ.
  - No variable holds a secret, and no value from the platform is evaluated as a template.
options:
  plugin:
    description: Must be V(hosted.services.inventory).
    type: str
    required: true
    choices: [hosted.services.inventory]
  connect_with:
    description:
      - V(sftp) sets C(ansible_host), C(ansible_port) and C(ansible_user) from the SFTP access of each service, with one
        call for each. Facts are not gathered, because such hosts cannot run Python. SSH verifies host keys as usual.
      - V(address) sets C(ansible_host) and C(ansible_port) from the address of the service, for machines with an SSH
        server on their published port. V(none) sets nothing.
    type: str
    choices: [sftp, address, none]
    default: sftp
  sftp_max_age:
    description:
      - For how many seconds the SFTP access of a service is remembered on this machine. Only services that are new,
        have another status, or offered none, take a call then. V(0) reads all in each run, as C(--flush-cache) does.
      - The records hold no secret. They are in C(hosted_services/inventory) in Ansible's home, or in the folder that
        E(HOSTED_SERVICES_HOME) names.
    type: float
    default: 0
  base_url:
    description: Address of the platform's API, such as V(https://api.example.com). Can be a template.
  token:
    description: API token with scope C(FULL). Can be a template, such as a lookup in a password store.
  token_file:
    description: File with the API token on a single line, also for the tasks and lookups on the hosts. Takes precedence
      over a token from the environment. Can be a template, and encrypted with ansible-vault.
  token_env:
    description:
      - Name of the environment variable with the token, also for the tasks and lookups on the hosts, so that one play
        can use several accounts. Takes precedence over E(HOSTED_SERVICES_TOKEN) and E(HOSTED_SERVICES_TOKEN_FILE).
      - Only one of O(token), O(token_env), O(token_file) and O(token_variable) can be set, but O(token) beside
        O(token_variable).
    type: str
  token_variable:
    description:
      - Name of the variable with the token for the tasks and lookups on the hosts, such as an encrypted one in
        C(group_vars).
      - The inventory itself is read before such variables. It takes the same token from O(token), or from C(-e).
    type: str
  budget:
    description: The most that the tasks on the hosts may spend in a month, in currency units, as an amount or a mapping
      as for O(hosted.services.service#module:budget), which says what other limits hold. Can be a template.
    type: raw
  projects:
    description: Only services of these projects, by id or name. A project that does not exist is an error.
    type: list
    elements: str
    default: []
  families:
    description: Only services of these families, of V(GAME), V(APP), V(COMPUTE), V(VIRTUAL_MACHINE), V(DEDICATED) and
      V(BUCKET).
    type: list
    elements: str
    default: []
  statuses:
    description: Only services with these statuses, of V(PROVISIONING), V(AWAITING_ADMIN), V(ACTIVE), V(SUSPENDED),
      V(DELETING) and V(FAILED). By default, all that are not being deleted.
    type: list
    elements: str
    default: []
  names:
    description: Only services whose name matches one of these shell patterns, which are case-sensitive. A pattern that
      begins with V(!) excludes the names that it matches.
    type: list
    elements: str
    default: []
  include_metrics:
    description: Whether to read the live metrics of each service into C(hosted_state) and C(hosted_metrics), with one
      call per 50 services.
    type: bool
    default: false
  include_settings:
    description: Whether to read the settings of each service, such as its alias, into C(hosted_settings), with one call
      per service. They lack the launch command, which may hold a password.
    type: bool
    default: false
  hostnames:
    description: Jinja expressions over the host variables, without braces. The first non-empty result is the name of
      the host, or else the name of the service. If no host gets a name from them, a warning says so. With O(strict), an
      expression that cannot be evaluated is an error.
    type: list
    elements: str
    default: []
  hostvars_prefix:
    description: Prefix of the host variables' names. Those that tasks use, such as C(hosted_service_id), always keep
      their names.
    type: str
    default: hosted_
extends_documentation_fragment:
  - hosted.services.connection
  - hosted.services.connection.environment
  - ansible.builtin.constructed
  - ansible.builtin.inventory_cache
notes:
  - Host variables, with the prefix C(hosted_), are C(id), C(name), C(family), C(status), C(project), C(project_id),
    C(address), C(product), C(runtime), C(host), C(dimensions), C(monthly) (the monthly price billed now, in currency
    units, as a string), C(monthly_full) (the same while the service is active), C(hourly_label), C(is_free),
    C(can_power) and C(created_at). On request, they are also C(state), C(metrics) and C(settings).
  - Tasks and lookups on a host use C(hosted_url), the address of the platform, C(hosted_service_id), the id of the
    service, and C(hosted_inventory_budget), the O(budget). C(hosted_token_file), C(hosted_token_env) or
    C(hosted_token_variable) says where the token is. Other connection options, except O(timeout) and O(retries), are in
    variables such as C(hosted_services_auth_header).
  - C(hosted_token_handed_on) is V(false) if the file sets a O(token) other than that in the environment, and does not
    say where tasks find it. Tasks then refuse the token in the environment.
  - The filters O(projects), O(families), O(statuses) and O(names) can be templates. One that is set but empty is an
    error, because it would let everything through.
  - The cache stores the platform's responses by address, token and options. C(--flush-cache) reads from the platform
    again.
seealso:
  - module: hosted.services.service
  - module: hosted.services.service_info
"""

EXAMPLES = r"""
# A minimal hosted.yml. The token comes from the environment variable HOSTED_SERVICES_TOKEN.
plugin: hosted.services.inventory
base_url: https://api.example.com

---
# One of two accounts in a play. The tasks and lookups on its hosts use the same token.
plugin: hosted.services.inventory
base_url: https://api.example.com
token_env: HOSTED_TOKEN_EAST
hostnames: ["'east-' ~ hosted_name"]

---
# Active game servers and applications of two projects, grouped by product and location.
plugin: hosted.services.inventory
base_url: https://api.example.com
token: "{{ lookup('ansible.builtin.file', '~/.config/hosted/token') }}"
projects: [games, web]
families: [GAME, APP]
statuses: [ACTIVE]
names: ["*", "!test-*"]
include_metrics: true
hostnames:
  - hosted_project ~ '-' ~ hosted_name
keyed_groups:
  - key: hosted_product.slug
    prefix: product
  - key: hosted_host.location_label
    prefix: location
groups:
  running: hosted_state == 'running'
  large: hosted_dimensions.ram_gb >= 16
compose:
  backup_name: hosted_name ~ '-nightly'
strict: true

---
# Tasks on these hosts spend no more than 200 a month, nor more than 50 in the project shop.
plugin: hosted.services.inventory
base_url: https://api.example.com
budget: {account: 200, projects: {shop: 50}}

---
# For a large account: reads the SFTP access of a service once a day, and all else every ten minutes.
plugin: hosted.services.inventory
base_url: https://api.example.com
sftp_max_age: 86400
cache: true
cache_plugin: ansible.builtin.jsonfile
cache_connection: ~/.cache/hosted-inventory
cache_timeout: 600
"""

import hashlib
import hmac
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from itertools import chain
from typing import Any, cast

from ansible import constants
from ansible.errors import AnsibleError, AnsibleParserError
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable

from ..module_utils._ansible.execution import defect_result
from ..module_utils._ansible.options import CONNECTION_SPEC
from ..module_utils._api.client import Client
from ..module_utils._api.connection import Connection
from ..module_utils._api.errors import ConfigurationError, HostedError
from ..module_utils._api.libraries import require
from ..module_utils._api.text import in_one_line
from ..module_utils._api.values import FAMILIES, ServiceStatus
from ..module_utils._resources.services.listing import Listing, ServiceQuery, from_cache, read_listing
from ..module_utils._resources.shared.account import Account
from ..module_utils._resources.shared.budget import read_budget
from ..module_utils._resources.shared.connecting import connection, with_selected_token
from ..module_utils._resources.shared.identify import near_miss
from ..module_utils._resources.shared.names import check_selector
from ..module_utils._resources.shared.options import Options
from ..module_utils._resources.shared.store import HOME_VARIABLE
from ..plugin_utils._controller.connection_sources import (
    ENVIRONMENT,
    PASSED_VARIABLES,
    SETTINGS,
    UNPASSED_VARIABLES,
    token_in,
    token_in_environment,
)
from ..plugin_utils._controller.in_process import INVENTORY_VARIABLE
from ..plugin_utils._controller.values import untagged, with_token_decrypted
from ..plugin_utils._inventory.hosts import (
    group_name,
    host_names,
    project_groups,
    variables_of,
    warning_of_conflicts,
)

RESERVED = {"all", "ungrouped", *constants.LOCALHOST}
FILTERS = ("projects", "families", "statuses", "names")
KNOWN = {
    "families": FAMILIES,
    "statuses": [status for status in ServiceStatus.ALL if status != ServiceStatus.DELETED],
}
"""The values of filters. They are no ``choices``: Ansible compares these with a template, not its value."""
TEMPLATED = ("base_url", "token", "token_file")


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):
    """Turns the services of an account into hosts."""

    NAME = "hosted.services.inventory"

    def verify_file(self, path: str) -> bool:
        """Tell whether the file's name ends in ``hosted.yml`` or ``hosted.yaml``."""
        readable = super().verify_file(path)  # type: ignore[no-untyped-call]
        return bool(readable) and path.endswith(("hosted.yml", "hosted.yaml"))

    def parse(self, inventory: InventoryData, loader: DataLoader, path: str, cache: bool = True) -> None:
        """Read the services and add them to the inventory."""
        super().parse(inventory, loader, path, cache)
        config = self._read_config_data(path)
        try:
            require()
            self._check(config)
            options = self._connection_options(config)
            given = Options.from_ansible(with_token_decrypted(options, loader))
            settings = connection(given, "inventory")
            self._check_token_variable(settings, config)
            handed_on = self._passed_variables(options, config)
            listing = self._listing(settings, cache)
        except HostedError as error:
            raise AnsibleParserError(error.message) from None
        except AnsibleError:  # Ansible's own message about an option or a template
            raise
        except Exception as error:  # a defect of the collection; its text may hold a secret
            raise AnsibleParserError(defect_result(error)["msg"]) from None
        for warning in [*settings.warnings, *listing.warnings]:
            self.display.warning(warning)
        self._add_hosts(listing, settings.base_url, handed_on)

    # --- Options ----------------------------------------------------------------------------------

    def _check(self, config: Mapping[str, Any]) -> None:
        """Reject unknown options, which Ansible ignores: a misspelled filter would let everything through."""
        for name in config:
            if name not in self.option_definitions:
                raise ConfigurationError(f"unknown option {name!r}{near_miss(name, self.option_definitions)}")
        self._filters = {name: self._filter(name, config) for name in FILTERS}
        for name, known in KNOWN.items():
            for value in sorted({*self._filters[name]} - {*known}):  # which would let nothing through
                raise ConfigurationError(f"{name}: unknown value {value!r}; use some of {', '.join(known)}")
        max_age = self.get_option("sftp_max_age")
        if not max_age >= 0:  # which is false for NaN as well
            raise ConfigurationError(f"sftp_max_age is {max_age:g}; it must be 0 or more seconds")
        prefix = self.get_option("hostvars_prefix")
        if not f"{prefix}id".isidentifier():
            raise ConfigurationError(
                f"hostvars_prefix is {prefix!r}; names of variables are letters, digits and underscores, "
                "and do not begin with a digit"
            )

    def _filter(self, name: str, config: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the value of a filter, rendered if it is a template."""
        if name not in config:
            return tuple(self.get_option(name))
        is_template = self.templar.is_template(config[name])
        value = untagged(self.templar.template(config[name]) if is_template else config[name])
        check_selector(name, value)
        if not is_template:
            value = untagged(self.get_option(name))
        return tuple(map(str, value if isinstance(value, list) else [value]))

    def _connection_options(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the connection options, with templates in the file rendered."""
        options = {name: self.get_option(name) for name in CONNECTION_SPEC}
        for name in TEMPLATED:
            if isinstance(config.get(name), str) and self.templar.is_template(config[name]):
                rendered = self.templar.template(config[name])
                options[name] = None if rendered is None else str(rendered)
        plain: dict[str, Any] = untagged(options)
        if plain["token_file"] is not None:
            plain["token_file"] = os.path.abspath(os.path.expanduser(plain["token_file"]))
        return self._with_named_token(with_selected_token(plain, config), config)

    def _with_named_token(self, options: dict[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options with the token from ``token_env`` or ``token_variable``, if one is set."""
        named = [name for name in ("token", *PASSED_VARIABLES) if config.get(name) is not None]
        if len(named) > 1 and named != ["token", "token_variable"]:
            # Tasks on the hosts would act with another token than the one that listed them.
            raise ConfigurationError(f"{' and '.join(named)} each name a token; name one of them")
        if not named:
            token_in("the environment", os.environ, ENVIRONMENT)
        if named not in (["token_env"], ["token_variable"]):
            return options
        source = str(self.get_option(named[0]))
        if named == ["token_env"]:
            return {**options, "token": token_in_environment(source, "token_env")}
        given = self._vars or {}
        if source not in given:
            raise ConfigurationError(
                f"token_variable names {source}, which the inventory cannot read unless it is given with -e; set "
                "token as well, from where the inventory can read it"
            )
        return {**options, "token": str(untagged(self.templar.template(given[source])))}

    def _check_token_variable(self, settings: Connection, config: Mapping[str, Any]) -> None:
        """Refuse a variable given with ``-e`` that is another token than that of the file."""
        source, given = config.get("token_variable"), self._vars or {}
        if source in given and str(untagged(self.templar.template(given[source]))) != settings.token:
            raise ConfigurationError(
                f"token and the variable {source}, which token_variable names, are two tokens, perhaps of two "
                "accounts; give both the same token, or leave token out"
            )

    def _passed_variables(self, options: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the host variables with the file's connection options and budget, but never the token itself."""
        found = {
            variable: options[name]
            for name, variable in SETTINGS.items()
            if name not in ("timeout", "retries") and config.get(name) is not None
        }
        if "budget" in config:
            written = untagged(self.templar.template(config["budget"]))
            found[INVENTORY_VARIABLE] = read_budget(written, "budget").as_option()
        for name, variable in PASSED_VARIABLES.items():
            if config.get(name) is not None:
                return {**found, variable: options.get(name) or str(self.get_option(name))}
        is_own = config.get("token") is not None and options["token"] != os.environ.get(ENVIRONMENT["token"])
        return {**found, UNPASSED_VARIABLES: False} if is_own else found

    # --- The platform, or the cache ---------------------------------------------------------------

    def _listing(self, settings: Connection, cache: bool) -> Listing:
        """Return the services from the cache if it is enabled and fresh, else from the platform."""
        wanted = ServiceQuery(
            **self._filters,
            sftp=self.get_option("connect_with") == "sftp",
            metrics=self.get_option("include_metrics"),
            settings=self.get_option("include_settings"),
            commands=False,
            sftp_max_age=self.get_option("sftp_max_age"),
        )
        if not self.get_option("cache"):
            return self._read(settings, wanted, reread=not cache)
        key, listing = cache_key(settings, wanted), None
        try:
            listing = from_cache(self._cache.get(key)) if cache else None
        except (AnsibleError, AttributeError, TypeError):
            self.display.warning("the inventory's cache is not as it was written, and is not used")
        if listing is None:
            listing = self._read(settings, wanted, reread=not cache)
            self._cache[key] = asdict(listing)
        return listing

    def _read(self, settings: Connection, wanted: ServiceQuery, *, reread: bool) -> Listing:
        os.environ[HOME_VARIABLE] = constants.config.get_config_value("ANSIBLE_HOME")  # as actions do
        client = Client(settings, lambda line: self.display.vvv(f"hosted.services: {line}"))
        try:
            return read_listing(Account(client), wanted, reread)
        finally:
            client.close()

    # --- Hosts, variables and groups --------------------------------------------------------------

    def _add_hosts(self, listing: Listing, url: str, handed_on: Mapping[str, Any]) -> None:
        how, prefix = self.get_option("connect_with"), self.get_option("hostvars_prefix")

        def variables(service: Mapping[str, Any]) -> dict[str, Any]:
            return variables_of(service, how, prefix, url, handed_on)

        inventory = cast(InventoryData, self.inventory)
        projects = project_groups(listing.projects)
        groups = {service["id"]: groups_of(service, projects) for service in listing.services}
        taken = RESERVED.union(inventory.groups, self.get_option("groups"), *groups.values())
        services = {service["id"]: service for service in listing.services}
        preferred = self._preferred_names(services, variables)
        wanted = {id: preferred[id] or service["name"] for id, service in services.items()}
        named = host_names(listing.services, wanted, taken)
        hosts = {host: (variables(services[id]), groups[id]) for id, host in named.items()}
        # Before any host is added, because Ansible may be configured to go on without this source.
        known = {host: inventory.hosts[host].vars for host in hosts if host in inventory.hosts}
        if message := warning_of_conflicts(known, {host: found for host, (found, _groups) in hosts.items()}):
            raise AnsibleParserError(message)
        for group in sorted(set(chain(*groups.values()))):
            inventory.add_group(group)
        for host, (found, its_groups) in sorted(hosts.items()):
            self._add(host, found, its_groups)

    def _preferred_names(
        self, services: Mapping[str, Any], variables: Callable[[Any], dict[str, Any]]
    ) -> dict[str, str | None]:
        """Return the first non-empty results of ``hostnames``. Warn if they name no host as they fail."""
        failed: dict[str, str] = {}

        def results(service: Mapping[str, Any]) -> Iterator[str]:
            for expression in self.get_option("hostnames"):
                try:
                    name = self._compose(expression, variables(service))
                except Exception as error:  # an expression can raise any exception
                    failed.setdefault(expression, f"{expression!r} cannot be evaluated: {error}")
                    if self.get_option("strict"):
                        raise AnsibleParserError(f"hostnames: {failed[expression]}") from None
                    continue
                if name not in (None, ""):
                    yield str(name)

        found = {id: next(results(service), None) for id, service in services.items()}
        if failed and not any(found.values()):
            reasons = "; ".join(failed.values())
            self.display.warning(
                in_one_line(f"hostnames named no host, so each has the name of its service: {reasons}")
            )
        return found

    def _add(self, host: str, variables: Mapping[str, Any], groups: list[str]) -> None:
        inventory = cast(InventoryData, self.inventory)
        inventory.add_host(host)
        for name, value in variables.items():
            inventory.set_variable(host, name, value)
        for group in groups:
            inventory.add_child(group, host)
        strict = self.get_option("strict")
        self._set_composite_vars(self.get_option("compose"), variables, host, strict)
        self._add_host_to_composed_groups(self.get_option("groups"), variables, host, strict)
        self._add_host_to_keyed_groups(self.get_option("keyed_groups"), variables, host, strict)


def groups_of(service: Mapping[str, Any], projects: Mapping[str, str]) -> list[str]:
    project = projects.get(service["project_id"])
    family = group_name("family", service["family"].lower())
    return [project, family] if project else [family]


def cache_key(settings: Connection, wanted: ServiceQuery) -> str:
    """Return the cache key for these settings. It depends on the token, but does not reveal it."""
    facts = [settings.base_url, settings.auth_header, settings.auth_scheme, asdict(wanted)]
    digest = hmac.new(settings.token.encode(), json.dumps(facts).encode(), hashlib.sha256)
    return f"hosted_services_{digest.hexdigest()[:32]}"
