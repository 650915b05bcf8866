"""Which sessions may speak to the gateway, and what became of the last thing each said.

A session is open while the runner holds its conversation. Its label, a part of the address that only its client is
told, can't be guessed: whatever else runs in the sandbox can neither speak in its name nor make it look as if the
provider had failed it.
"""

import re
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from matproof.models.scripts import SESSION_PATTERN


class OpenSessions:
    """The sessions of one gateway; used from any thread."""

    def __init__(self) -> None:
        self._open: dict[str, str] = {}
        self._failures: dict[str, str | None] = {}
        self._lock = threading.Lock()

    @contextmanager
    def opened(self, name: str) -> Iterator[str]:
        """Open a session called `name` and give its label, `<name>-<8 hex digits>`; several may have one name.

        Raises ValueError for a name whose label `SESSION_PATTERN` does not fit.
        """
        with self._lock:
            label = f"{name}-{secrets.token_hex(4)}"
            while label in self._failures:
                label = f"{name}-{secrets.token_hex(4)}"
            if not name or not re.fullmatch(SESSION_PATTERN, label):
                raise ValueError(f"a session can't be called {name!r}")
            self._open[label], self._failures[label] = name, None
        try:
            yield label
        finally:
            with self._lock:
                del self._open[label]

    def name_of(self, label: str) -> str | None:
        """Name of the open session with that label; None where none is open."""
        with self._lock:
            return self._open.get(label)

    def ended(self, label: str, failure: str | None) -> None:
        """An exchange of a session ended, with the provider's `failure` or without one."""
        with self._lock:
            self._failures[label] = failure

    def failure_of(self, label: str) -> str | None:
        """How the provider failed the last exchange of a session, open or closed; None where it did not."""
        with self._lock:
            return self._failures[label]
