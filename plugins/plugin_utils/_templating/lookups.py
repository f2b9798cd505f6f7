# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lookups that read from the platform: their options and errors, with nothing kept and nothing shown."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ansible.errors import AnsibleError, AnsibleLookupError
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.lookup import LookupBase
from ansible.template import Templar
from ansible.utils.display import Display

from ...module_utils._ansible.execution import defect_result
from ...module_utils._ansible.options import CONNECTION_SPEC
from ...module_utils._api.client import Client
from ...module_utils._api.errors import ConfigurationError, HostedError
from ...module_utils._api.libraries import require
from ...module_utils._resources.shared.connecting import connection, with_selected_token
from ...module_utils._resources.shared.identify import near_miss
from ...module_utils._resources.shared.names import check_selector
from ...module_utils._resources.shared.options import Options
from .._controller.connection_sources import complete_arguments
from .._controller.values import untagged, with_token_decrypted

display = Display()


class ReadingLookup(LookupBase):
    """Base of the collection's lookups. A subclass reads what it is for and returns it.

    What it returns goes to Ansible and nowhere else. The log has the address and the status of each call.
    """

    @abstractmethod
    def read(self, client: Client, terms: list[str]) -> list[Any]:
        """Return one value for each term, or the only one there is."""

    def run(
        self, terms: Sequence[Any], variables: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> list[Any]:
        """Read from the platform."""
        try:
            require()
            self._check(kwargs)
            template = cast(Templar, self._templar).template
            named = {name: value for name, value in kwargs.items() if name in CONNECTION_SPEC}
            found = complete_arguments(named, {}, variables or {}, template)
            given = found.arguments
            self.set_options(direct={**kwargs, **given})
            plain = untagged({name: self.get_option(name) for name in CONNECTION_SPEC})
            options = with_token_decrypted(with_selected_token(plain, given), cast(DataLoader, self._loader))
            settings = connection(Options.from_ansible(options), type(self).__module__.rpartition(".")[2])
            for warning in (*found.warnings, *settings.warnings):
                display.warning(warning)
            client = Client(settings, lambda line: display.vvv(f"hosted.services: {line}"))
            try:
                return self.read(client, untagged(list(terms)))
            finally:
                client.close()
        except HostedError as error:
            raise AnsibleLookupError(error.message) from None
        except AnsibleError:  # what Ansible itself says of an option or a variable
            raise
        except Exception as error:  # one that nobody foresaw; its text may hold a secret
            raise AnsibleLookupError(defect_result(error)["msg"]) from None

    def _check(self, keywords: Mapping[str, Any]) -> None:
        """Refuse what Ansible would ignore, such as a project whose option has a slip in its name.

        What narrows must hold something too.
        """
        known = [name for name in self.option_definitions if name != "_terms"]
        for name in keywords:
            if name not in known:
                raise ConfigurationError(f"unknown option {name!r}{near_miss(name, known)}")
            if name not in CONNECTION_SPEC:
                check_selector(name, untagged(keywords[name]))
