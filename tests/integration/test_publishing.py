# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of Galaxy, the `ansible` package and Automation Hub that no linter has (docs/publishing.md)."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from ansible.plugins import loader
from packaging.requirements import Requirement
from packaging.version import Version

from ansible_collections.hosted.services.scripts.build import with_whole_links
from ansible_collections.hosted.services.scripts.sources import source_files
from integration.ansible_run import REPOSITORY
from integration.test_documentation import documentation

pytestmark = pytest.mark.release

PLUGINS = REPOSITORY / "plugins"
MODULES = sorted((PLUGINS / "modules").glob("*.py"))
WITH_DOCUMENTATION = sorted(
    path for kind in ("modules", "lookup", "filter", "inventory") for path in (PLUGINS / kind).glob("*.py")
)
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
GALAXY = yaml.safe_load((REPOSITORY / "galaxy.yml").read_text())
RUNTIME = yaml.safe_load((REPOSITORY / "meta" / "runtime.yml").read_text())
LINT = yaml.safe_load((REPOSITORY / ".ansible-lint").read_text())
#: Those of the templates of the `ansible` package and of Automation Hub, in the order of the former.
SECTIONS = [
    "Code of Conduct",
    "Communication",
    "Contributing to this collection",
    "Tested with Ansible",
    "External requirements",
    "Included content",
    "Using this collection",
    "Support",
    "Release notes",
    "Roadmap",
    "More information",
    "Licensing",
]
CONTENT = ("extensions", "meta", "playbooks", "plugins", "roles", "tests")
#: What reads the platform without changing it, and is called like a verb of the platform all the same.
READ_BUT_NOT_INFO = {"quote"}
#: What silences a rule of a linter, with the names of the rules, and the rest of the line.
SILENCED = re.compile(
    r"#\s*(?:ruff: )?(?:noqa|pylint: ?disable|yamllint disable|nosec)\b"
    r"(?:[:=]\s*[A-Za-z][\w-]*(?:\[[a-z-]+\])?(?:,\s*[A-Za-z][\w-]*)*)?(.*)"
)
#: mypy's own names say what is the matter.
TYPES = re.compile(r"#\s*type: ignore(?!\[[a-z-]+(?:, ?[a-z-]+)*\])")


# --- docs/publishing.md -------------------------------------------------------------------------------


def test_what_holds_a_rule_exists() -> None:
    """Each test, file and target of make that the page names."""
    page = (REPOSITORY / "docs" / "publishing.md").read_text()
    tests = "".join(path.read_text() for path in (REPOSITORY / "tests").glob("*/**/test_*.py"))
    made = "".join((REPOSITORY / name).read_text() for name in ("Makefile", "tests/stages.yml"))
    names = re.findall(r"`([^`\n]+)`", page)
    paths = {name.partition("::")[0] for name in names if re.match(r"(tests|scripts|docs|\.ci)/", name)}
    assert [path for path in paths if not (REPOSITORY / path).exists()] == []
    functions = {name.rpartition("::")[2] for name in names if re.match(r"test_|tests/.*::", name)}
    assert [name for name in functions if f"def {name}(" not in tests] == []
    targets = {name.removeprefix("make ") for name in names if name.startswith("make ")}
    assert [name for name in targets if not re.search(rf"^ *{name}:", made, re.MULTILINE)] == []
    assert len(functions) > 20 and len(targets) > 5


# --- README -------------------------------------------------------------------------------------------


def section(name: str) -> str:
    return README.partition(f"\n## {name}\n")[2].partition("\n## ")[0]


def test_the_readme_has_the_sections_of_the_template() -> None:
    assert re.findall(r"^## (.+)$", README, re.MULTILINE) == SECTIONS
    assert "ansible-galaxy collection install hosted.services" in section("Using this collection")
    assert "**Create issue**" in section("Support")
    assert "GNU General Public License v3.0" in section("Licensing")


def test_the_readme_says_what_people_look_for() -> None:
    community = "https://docs.ansible.com/ansible/devel/community"
    assert f"{community}/code_of_conduct.html" in section("Code of Conduct")
    communication = section("Communication")
    for address in ("https://forum.ansible.com/c/help/6", "https://forum.ansible.com/tag/hosted-services"):
        assert address in communication
    assert "welcome" in communication and "`hosted-services`" in communication
    assert f"{GALAXY['issues']})" in communication
    assert "[semantic versioning](https://semver.org/)" in section("Roadmap")
    assert re.findall(r"pip install ansible(?:-core)?\b", README) == []


def test_contributors_find_the_policies() -> None:
    guide = (REPOSITORY / "CONTRIBUTING.md").read_text()
    assert "## Versions\n" in guide and "https://semver.org/" in guide
    for word in ("deprecated_features", "major release", "git tag"):
        assert word in guide


def anchors(text: str) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub names them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_the_readme_s_links_are_whole_and_lead_somewhere() -> None:
    """In the tarball, that is. Its own files are looked up; other sites are not asked."""
    links = re.findall(r"\]\(([^)\s]+)\)", README)
    shown = re.findall(r"\]\(([^)\s]+)\)", with_whole_links(README, GALAXY["repository"]))
    assert len(links) > 20
    assert [link for link in shown if not link.startswith(("https://", "#"))] == []
    own = [link for link in links if not link.startswith(("https://", "#"))]
    assert "CHANGELOG.rst" in own and "LICENSE" in own
    for name in own:
        path, _hash, anchor = name.partition("#")
        assert (REPOSITORY / path).is_file(), name
        assert not anchor or anchor in anchors((REPOSITORY / path).read_text()), name
    assert {link[1:] for link in links if link.startswith("#")} <= anchors(README)


def test_the_readme_says_which_versions_are_supported() -> None:
    oldest_core = Requirement(f"ansible-core{RUNTIME['requires_ansible']}").specifier
    (bound,) = oldest_core
    assert bound.operator == ">="
    assert f"ansible-core {bound.version.removesuffix('.0')} and newer" in section("Tested with Ansible")
    oldest = yaml.safe_load((REPOSITORY / "tests" / "config.yml").read_text())["modules"]["python_requires"]
    requirements = section("External requirements")
    assert oldest == ">=3.11" and "Python 3.11 or newer" in requirements
    # ansible-core 2.19 runs modules from Python 3.8 on.
    assert "does not support\n  Python 3.8, 3.9 and 3.10" in requirements


# --- Plugins ------------------------------------------------------------------------------------------


def test_plugins_are_in_folders_that_ansible_knows() -> None:
    loaders = {value for value in vars(loader).values() if isinstance(value, loader.PluginLoader)}
    known = {each.package.rpartition(".")[2] for each in loaders if each.package}
    assert {"modules", "inventory", "action"} <= known
    folders = {
        name.split("/")[1] for name in source_files() if name.startswith("plugins/") and name.count("/") > 1
    }
    assert folders <= known | {"doc_fragments", "module_utils", "modules", "plugin_utils", "sub_plugins"}


@pytest.mark.parametrize("path", WITH_DOCUMENTATION, ids=lambda path: path.stem)
def test_every_plugin_is_documented(path: Path) -> None:
    told = yaml.safe_load(documentation(path, "DOCUMENTATION"))
    assert documentation(path, "EXAMPLES").strip()
    assert path.parent.name == "inventory" or yaml.safe_load(documentation(path, "RETURN"))
    assert Version("1.0.0") <= Version(str(told["version_added"])) <= Version(GALAXY["version"])


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_module_names_the_oldest_python(path: Path) -> None:
    """By the fragment that says what the connection needs."""
    fragments = yaml.safe_load(documentation(path, "DOCUMENTATION"))["extends_documentation_fragment"]
    assert "hosted.services.common" in fragments
    common = importlib.import_module("ansible_collections.hosted.services.plugins.doc_fragments.common")
    told = yaml.safe_load(common.ModuleDocFragment.DOCUMENTATION)["requirements"]
    assert told[0] == "python >= 3.11"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_info_modules_only_read(path: Path) -> None:
    """They are those that say so, they support check mode, and no other module only reads."""
    told = yaml.safe_load(documentation(path, "DOCUMENTATION"))
    reads = "hosted.services.common.info_attributes" in told["extends_documentation_fragment"]
    assert reads is (path.stem.endswith("_info") or path.stem in READ_BUT_NOT_INFO)
    if reads:
        assert "state" not in told.get("options", {})
        source = (PLUGINS / "module_utils" / "_resources" / f"{path.stem}.py").read_text()
        assert "Step(" not in source, "a module that only reads plans no step"


# --- Requirements -------------------------------------------------------------------------------------


def required() -> list[Requirement]:
    """Return the libraries that requirements.txt lists."""
    lines = (REPOSITORY / "requirements.txt").read_text().splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def test_requirements_have_lower_bounds_only() -> None:
    assert [str(each) for each in required() if {part.operator for part in each.specifier} - {">="}] == []
    assert {each.name for each in required()} & {"ansible", "ansible-core"} == set()
    environment = yaml.safe_load((REPOSITORY / "meta" / "execution-environment.yml").read_text())
    assert environment["dependencies"]["python"] == "requirements.txt"


def third_party() -> set[str]:
    """Return the libraries that the plugins import, without Ansible and the standard library."""
    found = set()
    for path in PLUGINS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - {"ansible", "ansible_collections"}


def test_the_requirements_are_what_is_imported() -> None:
    """What Ansible or another of them cannot do without is not listed again."""
    of_others = {"certifi", "jinja2", "typing_extensions"}
    imported = {packages_distributions()[name][0].lower() for name in third_party() - of_others}
    assert imported == {each.name.lower() for each in required()}


def test_no_other_collection_is_needed() -> None:
    assert GALAXY["dependencies"] == {}


# --- Linters ------------------------------------------------------------------------------------------


def test_no_sanity_test_is_ignored() -> None:
    assert [name for name in source_files() if name.startswith("tests/sanity/")] == []


def test_ansible_lint_skips_nothing() -> None:
    assert LINT["profile"] == "production" and LINT["strict"] is True and LINT["offline"] is False
    assert {"skip_list", "warn_list"} & LINT.keys() == set()
    assert not (REPOSITORY / ".ansible-lint-ignore").exists()
    left_out = [path for path in LINT["exclude_paths"] if path.startswith(CONTENT)]
    assert left_out == ["tests/output/"]


def without_reason(text: str) -> list[str]:
    """Return the lines that silence a rule and do not say why."""
    lines = text.splitlines()
    found = []
    for before, line in zip(["", *lines], lines, strict=False):
        silenced = SILENCED.search(line)
        bare = silenced and not re.search(r"[a-z]{3}", silenced[1]) and not before.strip().startswith("#")
        if bare or TYPES.search(line):
            found.append(line.strip())
    return found


def test_every_silenced_rule_has_a_reason() -> None:
    suffixes = (".py", ".yml", ".yaml", ".sh")
    texts = {name: (REPOSITORY / name).read_text() for name in source_files() if name.endswith(suffixes)}
    assert [(name, line) for name, text in texts.items() for line in without_reason(text)] == []
