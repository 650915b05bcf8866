"""What may leave the machine: texts of ours without its paths and secrets; files of an agent's that hold none.

A text of ours is cleaned. A file that an agent wrote is evidence, whose hash others have: it leaves as it is or not at
all. What counts as a secret is what the environment holds under a telling name, and what looks like a provider's key.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

KEY = re.compile(
    rb"sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|AKIA[0-9A-Z]{16}|xox[abp]-[A-Za-z0-9-]{20,}"
    rb"|hf_[A-Za-z0-9]{30,}|AIza[A-Za-z0-9_-]{30,}|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
_TELLING = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
SHORTEST = 8
"""Characters of a secret; a shorter one is found everywhere by chance."""
PATH, SECRET = "[path]", "[key]"


class Leaving:
    """Looks for paths below `roots` and for secrets."""

    def __init__(self, roots: Iterable[Path], environment: Mapping[str, str] | None = None) -> None:
        found = os.environ if environment is None else environment
        places = {os.fspath(form) for root in roots for form in (root.absolute(), root.resolve())}
        # A root such as /root or /tmp names no one and stands in half of all logs.
        self._paths = sorted((one for one in places if one.count("/") > 1), key=len, reverse=True)
        secrets = {text for name, text in found.items() if _TELLING.search(name) and len(text) >= SHORTEST}
        self._secrets = sorted(secrets - places, key=len, reverse=True)

    def clean(self, text: str) -> str:
        """`text` with each path and secret replaced, also where they stand inside a JSON string."""
        for mark, found in ((SECRET, self._secrets), (PATH, self._paths)):
            for one in found:
                for form in {one, json.dumps(one)[1:-1]}:
                    text = text.replace(form, mark)
        return KEY.sub(SECRET.encode(), text.encode("utf-8", "replace")).decode("utf-8", "replace")

    def problem(self, data: bytes) -> str | None:
        """Why a file of this content stays; None where it may leave."""
        if any(one.encode("utf-8", "replace") in data for one in self._secrets) or KEY.search(data):
            return "holds what looks like a secret"
        if any(one.encode("utf-8", "replace") in data for one in self._paths):
            return "holds a path of the machine that it was made on"
        return None
