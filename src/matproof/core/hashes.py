"""Hashes of the files that people wrote, for the record of what a run or a judgement stood on."""

from pathlib import Path

from matproof.core.files import sha256_of


def file_hashes(**files: Path) -> dict[str, str]:
    """`file.<name>` → `sha256:…` of each file, and of each YAML file of a directory as `file.<name>/<file>`.

    What is not there is left out; nothing is made up for it.
    """
    found: dict[str, str] = {}
    for name, path in files.items():
        if path.is_dir():
            found |= {f"file.{name}/{each.name}": _hash(each) for each in sorted(path.glob("*.yaml")) if each.is_file()}
        elif path.is_file():
            found[f"file.{name}"] = _hash(path)
    return found


def _hash(path: Path) -> str:
    return f"sha256:{sha256_of(path)}"
