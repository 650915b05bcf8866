"""Taking secrets out of what passes: from a stream in any pieces, and from finished texts."""

import json
from collections.abc import Sequence

MARK = "[key]"


class Redactor:
    """Replaces each secret in a stream of bytes. Holds back only bytes that may be the beginning of one."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = tuple(secret.encode() for secret in secrets if secret)
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        """What can be passed on now."""
        if not self._secrets:
            return chunk
        data = self._held + chunk
        for secret in self._secrets:
            data = data.replace(secret, MARK.encode())
        keep = max(_overlap(data, secret) for secret in self._secrets)
        self._held = data[len(data) - keep :]
        return data[: len(data) - keep]

    def finish(self) -> bytes:
        """What was held back."""
        rest, self._held = self._held, b""
        return rest


def redact(text: str, secrets: Sequence[str]) -> str:
    """`text` with each secret replaced, also where it stands inside a JSON string."""
    for secret in secrets:
        for form in {secret, json.dumps(secret)[1:-1]} - {""}:
            text = text.replace(form, MARK)
    return text


def _overlap(data: bytes, secret: bytes) -> int:
    """Length of the longest end of `data` that begins `secret`."""
    longest = min(len(data), len(secret) - 1)
    return next((size for size in range(longest, 0, -1) if data.endswith(secret[:size])), 0)
