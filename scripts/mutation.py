# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The small changes that `make mutants` makes to a source, each of which a unit test should notice."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
BOUNDS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "//",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "//",
}
SKIPPED_FIELDS = frozenset({"annotation", "returns", "decorator_list"})
NOT_SEEN = frozenset({("strict", True), ("daemon", True), ("indent", 2)})
"""Arguments by which nothing differs that a test could see: `strict` of `zip` guards against a defect that is
yet to be made, `daemon` against a process that hangs, and how far JSON is indented nobody reads."""


@dataclass(frozen=True)
class Mutant:
    """One change: the bytes from `start` to `end` of a source become `text`."""

    start: int
    end: int
    line: int
    function: str
    before: str
    text: str

    def apply(self, source: bytes) -> bytes:
        """Return the changed source."""
        return source[: self.start] + self.text.encode() + source[self.end :]

    @property
    def change(self) -> str:
        """What became what, on one line."""
        return f"{' '.join(self.before.split())} -> {self.text}"


def mutants_of(source: bytes) -> list[Mutant]:
    """Return every change of a source, in the order of its lines."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node, text, function in _changes(ast.parse(source), ""):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        before = source[start:end].decode()
        found.append(Mutant(start, end, node.lineno, function, before, text))
    return sorted(found, key=lambda one: (one.start, one.end, one.text))


Change = tuple[ast.expr | ast.stmt, str, str]


def _changes(node: ast.AST, function: str) -> Iterator[Change]:
    """Yield what replaces a node or something in it, and the function that this is in."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        function = f"{function}.{node.name}".strip(".")
    if isinstance(node, ast.JoinedStr) or _only_for_types(node) or _is_roughly(node, function):
        return
    if isinstance(node, ast.expr):
        yield from ((node, f"({text})", function) for text in _expressions(node))
    if isinstance(node, ast.stmt):
        yield from ((node, text, function) for text in _statements(node))
    for parent, text in _conditions(node):
        yield parent, text, function
    for child in _children(node):
        yield from _changes(child, function)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is in a node, without that which only tools and decorators read."""
    skipped = SKIPPED_FIELDS | ({"bases", "keywords"} if isinstance(node, ast.ClassDef) else set())
    for name, value in ast.iter_fields(node):
        if name not in skipped:
            parts = value if isinstance(value, list) else [value]
            yield from (part for part in parts if isinstance(part, ast.AST) and not _is_not_seen(part))


def _is_not_seen(node: ast.AST) -> bool:
    """Whether a node is an argument of NOT_SEEN."""
    if not (isinstance(node, ast.keyword) and isinstance(node.value, ast.Constant)):
        return False
    return (node.arg, node.value.value) in NOT_SEEN


def _is_roughly(node: ast.AST, function: str) -> bool:
    """Whether a statement sets a limit of time or bytes: a second, or a few of very many, more is as good."""
    if function or not isinstance(node, ast.Assign):
        return False
    names = [target.id for target in node.targets if isinstance(target, ast.Name)]
    is_float = isinstance(node.value, ast.Constant) and isinstance(node.value.value, float)
    if is_float and any("SECONDS" in name or "PAUSE" in name for name in names):
        return True
    return isinstance(node.value, ast.BinOp) and ast.unparse(node.value).endswith("* 1024")


def _only_for_types(node: ast.AST) -> bool:
    """Whether a statement is there for the type checker or for imports."""
    if isinstance(node, ast.If):
        return ast.unparse(node.test).endswith("TYPE_CHECKING")
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets)
    return isinstance(node, ast.Import | ast.ImportFrom)


def _expressions(node: ast.expr) -> Iterator[str]:
    """Yield what may stand in the place of an expression."""
    if isinstance(node, ast.Compare):
        yield from _comparisons(node)
    elif isinstance(node, ast.BoolOp):
        other = " or " if isinstance(node.op, ast.And) else " and "
        yield other.join(f"({ast.unparse(value)})" for value in node.values)
        for dropped in node.values:
            rest = [f"({ast.unparse(value)})" for value in node.values if value is not dropped]
            yield (" and " if isinstance(node.op, ast.And) else " or ").join(rest)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield ast.unparse(node.operand)
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield f"({ast.unparse(node.left)}) {ARITHMETIC[type(node.op)]} ({ast.unparse(node.right)})"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield repr(not node.value) if isinstance(node.value, bool) else repr(node.value + 1)


def _comparisons(node: ast.Compare) -> Iterator[str]:
    """Yield a comparison with each operator turned, and with each text in it replaced."""
    operands = [ast.unparse(one) for one in (node.left, *node.comparators)]
    operators = [ast.unparse(ast.Compare(ast.Constant(0), [op], [ast.Constant(0)]))[2:-2] for op in node.ops]
    for place, operator in enumerate(node.ops):
        if isinstance(operator, BOUNDS) and any("monotonic()" in operand for operand in operands):
            continue  # no clock stands still: it is never at the very moment
        turned = [*operators[:place], COMPARISONS[type(operator)], *operators[place + 1 :]]
        yield _joined(operands, turned)
    for place, operand in enumerate((node.left, *node.comparators)):
        if isinstance(operand, ast.Constant) and isinstance(operand.value, str):
            yield _joined([*operands[:place], "'another text'", *operands[place + 1 :]], operators)


def _joined(operands: list[str], operators: list[str]) -> str:
    pairs = zip(operators, operands[1:], strict=True)
    return " ".join([f"({operands[0]})", *(f"{operator} ({operand})" for operator, operand in pairs)])


def _conditions(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Yield the conditions of a node, negated; those of a comprehension are dropped as well."""
    tests = node.ifs if isinstance(node, ast.comprehension) else []
    if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
        tests = [node.test]
    for test in tests:
        if isinstance(node, ast.comprehension):
            yield test, "(True)"
        if not (isinstance(test, ast.Compare | ast.UnaryOp) and not _chained(test)):
            yield test, f"(not ({ast.unparse(test)}))"


def _chained(test: ast.expr) -> bool:
    """Whether a comparison has several operators; a single one is turned anyway."""
    return isinstance(test, ast.Compare) and len(test.ops) > 1


def _statements(node: ast.stmt) -> Iterator[str]:
    """Yield what may stand in the place of a statement."""
    if isinstance(node, ast.Return) and node.value is not None:
        # who asks for a boolean takes None for False
        if not (isinstance(node.value, ast.Constant) and node.value.value in (None, False)):
            yield "return None"
    elif isinstance(node, ast.Expr):
        if not isinstance(node.value, ast.Constant | ast.Yield | ast.YieldFrom):
            yield "pass"
    elif isinstance(node, ast.Raise | ast.AugAssign | ast.Delete | ast.Break | ast.Continue):
        yield "pass"
