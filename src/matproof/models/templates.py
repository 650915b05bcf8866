"""Templates of a script: jinja2 in its sandbox, over the tool results of a request.

Two properties are deliberate. Tool results are values, never template source, so what an agent printed can't run.
And nothing reaches the machine but `file()`, which reads plain files below the directories it was given, without
following links.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, TemplateError, Undefined, pass_context
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from matproof.core.errors import UnsafePathError
from matproof.core.files import read_within
from matproof.models.strict_json import encodable, parse
from matproof.models.volatile import nth, readable

MAX_FILE_BYTES = 10_000_000
EXPRESSION = "$"
"""A mapping whose only key is this is an expression that gives its own value."""

_BUILTINS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (abs, all, any, bool, enumerate, float, int, len, max, min, round, sorted, str, sum, zip)
}


class TemplateFailedError(ValueError):
    """A template can't be compiled, or fails on these tool results; the message says how."""


class _Environment(ImmutableSandboxedEnvironment):
    """Keys of a mapping come before its methods, so that `x.values` and `x.items` mean the data's."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, dict) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


class Templates:
    """Renders the strings and expressions of one script. `files`: directories that `file()` may read below."""

    def __init__(self, files: tuple[Path, ...]) -> None:
        self._files = files
        self._environment = _Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
        self._environment.globals = {"range": self._environment.globals["range"], **_BUILTINS, "file": self._file}
        self._environment.filters |= {"from_json": _from_json, "regex": _regex, "volatile": _volatile}

    def check(self, value: Any, where: str = "") -> tuple[str, str] | None:
        """The first template below `value` that does not compile, as (where, problem); None where all do."""
        try:
            if isinstance(value, str):
                self._environment.from_string(value)
            elif _is_expression(value):
                self._environment.compile_expression(value[EXPRESSION])
        except TemplateError as error:
            return where, str(error)
        if isinstance(value, Mapping) and not _is_expression(value):
            inner = [self.check(item, f"{where}.{key}") for key, item in value.items()]
        elif isinstance(value, list):
            inner = [self.check(item, f"{where}.{index}") for index, item in enumerate(value)]
        else:
            inner = []
        return next((problem for problem in inner if problem is not None), None)

    def render(self, value: Any, names: Mapping[str, Any]) -> Any:
        """`value` with every string and expression below it rendered. Raises TemplateFailedError."""
        if isinstance(value, str):
            return self._run(value, lambda: self._environment.from_string(value).render(names))
        if _is_expression(value):
            text = value[EXPRESSION]
            expression = self._environment.compile_expression(text, undefined_to_none=False)
            return _plain(self._run(text, lambda: expression(**names)), text)
        if isinstance(value, Mapping):
            return {key: self.render(item, names) for key, item in value.items()}
        if isinstance(value, list):
            return [self.render(item, names) for item in value]
        return value

    @staticmethod
    def _run(source: str, run: Callable[[], Any]) -> Any:
        # Whatever an expression can raise on hostile tool results is that template's failure, told to the client.
        try:
            value = run()
        except Exception as error:
            raise TemplateFailedError(f"{_short(source)}: {type(error).__name__}: {str(error)[:300]}") from error
        return encodable(value) if isinstance(value, str) else value

    def _file(self, path: str) -> str:
        """Text of the plain file `path` below one of the script's directories."""
        for root in self._files:
            try:
                data = read_within(root, str(path), limit=MAX_FILE_BYTES + 1)
            except FileNotFoundError:
                continue
            if len(data) > MAX_FILE_BYTES:
                raise UnsafePathError(f"{path!r} is longer than {MAX_FILE_BYTES} bytes")
            return data.decode("utf-8")
        raise FileNotFoundError(f"file({path!r}) is in none of the script's directories")


def _is_expression(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == {EXPRESSION} and isinstance(value[EXPRESSION], str)


def _from_json(text: str) -> Any:
    return parse(text)


def _regex(text: str, pattern: str) -> str:
    """The first group of the first match of `pattern`, or the whole match where it has no group."""
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"nothing matches {pattern!r}")
    return found.group(1) if found.re.groups else found.group(0)


@pass_context
def _volatile(context: Context, text: str, kind: str, number: int) -> str:
    """Volatile part `number` of its kind in `text`, counted from zero; the working directory is none of them."""
    return nth(readable(text), kind, number, context.get("cwd"))


def _plain(value: Any, source: str) -> Any:
    """`value` as plain JSON data. Raises TemplateFailedError for what JSON can't hold."""
    if isinstance(value, Undefined):
        raise TemplateFailedError(f"{_short(source)}: gives nothing")
    if isinstance(value, float) and not math.isfinite(value):
        raise TemplateFailedError(f"{_short(source)}: gives {value}, which JSON can't hold")
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise TemplateFailedError(f"{_short(source)}: gives a {type(value).__name__}, which JSON can't hold") from error
    return value


def _short(source: str) -> str:
    return source if len(source) <= 120 else f"{source[:117]}..."
