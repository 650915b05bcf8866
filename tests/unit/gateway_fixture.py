"""What the gateway's tests share: an open gateway, a client of its socket, and a small real provider on loopback."""

import re
import shutil
import socket
import socketserver
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2

from matproof.config.models import ModelInfo, ModelTable, Prices, Provider
from matproof.config.settings import Limits
from matproof.core.files import read_json_lines
from matproof.models.base import Backend
from matproof.models.exchanges import Exchange
from matproof.models.gateway import Gateway
from matproof.models.live import LiveBackend
from matproof.models.scripted import ScriptedBackend

SESSIONS = ("plan", "x", "y", "setup", "judge", "diagnose", "diagnose:relax", "diagnose:other", "other")
"""Open in every gateway of these tests."""
KEY = "sk-real-0123456789abcdef"
TABLE = ModelTable(
    providers={"here": Provider(api="anthropic", base_url="http://127.0.0.1:1")},
    models={"priced": ModelInfo(provider="here", prices=Prices(input=3, output=15, cache_read=0.3, cache_write=3.75))},
)


class Labelling(httpx2.HTTPTransport):
    """Puts the labels of open sessions in paths that name them plainly; other paths stay as they are."""

    def __init__(self, place: Path, labels: dict[str, str]) -> None:
        super().__init__(uds=str(place))
        self._labels = labels

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        found = re.fullmatch(rb"/s/([^/?]+)(.*)", request.url.raw_path)
        if found is not None and (label := self._labels.get(found.group(1).decode())) is not None:
            request.url = request.url.copy_with(raw_path=b"/s/" + label.encode() + found.group(2))
        return super().handle_request(request)


@dataclass
class Open:
    """An open gateway, its sessions, and a client that talks to its socket and knows their labels."""

    gateway: Gateway
    client: httpx2.Client
    socket: Path
    file: Path
    labels: dict[str, str]

    def failure(self, session: str = "plan") -> str | None:
        """How the provider failed the last exchange of a session."""
        return self.gateway.failure_of(self.labels[session])

    def transport(self) -> httpx2.HTTPTransport:
        """What other clients use to talk to the socket as `client` does."""
        return Labelling(self.socket, self.labels)

    def post(self, path: str, **body: Any) -> httpx2.Response:
        """POST `body` as JSON."""
        return self.client.post(path, json=body)

    def exchanges(self) -> list[Exchange]:
        """What is recorded so far."""
        return [Exchange.model_validate(line) for line in read_json_lines(self.file)]


@contextmanager
def opened(backend: Backend, *, table: ModelTable = TABLE, file: Path | None = None, **limits: Any) -> Iterator[Open]:
    """A gateway in front of `backend`, in a short directory of its own."""
    directory = Path(tempfile.mkdtemp(prefix="gw", dir="/tmp"))
    place, record = directory / "gateway.sock", file or directory / "exchanges.jsonl"
    try:
        with (
            Gateway(socket=place, exchanges=record, backend=backend, limits=Limits(**limits), table=table) as gateway,
            ExitStack() as sessions,
        ):
            labels = {name: sessions.enter_context(gateway.session(name)) for name in SESSIONS}
            with httpx2.Client(transport=Labelling(place, labels), base_url="http://gateway", timeout=30) as client:
                yield Open(gateway=gateway, client=client, socket=place, file=record, labels=labels)
    finally:
        shutil.rmtree(directory)


def scripted(directory: Path, sessions: str, *, files: tuple[Path, ...] = ()) -> ScriptedBackend:
    """A backend for a script whose `sessions` are the YAML below that key."""
    path = directory / "script.yaml"
    indented = "\n".join(f"  {line}" for line in sessions.strip("\n").split("\n"))
    path.write_text(f"version: 1\nsessions:\n{indented}\n")
    return ScriptedBackend(path, files=files)


def raw_request(place: Path, data: bytes) -> bytes:
    """Send bytes to a Unix socket and return all that comes back until it closes."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(30)
        client.connect(str(place))
        client.sendall(data)
        return b"".join(iter(lambda: client.recv(65536), b""))


@contextmanager
def on_tcp(place: Path) -> Iterator[str]:
    """A bridge from a loopback port to a Unix socket, for clients that know no sockets; gives its address."""

    class Bridge(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as inner:
                inner.connect(str(place))
                back = threading.Thread(target=pump, args=(inner, self.request), daemon=True)
                back.start()
                pump(self.request, inner)
                back.join()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Bridge) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def pump(source: socket.socket, target: socket.socket) -> None:
    """Copy until one side ends, and tell the other."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for side in (source, target):
            side.close()


@dataclass
class Reply:
    """What the provider answers once; `cut` closes the connection after the chunks, before the proper end."""

    status: int = 200
    chunks: tuple[bytes, ...] = ()
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    cut: bool = False
    silent: bool = False
    """Close without a word."""
    hold: threading.Event | None = None
    """Waited for after the first chunk."""


@dataclass
class Seen:
    """One request as the provider saw it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Upstream:
    """A provider on loopback that gives prepared answers in order, the last one again and again."""

    def __init__(self, *replies: Reply) -> None:
        self.seen: list[Seen] = []
        self._replies = list(replies)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def backend(self, *, api: Any = "anthropic", **options: Any) -> LiveBackend:
        """A live backend with this provider behind it, which waits little between tries."""
        return LiveBackend(Provider(api=api, base_url=self.url), KEY, **{"backoff_s": 0.01, **options})

    def __enter__(self) -> "Upstream":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", "0")))
                headers = {name.lower(): value for name, value in self.headers.items()}
                upstream.seen.append(Seen(self.command, self.path, headers, body))
                replies = upstream._replies
                reply = replies.pop(0) if len(replies) > 1 else replies[0]
                self.close_connection = True
                if reply.silent:
                    return
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                for chunk in reply.chunks:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                    self.wfile.flush()
                    if reply.hold is not None:
                        reply.hold.wait(60)
                if not reply.cut:
                    self.wfile.write(b"0\r\n\r\n")

            do_GET = do_POST  # noqa: N815 - the name that http.server calls

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing."""

        return Handler
