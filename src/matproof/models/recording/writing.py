"""Writing a recorded script so that a person can review it: YAML, several lines as several lines."""

import re
from pathlib import Path
from typing import Any

import yaml

from matproof.core.files import parse_yaml, to_json, validate, write_text
from matproof.models.base import Json
from matproof.models.scripts import Script

_HEAD = """\
# Recorded with `matproof record`; docs/record-replay.md tells how to read and replay it.
"""
_BLOCK = re.compile(r"[^\s\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff][^\x00-\x08\x0b-\x1f\x7f-\xa0\u2028\u2029\ufeff]*")
"""Texts that YAML can hold line by line without losing anything."""


class _Dumper(yaml.SafeDumper):
    """SafeDumper that writes texts of several lines as blocks, where they allow it, and never an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    block = "\n" in text and _BLOCK.fullmatch(text) is not None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if block else None)


_Dumper.add_representer(str, _text)


def write_script(path: Path, script: Json) -> None:
    """Write `script` as YAML, or as JSON where the name ends so. Raises InputError where it is no script."""
    validate(Script, script, file=path)
    if path.suffix == ".json":
        write_text(path, to_json(script) + "\n")
        return
    text = str(yaml.dump(script, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110))
    if parse_yaml(text, file=path) != script:
        text = to_json(script) + "\n"  # JSON is YAML: odd characters stay what they are
    write_text(path, _HEAD + text)
