"""Writing a recorded script so that a person can review it: YAML, several lines as several lines."""

import re
from pathlib import Path
from typing import Any

import yaml

from matproof.core.errors import InputError
from matproof.core.files import parse_yaml, to_json, validate, write_text
from matproof.models.base import Json
from matproof.models.scripts import Script

_HEAD = """\
# Recorded with `matproof record`; docs/record-replay.md tells how to read and replay it.
"""
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\xa0\u2028\u2029\ufeff]")
"""Characters that YAML drops, or takes for the end of a line, unless they are escaped."""


class _Dumper(yaml.SafeDumper):
    """SafeDumper that writes texts of several lines as blocks, where they allow it, and never an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if _ODD.search(text):
        style = '"'
    elif "\n" in text and not text[0].isspace():
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def write_script(path: Path, script: Json) -> None:
    """Write `script` as YAML, or as JSON where the name ends so. Raises InputError where it is no script."""
    validate(Script, script, file=path)
    if path.suffix == ".json":
        write_text(path, to_json(script) + "\n")
        return
    text = str(yaml.dump(script, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110))
    if parse_yaml(text, file=path) != script:
        raise InputError(path, "", "YAML can't hold all of what was said", "give the script a name that ends in .json")
    write_text(path, _HEAD + text)
