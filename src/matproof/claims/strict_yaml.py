"""YAML that people wrote, read more strictly than PyYAML does.

PyYAML keeps the last of two equal keys, reads `1e-5` as text and `2020-01-01` as a date; a few lines of aliases expand
to gigabytes. Here equal keys are an error, numbers are those of YAML 1.2, dates stay text, and what comes back is
plain bounded data: strings, numbers, booleans, None, lists and dictionaries with string keys. The pure Python loader
is used on purpose: deep nesting raises RecursionError there and crashes the process in the C one.
"""

import math
import re
from typing import Any

import yaml

from matproof.core.errors import InputError

MAX_NODES = 200_000
MAX_DEPTH = 60


class _StrictLoader(yaml.SafeLoader):
    """SafeLoader that refuses equal keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} stands twice", key.start_mark
                )
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)


_StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rules if not tag.endswith((":timestamp", ":float", ":int"))]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_StrictLoader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"), list("-+0123456789")
)
_FLOAT = re.compile(
    r"^(?:[-+]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
)
_StrictLoader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+.0123456789"))


class _Dumper(yaml.SafeDumper):
    """SafeDumper that quotes text which either reader would take for a number, such as `1e-05`."""


_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+.0123456789"))


def dump(data: object) -> str:
    """`data` as YAML that `parse` reads as the same, keys in their order."""
    return str(yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000))


def parse(text: str, *, file: object) -> Any:
    """One YAML document as plain data. Raises InputError naming the line and what is wrong there."""
    documents = parse_all(text, file=file)
    if len(documents) > 1:
        raise InputError(str(file), "(whole file)", "holds several documents", "keep one; remove the lines of `---`")
    return documents[0] if documents else None


def parse_all(text: str, *, file: object) -> list[Any]:
    """Every YAML document of a text as plain data. Raises InputError."""
    try:
        return [plain(document) for document in yaml.load_all(text, Loader=_StrictLoader)]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        field = f"line {mark.line + 1}" if mark is not None else "(whole file)"
        problem = " ".join((error.problem or "not valid YAML").split())
        if "'\\t'" in problem:
            raise InputError(str(file), field, "a tab in YAML", "indent with spaces") from error
        if "stands twice" in problem:
            raise InputError(str(file), field, problem, "keep one of the two") from error
        raise InputError(
            str(file), field, f"not valid YAML ({problem})", "mend the syntax (quotes, indentation, colons)"
        ) from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        problem = " ".join(str(error).split())[:120]
        raise InputError(str(file), "(whole file)", f"not valid YAML ({problem})", "mend the syntax") from error
    except RecursionError as error:
        raise InputError(str(file), "(whole file)", "nested too deeply", "flatten it") from error


def plain(value: Any) -> Any:
    """`value` copied as plain bounded data that JSON can hold: keys as text, no lone surrogates, no shared parts.

    NaN and infinities stay numbers. Raises ValueError where it is deeper than MAX_DEPTH or larger than MAX_NODES.
    """
    left = [MAX_NODES]

    def copy(item: Any, depth: int) -> Any:
        left[0] -= 1
        if left[0] < 0 or depth > MAX_DEPTH:
            raise ValueError("too large or too deeply nested")
        if isinstance(item, dict):
            return {_text(key): copy(inner, depth + 1) for key, inner in item.items()}
        if isinstance(item, (list, tuple, set)):
            return [copy(inner, depth + 1) for inner in item]
        if item is None or isinstance(item, (bool, int, float)):
            return item
        return _text(item)

    return copy(value, 0)


def without_nan(value: Any) -> Any:
    """`value` with NaN and infinities as the words for them, so that strict JSON can hold it."""
    if isinstance(value, dict):
        return {key: without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_nan(inner) for inner in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _text(value: Any) -> str:
    raw = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return raw.encode("utf-8", "replace").decode("utf-8") if not raw.isascii() else raw
