"""The report while a campaign runs: made again as results come in, shown to this machine alone, never written to.

What runs in the background gathers and builds into a directory of its own, beside links to the campaign's runs, so
that the campaign's own tables and report are left to the campaign. The server answers GET and HEAD from that
directory's site, opening every part of a path without following links. It listens on a loopback address, and answers
only to a loopback name in `Host`: else a page from anywhere could have its own name lead here and read the results.
"""

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from matproof.core.errors import MatproofError, UnsafePathError
from matproof.core.files import read_within
from matproof.records.places import Results
from matproof.report.live_statistics import LiveStatistics
from matproof.report.site import build_site
from matproof.tables.gather import gather

HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
MOST_BYTES = 500_000_000
_HEADERS = {
    "Cache-Control": "no-cache",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}
_KINDS = {".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml", ".csv": "text/csv"}
"""Endings of what the site holds; nothing else is sent."""
_WAITING = b"<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=2><title>matproof</title>\
<p>The report is being made; this page opens it once it is there."


class _StoppedError(Exception):
    """The server ends: the refresh is given up."""


@dataclass(slots=True)
class LiveSite:
    """A site that follows a campaign."""

    results: Path
    tasks: Path
    work: Path
    """Directory of the tables and the site; ours alone."""
    include_scripted: bool = False
    calibration: Path | None = None
    workers: int = 1
    version: str = ""
    """Changes with what the site shows; empty until it was made once."""
    problem: str | None = None
    """Why it could not be made the last time."""
    tell: Callable[[str], None] = field(default=lambda _: None)
    stopping: bool = False
    """Set to end a refresh early."""
    _statistics: LiveStatistics | None = None

    @property
    def root(self) -> Path:
        """The site."""
        return Results(self.work).report

    def refresh(self) -> bool:
        """Make the site again where something changed. Returns whether it shows something else than before.

        What can't be read or written now is told, and tried again the next time.
        """
        try:
            self._link()
            gather(self.work, self.tasks, self.include_scripted)
            self.statistics().refresh()
            build_site(
                self.work,
                self.tasks,
                self.root,
                calibration=self.calibration,
                live=True,
                workers=self.workers,
                progress=self._progress,
            )
            found = hashlib.sha256((self.root / "pages.json").read_bytes() + _state(self.root)).hexdigest()[:16]
        except _StoppedError:
            return False
        except (MatproofError, OSError) as error:
            if str(error) != self.problem:
                self.tell(f"the report can't be made now: {error}")
            self.problem = str(error)
            return False
        changed, self.version, self.problem = found != self.version, found, None
        return changed

    def statistics(self) -> LiveStatistics:
        """The statistics of the site."""
        if self._statistics is None:
            self._statistics = LiveStatistics(
                work=self.work, include_scripted=self.include_scripted, tell=self.tell, stop=self._stop
            )
        return self._statistics

    def _stop(self) -> None:
        if self.stopping:
            raise _StoppedError

    def _progress(self, done: int, of: int) -> None:
        self._stop()
        if done % 500 == 0:
            self.tell(f"{done:,} of {of:,} pages of runs")

    def _link(self) -> None:
        """Links to what the campaign has, as it comes to be."""
        self.work.mkdir(parents=True, exist_ok=True)
        for source in (Results(self.results).runs, Results(self.results).m2m.root):
            link = self.work / source.name
            if source.is_dir() and not link.is_symlink():
                link.symlink_to(source.resolve())


def _state(root: Path) -> bytes:
    """What changes where a page that is made each time does."""
    times = [(path.name, path.stat().st_mtime_ns) for path in sorted(root.iterdir()) if path.is_file()]
    return repr([item for item in times if item[0] != "pages.json"]).encode()


def application(site: LiveSite, *, every_s: float) -> Any:
    """The ASGI application; it makes the site again every `every_s` seconds while it runs."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    async def follow() -> None:
        while True:
            if await asyncio.to_thread(site.refresh):
                site.tell("the report shows new results")
            await asyncio.sleep(every_s)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(follow())
        try:
            yield
        finally:
            site.stopping = True
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def answer(request: Request) -> Response:
        if refused := refusal(request.headers.get("host"), request.headers.get("origin")):
            return Response(refused, 403, _HEADERS, "text/plain")
        path = request.path_params["path"]
        if path == "-/state":
            return JSONResponse({"version": site.version, "problem": site.problem}, headers=_HEADERS)
        if not site.version:
            return Response(_WAITING, 503, _HEADERS | {"Retry-After": "2"}, "text/html")
        data, kind = await asyncio.to_thread(file_of, site.root, path)
        return Response(data, 200 if kind else 404, _HEADERS, kind or "text/plain")

    return Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "HEAD"])], lifespan=lifespan)


def refusal(host: str | None, origin: str | None) -> str | None:
    """Why a request with these headers is not answered; None where it is."""
    name = (host or "").rsplit(":", 1)[0] if not (host or "").endswith("]") else host
    if name not in HOSTS:
        return "this server answers to 127.0.0.1 and localhost only"
    if origin is not None and urlsplit(origin).netloc != host:
        return "pages from elsewhere may not read this"
    return None


def file_of(root: Path, path: str) -> tuple[bytes, str | None]:
    """Bytes and kind of the file `path` of the site; kind None where there is none, or none that may be sent."""
    name = path or "index.html"
    kind = _KINDS.get(Path(name).suffix)
    if kind is None or any(part.startswith(".") for part in Path(name).parts):
        return b"no such page", None
    try:
        return read_within(root, name, limit=MOST_BYTES), kind
    except (FileNotFoundError, UnsafePathError, OSError, ValueError):
        return b"no such page", None


def serve(site: LiveSite, *, host: str, port: int, every_s: float, ready: Callable[[str], None]) -> None:
    """Serve `site` until Ctrl-C or SIGTERM. `ready` gets the address once it is listened on. Raises OSError."""
    import socket

    import uvicorn

    config = uvicorn.Config(
        application(site, every_s=every_s),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        limit_concurrency=64,
    )
    with socket.socket(socket.AF_INET) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        ready(f"http://{host}:{listening.getsockname()[1]}/")
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])
