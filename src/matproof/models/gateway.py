"""The gateway: the one way out of a run. A reverse proxy on a Unix socket, in a thread with an event loop of its own.

Whoever starts a run opens a `Gateway`, binds its socket into the sandbox, and asks it afterwards what was used. Its
address inside is `http://…/s/<label>/…`: the label stands for a session that is open, the rest is the model API's own
path. docs/gateway.md tells what it serves, records and refuses.
"""

import asyncio
import logging
import socket as sockets
import threading
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Self

from matproof.config.models import ModelTable
from matproof.config.settings import Limits
from matproof.core.errors import InfrastructureError
from matproof.models.base import Backend
from matproof.models.exchanges import Recorder
from matproof.models.funds import Funds
from matproof.models.open_sessions import OpenSessions
from matproof.models.serving import Service
from matproof.records.base import Usage

MAX_SOCKET_PATH_BYTES = 107
"""Longest path that a Unix socket can have on Linux."""
START_TIMEOUT_S = 30
STOP_TIMEOUT_S = 10


class Gateway:
    """One run's gateway, serving while the context is open.

    `socket` is where it listens (at most 107 bytes, mode 0600), `exchanges` the file that every exchange is appended
    to, `funds` what the campaign may still spend. Entering raises InfrastructureError where the socket can't be had.
    Leaving ends streams that are still open.
    """

    def __init__(
        self,
        *,
        socket: Path,
        exchanges: Path,
        backend: Backend,
        limits: Limits,
        table: ModelTable,
        funds: Funds | None = None,
    ) -> None:
        self._path = socket
        self._exchanges = exchanges
        self._backend = backend
        self._limits = limits
        self._table = table
        self._funds = funds
        self._sessions = OpenSessions()
        self._service: Service | None = None
        self._recorder: Recorder | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._problem: BaseException | None = None

    def session(self, name: str) -> AbstractContextManager[str]:
        """Open a session, such as `plan`, for the context; gives the label that stands for it in `/s/<label>`.

        Only open sessions are served. Raises ValueError for a name of odd characters, or of more than 51.
        """
        return self._sessions.opened(name)

    def failure_of(self, label: str) -> str | None:
        """How the provider failed the last exchange of a session, open or closed; None where it did not.

        Later exchanges clear it, answered or not, token counts aside. Raises KeyError for a label never given.
        """
        return self._sessions.failure_of(label)

    def usage(self, session: str | None = None) -> Usage:
        """What was used so far, by all sessions or by those of one name; null where a reply did not tell."""
        if self._service is None:
            raise InfrastructureError("the gateway was not started")
        return self._service.meter.usage(session)

    @property
    def refusal(self) -> str | None:
        """Why requests are refused, once a limit was met."""
        return self._service.budget.refusal if self._service is not None else None

    @property
    def drift(self) -> int | None:
        """In how many ways the run differed from the recording that it replays; None where nothing was compared."""
        return self._service.drift if self._service is not None else None

    def __enter__(self) -> Self:
        listening = _listen(self._path)
        self._recorder = Recorder(self._exchanges, self._backend.secrets)
        self._service = Service(
            backend=self._backend,
            limits=self._limits,
            table=self._table,
            recorder=self._recorder,
            sessions=self._sessions,
            funds=self._funds,
        )
        self._thread = threading.Thread(target=self._serve, args=(listening,), name="gateway", daemon=True)
        self._thread.start()
        if not self._ready.wait(START_TIMEOUT_S) or self._problem is not None:
            self.__exit__(None, None, None)
            raise InfrastructureError(f"the gateway did not start: {self._problem}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop is not None and self._stop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread is not None:
            self._thread.join(STOP_TIMEOUT_S)
        if self._recorder is not None:
            self._recorder.close()
        self._path.unlink(missing_ok=True)

    def _serve(self, listening: sockets.socket) -> None:
        try:
            asyncio.run(self._main(listening))
        except BaseException as error:  # told to whoever waits in __enter__
            self._problem = error
        finally:
            self._ready.set()

    async def _main(self, listening: sockets.socket) -> None:
        import uvicorn

        if self._service is None:
            raise RuntimeError("no service")
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        config = uvicorn.Config(
            self._service,
            http="h11",
            ws="none",
            lifespan="off",
            loop="asyncio",
            access_log=False,
            log_config=None,
            # Cut answers are part of the work, and every exchange is recorded: nothing is left to log.
            log_level=logging.CRITICAL + 1,
            server_header=False,
            date_header=False,
            limit_concurrency=128,
            timeout_keep_alive=600,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.002)
        self._ready.set()
        stopped = asyncio.create_task(self._stop.wait())
        await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
        self._service.stop()
        server.should_exit = True
        await serving
        stopped.cancel()
        await self._backend.close()


def _listen(path: Path) -> sockets.socket:
    """A listening Unix socket that only this user can reach. Raises InfrastructureError."""
    name = str(path)
    if len(name.encode()) > MAX_SOCKET_PATH_BYTES:
        raise InfrastructureError(
            f"{name}: {len(name.encode())} bytes are too long for a socket's path, {MAX_SOCKET_PATH_BYTES} are allowed;"
            " set TMPDIR to a shorter directory"
        )
    listening = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _clear_stale(path)
        listening.bind(name)
        # Nobody can connect before listen(), so the mode is in place in time.
        path.chmod(0o600)
        listening.listen(128)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        raise InfrastructureError(f"{name}: the gateway can't listen there: {error.strerror}") from error
    return listening


def _clear_stale(path: Path) -> None:
    """Remove a socket that a dead process left; one that answers, or anything else, stays and makes bind fail."""
    if not path.is_socket():
        return
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
