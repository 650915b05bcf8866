"""Reading and writing files: atomic writes, one JSON writer, and reads that can't be led astray.

Two properties are deliberate. Every write goes to a temporary name in the same directory and is renamed, so a reader
on a shared file system sees the old file or the new one. Whatever an agent wrote is read with `read_within`, which
opens each part of the path without following links: a link, a pipe or a device is refused rather than read.
"""

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from matproof.core.errors import InputError, UnsafePathError

Model = TypeVar("Model", bound=BaseModel)

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def write_bytes(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write `data` so that no reader ever sees half of it; parents are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Write `text` as UTF-8, atomically; half a surrogate pair, which a model can write, becomes a question mark."""
    write_bytes(path, text.encode(errors="replace"), mode=mode)


def to_json(value: Any, *, indent: int | None = 2) -> str:
    """The one JSON form: pydantic models by their JSON mode, NaN and infinities refused (ValueError)."""
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    return json.dumps(plain, indent=indent, ensure_ascii=False, allow_nan=False, default=str)


def write_json(path: Path, value: Any) -> None:
    """Write `value` (a model or plain data) as JSON, atomically."""
    write_text(path, to_json(value) + "\n")


def append_json(path: Path, value: Any) -> None:
    """Append `value` as one line of JSON and make it durable before returning."""
    line = (to_json(value, indent=None) + "\n").encode(errors="replace")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as stream:
        stream.write(line)
        stream.flush()
        os.fsync(stream.fileno())


def read_json_lines(path: Path) -> Iterator[Any]:
    """Each complete line of a JSONL file; a last line cut by a crash is left out."""
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            if line.endswith("\n") and line.strip():
                yield json.loads(line)


def parse_yaml(text: str, *, file: Path | str) -> Any:
    """YAML as plain data. Raises InputError naming the line of a syntax error."""
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader, the C one where there is one
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        field = f"line {mark.line + 1}" if mark is not None else ""
        raise InputError(file, field, "not valid YAML", "mend the syntax (quotes, indentation, colons)") from error


def read_text(path: Path) -> str:
    """A UTF-8 text file that a person wrote. Raises InputError when it is missing or in another encoding."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(path, "", "no such file", "create it, or correct the path") from error
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.start}", "not UTF-8", "save the file as UTF-8") from error


def read_yaml(path: Path) -> Any:
    """A YAML file as plain data. Raises InputError."""
    return parse_yaml(read_text(path), file=path)


def validate(model: type[Model], data: Any, *, file: Path | str) -> Model:
    """`data` as `model`. Raises InputError naming the first wrong field, how it is wrong and how to mend it."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        field, problem, remedy = explain(error)[0]
        raise InputError(file, field, problem, remedy) from error


def explain(error: ValidationError) -> list[tuple[str, str, str]]:
    """Each problem of a pydantic error as (field, problem, remedy) in plain words."""
    rows = []
    for item in error.errors(include_url=False):
        field = ".".join(str(part) for part in item["loc"]) or "(whole file)"
        problem, remedy = item["msg"].removeprefix("Value error, "), "correct the value"
        if item["type"] == "missing":
            problem, remedy = "missing", "add it"
        elif item["type"] == "extra_forbidden":
            problem, remedy = "unknown field", "remove it, or correct its spelling"
        elif item["type"] == "literal_error":
            problem, remedy = f"{item['input']!r} is not allowed", f"use {item['ctx']['expected']}"
        rows.append((field, problem, remedy))
    return rows


def read_model(model: type[Model], path: Path) -> Model:
    """A YAML or JSON file as `model`, by its ending. Raises InputError."""
    if path.suffix == ".json":
        try:
            data = json.loads(read_text(path))
        except json.JSONDecodeError as error:
            raise InputError(path, f"line {error.lineno}", "not valid JSON", "mend the syntax") from error
    else:
        data = read_yaml(path)
    return validate(model, data, file=path)


def sha256_of(path: Path) -> str:
    """Hex SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_within(root: Path, relative: str, *, limit: int = 10_000_000) -> bytes:
    """Bytes of the plain file `relative` below `root`, at most `limit` of them.

    For files that an agent or a model wrote. Raises UnsafePathError for absolute paths, `..`, links anywhere on the
    way, pipes, devices, directories and whatever may not be opened, and FileNotFoundError where there is nothing.
    """
    with os.fdopen(open_within(root, relative), "rb") as stream:
        return stream.read(limit)


def open_within(root: Path, relative: str) -> int:
    """A descriptor of the plain file `relative` below `root`, for reading. Raises as `read_within` does."""
    handle = _open_within(root, relative, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise UnsafePathError(f"{relative!r} is not a plain file")
    return handle


def stat_within(root: Path, relative: str) -> os.stat_result | None:
    """Status of `relative` below `root` without following links; None where there is nothing safe to look at."""
    try:
        handle = _open_within(root, relative, os.O_PATH)
    except (FileNotFoundError, UnsafePathError):
        return None
    try:
        return os.fstat(handle)
    finally:
        os.close(handle)


def give_back(directory: Path) -> None:
    """Let the owner of `directory` read, write and enter it again, whatever an agent did to its mode.

    For directories of ours that an agent could write, once nothing of it runs any more; not for what is below them.
    """
    mode = stat.S_IMODE(directory.stat().st_mode)
    if mode & stat.S_IRWXU != stat.S_IRWXU:
        directory.chmod(mode | stat.S_IRWXU)


def _open_within(root: Path, relative: str, last_flags: int) -> int:
    """A descriptor of `relative`, each part opened from its parent without following links."""
    parts = Path(relative).parts
    if not parts or Path(relative).is_absolute() or ".." in parts or "\0" in relative:
        raise UnsafePathError(f"{relative!r} leaves {root.name}")
    try:
        handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnsafePathError(f"{root.name} can't be opened as a directory") from error
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        flags = last_flags if last else os.O_RDONLY | os.O_DIRECTORY
        try:
            inner = os.open(part, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)
        except FileNotFoundError:
            raise
        except (OSError, ValueError) as error:  # ValueError: a name that the file system can't encode
            raise UnsafePathError(f"{relative!r} is a link or not a plain file") from error
        finally:
            os.close(handle)
        handle = inner
    return handle
