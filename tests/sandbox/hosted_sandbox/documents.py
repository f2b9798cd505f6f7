# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write docs/sandbox/, the documents that come from the sandbox: `python -m hosted_sandbox.documents`."""

from __future__ import annotations

import ast
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic.json_schema import models_json_schema

from hosted_sandbox.api import shapes
from hosted_sandbox.api.app import create_api
from hosted_sandbox.domain.world import World
from hosted_sandbox.gaps import POINTS, Profile
from hosted_sandbox.rules import RULES
from hosted_sandbox.store import Store

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "docs" / "sandbox"
TESTS = ROOT / "tests" / "unit" / "sandbox"
REFERENCE = "#/components/schemas/{model}"
OPEN = "Not shown by the specification: it may be any JSON value, or empty."


def openapi() -> dict[str, Any]:
    """Build the OpenAPI document of the API."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store()
        document = create_api(World(store, Path(folder), Profile())).openapi()
        store.close()
    models = [(model, "serialization") for model in (*shapes.SHOWN.values(), shapes.Error)]
    __, definitions = models_json_schema(models, ref_template=REFERENCE)  # type: ignore[arg-type]
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas.update({f"Answer{name}": schema for name, schema in _renamed(definitions["$defs"]).items()})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for operation in _operations(document):
        operation["operationId"] = operation.pop("x-name")
        operation["summary"] = operation["description"].split(". ")[0].rstrip(".")
        operation["responses"] = _responses(operation["operationId"])
        operation["security"] = [{"token": []}]
    document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return document


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in document["paths"].values():
        yield from path.values()


def _renamed(definitions: dict[str, Any]) -> dict[str, Any]:
    """Rename the response models: some bodies have the same names."""
    text = json.dumps(definitions).replace(REFERENCE.format(model=""), REFERENCE.format(model="Answer"))
    renamed: dict[str, Any] = json.loads(text)
    return renamed


def _responses(name: str) -> dict[str, Any]:
    failure = {"description": "Refused.", "content": _json("Error")}
    if name not in shapes.SHOWN:
        return {"2XX": {"description": OPEN}, "default": failure}
    shown = {"description": "As the specification shows.", "content": _json(shapes.SHOWN[name].__name__)}
    if name in shapes.CREATING:
        return {"200": shown, "201": shown, "default": failure}
    return {"200": shown, "default": failure}


def _json(model: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": REFERENCE.format(model=f"Answer{model}")}}}


def gaps_page() -> str:
    """Build the table of gap points."""
    lines = [
        "# What the specification leaves open",
        "",
        "Every point, the section that leaves it open, and the answers that the sandbox can give. Profile",
        "`plain` takes the first one; `terse` and `wrapped` take others, `random:SEED` any. The profiles",
        "`pairwise:1`, `pairwise:2` and so on have every pair of values of any two points between them;",
        "the first ten have every single value, and `python -m hosted_sandbox.profiles` counts them.",
        "Header and word before a token are set apart from the profiles, on the control port. Made by",
        "`python -m hosted_sandbox.documents`.",
        "",
        "| point | section | question | values | plain | terse | wrapped |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    profiles = [Profile(name) for name in ("plain", "terse", "wrapped")]
    for point in POINTS.values():
        chosen = " | ".join(profile[point.name] for profile in profiles)
        values = "; ".join(point.values)
        lines.append(f"| `{point.name}` | {point.section} | {point.question} | {values} | {chosen} |")
    return "\n".join(lines) + "\n"


def rule_tests() -> dict[str, list[str]]:
    """Return the tests of each rule: those marked `@pytest.mark.rule("name of the rule", …)`."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for rule in _marked(node):
                    found.setdefault(rule, []).append(f"{path.name}::{node.name}")
    return found


def _marked(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    for mark in node.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.rule":
            yield from (str(ast.literal_eval(argument)) for argument in mark.args)


def rules_page() -> str:
    """Build the table of rules, limits, errors and transitions with their tests."""
    tests = rule_tests()
    lines = [
        "# The specification's rules and their tests",
        "",
        "Made by `python -m hosted_sandbox.documents` from the sandbox's `rules.py` and the tests' marks.",
        "",
        "| rule | section | what it says | tests |",
        "| --- | --- | --- | --- |",
    ]
    for name, (section, text) in RULES.items():
        held = ", ".join(f"`{test}`" for test in tests.get(name, []))
        lines.append(f"| `{name}` | {section} | {text} | {held} |")
    return "\n".join(lines) + "\n"


def documents() -> dict[str, str]:
    """Build all documents, by file name."""
    return {
        "openapi.json": json.dumps(openapi(), indent=2, sort_keys=True) + "\n",
        "gaps.md": gaps_page(),
        "rules.md": rules_page(),
    }


def main() -> None:
    """Write the documents."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in documents().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
