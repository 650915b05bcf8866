"""The trace of a client, written while it works: from what the gateway saw, never from what the client says.

The client shares its process namespace with the commands that it runs, so each of them could write into its output.
What the gateway recorded it can't touch.
"""

import threading
from types import TracebackType
from typing import Self

from matproof.records.places import AttemptPlace
from matproof.traces.events import TraceWriter
from matproof.traces.from_exchanges import ExchangeEvents

EVERY_S = 1.0


class Following:
    """Appends the exchanges of `place` to `trace`, as events of `agent` in `phase`, while the context is open."""

    def __init__(self, place: AttemptPlace, trace: TraceWriter, *, agent: str, phase: str) -> None:
        self._exchanges = ExchangeEvents(place.exchanges, agent=agent, phase=phase)
        self.tools: set[str] = set()
        """Tools that the model was offered, by their names."""
        self._trace = trace
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="following", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._take()

    def _follow(self) -> None:
        while not self._over.wait(EVERY_S):
            try:
                self._take()
            except OSError:
                return  # the last look, in the thread that waits, meets it again and tells

    def _take(self) -> None:
        for event in self._exchanges.new():
            self._trace.add(event)
            self.tools.update((event.data or {}).get("tools", ()))
