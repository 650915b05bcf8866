"""Numbers that a program writes out without computing them: constants that reach an output, by reading its source.

Python is parsed, never run. A constant counts where it stands in what is written (an argument of `print`, `write`,
`json.dump` and the like, or an entry of what such a call writes) through literals, names that were assigned once,
functions of the source with one `return`, and arithmetic of constants. Whatever comes from another call, a loop or a
file is computed. Entries whose key says that they are
somebody's claim (`claimed`, `paper`, `expected`, …) are comparisons and don't count.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from matproof.evaluation.detectors.numbers import written
from matproof.evaluation.names import words

LONGEST = 400_000
"""Characters of the longest source that is parsed."""
_DEPTH = 40
_MOST = 2_000
_WRITERS = frozenset(
    {
        "dump",
        "dumps",
        "print",
        "write",
        "write_text",
        "writelines",
        "writerow",
        "writerows",
        "savetxt",
        "save",
        "safe_dump",
    }
    | {"to_csv", "to_json", "to_string", "write_bytes", "dump_all", "echo"}
)
_COLLECTORS = frozenset({"append", "extend", "update"})
_SELF = frozenset({"to_csv", "to_json", "to_string"})
"""Of those, the ones that write what they are called on."""
_SHAPERS = frozenset(
    {"round", "float", "int", "str", "dict", "list", "tuple", "format", "dumps", "array", "DataFrame", "encode"}
)
"""Calls that give back what they are given."""
_THEIRS = frozenset(
    {
        "claimed",
        "claim",
        "published",
        "paper",
        "reference",
        "ref",
        "expected",
        "target",
        "literature",
        "stated",
        "quoted",
    }
    | {
        "experimental",
        "experiment",
        "tolerance",
        "tol",
        "threshold",
        "input",
        "parameter",
        "setting",
        "seed",
        "version",
    }
)


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant that is written out."""

    value: float
    line: int
    key: str
    """Name of the entry it stands in; empty where there is none."""
    collected: bool = False
    """Whether it is only put into a list or a dictionary, which may be for anything."""


def python_literals(source: str) -> list[Literal]:
    """Constants that a Python source writes out. A source that is no Python has none."""
    if len(source) > LONGEST:
        return []
    try:
        tree = ast.parse(source)
        # One constant is met twice where one output stands inside another: write(dumps(…)).
        return list({(one.value, one.line): one for one in _Reader(tree).literals()}.values())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


class _Reader:
    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._bound: dict[str, list[ast.expr | None]] = {}
        self._functions: dict[str, list[ast.FunctionDef]] = {}
        self._left = _MOST
        for node in ast.walk(tree):
            self._bind(node)
            if isinstance(node, ast.FunctionDef):
                self._functions.setdefault(node.name, []).append(node)

    def _bind(self, node: ast.AST) -> None:
        """Remember what names are bound to; None where that is computed."""
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if (pairs := _pairs(target, node.value)) is not None:
                    for bound_name, value in pairs:
                        self._bound.setdefault(bound_name, []).append(value)
                    continue
                for name in (item for item in ast.walk(target) if isinstance(item, ast.Name)):
                    bound = node.value if target is name else None
                    if not isinstance(target, ast.Subscript | ast.Attribute):
                        self._bound.setdefault(name.id, []).append(bound)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            self._bound.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, ast.AugAssign | ast.For | ast.comprehension | ast.NamedExpr):
            for name in (item for item in ast.walk(node.target) if isinstance(item, ast.Name)):
                self._bound.setdefault(name.id, []).append(None)
        elif isinstance(node, ast.arg):
            self._bound.setdefault(node.arg, []).append(None)

    def literals(self) -> Iterator[Literal]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call) and _called(node) in _WRITERS:
                written_out = [*node.args]
                if _called(node) in _SELF and isinstance(node.func, ast.Attribute):
                    written_out.append(node.func.value)
                for argument in written_out:
                    yield from self._of(argument, "", 0)
            elif isinstance(node, ast.Call) and _called(node) in _COLLECTORS:
                for argument in node.args:
                    for found in self._of(argument, "", 0):
                        yield replace(found, collected=True)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
                key = node.targets[0].slice
                name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
                if name and not _theirs(name):
                    yield from self._of(node.value, name, 0)

    def _of(self, node: ast.expr | None, key: str, depth: int) -> Iterator[Literal]:
        self._left -= 1
        if node is None or depth > _DEPTH or self._left < 0:
            return
        depth += 1
        if (value := self._constant(node, 0)) is not None:
            yield Literal(value, node.lineno, key)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            yield from _in_text(text[:20_000], node.lineno, key)
        elif isinstance(node, ast.Name):
            bound = self._bound.get(node.id, [])
            if len(bound) == 1:
                yield from self._of(bound[0], key, depth)
        elif isinstance(node, ast.Dict):
            for name, item in zip(node.keys, node.values, strict=True):
                inner = str(name.value) if isinstance(name, ast.Constant) else ""
                if not _theirs(inner):
                    yield from self._of(item, f"{key} {inner}".strip(), depth)
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            for item in node.elts:
                yield from self._of(item, key, depth)
        elif isinstance(node, ast.JoinedStr):
            for item in node.values:
                yield from self._of(item.value if isinstance(item, ast.FormattedValue) else item, key, depth)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
            yield from self._of(node.left, key, depth)
            yield from self._of(node.right, key, depth)
        elif isinstance(node, ast.Call) and (returned := self._returned(node)) is not None:
            yield from self._of(returned, key, depth)
        elif isinstance(node, ast.Call) and _called(node) in _SHAPERS:
            if isinstance(node.func, ast.Attribute):
                yield from self._of(node.func.value, key, depth)
            for item in node.args:
                yield from self._of(item, key, depth)
            for keyword in node.keywords if _called(node) == "dict" else ():
                if keyword.arg and not _theirs(keyword.arg):
                    yield from self._of(keyword.value, f"{key} {keyword.arg}".strip(), depth)

    def _constant(self, node: ast.expr, depth: int) -> float | None:
        """The number that an expression of constants is; None where it is computed from anything else."""
        self._left -= 1
        if depth > _DEPTH or self._left < 0:
            return None
        depth += 1
        try:
            if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
                return None if isinstance(node.value, bool) else float(node.value)
            if isinstance(node, ast.Name) and len(bound := self._bound.get(node.id, [])) == 1 and bound[0] is not None:
                return self._constant(bound[0], depth)
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
                value = self._constant(node.operand, depth)
                return None if value is None else -value if isinstance(node.op, ast.USub) else value
            if isinstance(node, ast.Call) and _called(node) in ("round", "float", "int", "abs") and node.args:
                return self._constant(node.args[0], depth)
            if isinstance(node, ast.Call) and (returned := self._returned(node)) is not None:
                return self._constant(returned, depth)
            if isinstance(node, ast.BinOp):
                left, right = self._constant(node.left, depth), self._constant(node.right, depth)
                return None if left is None or right is None else _applied(node.op, left, right)
        except (OverflowError, ZeroDivisionError, ValueError):
            return None
        return None

    def _returned(self, node: ast.Call) -> ast.expr | None:
        """What a function of this source gives back, where there is one such function with one `return`."""
        if not isinstance(node.func, ast.Name) or len(found := self._functions.get(node.func.id, [])) != 1:
            return None
        returns = [inner for inner in ast.walk(found[0]) if isinstance(inner, ast.Return)]
        return returns[0].value if len(returns) == 1 else None


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[str, ast.expr]] | None:
    """Names and values of `a, b = 1, 2`; None for any other assignment."""
    if not (isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List)):
        return None
    if len(target.elts) != len(value.elts) or not all(isinstance(name, ast.Name) for name in target.elts):
        return None
    names = [name.id for name in target.elts if isinstance(name, ast.Name)]
    return list(zip(names, value.elts, strict=True))


def _applied(operator: ast.operator, left: float, right: float) -> float | None:
    match operator:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left / right
        case _:
            return None


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _theirs(key: str) -> bool:
    return not _THEIRS.isdisjoint(words(key).sequence) or not _THEIRS.isdisjoint(re.split(r"[^a-z]+", key.lower()))


def _in_text(text: str, line: int, key: str) -> Iterator[Literal]:
    """Numbers in a text that is written; the word before one is its key, and a claim's own number doesn't count."""
    for start, value, _ in written(text):
        before = text[max(0, start - 60) : start].split("\n")[-1]
        if not _theirs(before):
            yield Literal(value, line + text.count("\n", 0, start), f"{key} {before}".strip())


_SEPARATOR = re.compile(r"&&|\|\||[;\n]")
_ECHO = re.compile(r"^\s*(?:\(|\{|sudo |then |do |else )?\s*(?:echo|printf|cat\s*>|cat\s*<<|tee)\b")


def shell_literals(command: str) -> list[Literal]:
    """Numbers that a shell command writes to a file as they stand: `echo`, `printf` and here-documents."""
    found: list[Literal] = []
    text = command[:LONGEST]
    here: str | None = None
    for line_number, line in enumerate(text.split("\n"), 1):
        if here is not None:
            if line.strip() == here:
                here = None
            else:
                found += _in_text(line[:2_000], line_number, "")
            continue
        here_document = re.search(r"<<-?\s*['\"]?(\w{1,40})['\"]?", line)
        if here_document is not None and ">" in line.replace("<<", "") and re.search(r"\b(?:cat|tee)\b", line):
            here = here_document[1]
            continue
        for part in _SEPARATOR.split(line):
            begun = _ECHO.match(part)
            if begun is not None and ">" in part and "$(" not in part and "`" not in part:
                found += _in_text(part[begun.end() :].split(">")[0][:2_000], line_number, "")
    return found[:_MOST]
