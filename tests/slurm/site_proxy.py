"""A site whose nodes reach a model provider only through its proxy: both stand on loopback, the provider is a script.

`Site` runs a proxy that tunnels (CONNECT) to one host name, which nothing can resolve, and behind it a provider that
speaks TLS with a certificate of the site's own authority and answers from a script.
"""

import contextlib
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2

from matproof.config.models import ModelTable
from matproof.config.settings import Limits
from matproof.core.processes import run
from matproof.models.gateway import Gateway
from matproof.models.scripted import ScriptedBackend

HOST = "provider.invalid"
PHASES = ("plan", "setup", "execute", "extract")


@dataclass
class Site:
    """Addresses, and who asked for what."""

    proxy: str
    authority: Path
    """Certificate that proves the provider."""
    asked: list[str] = field(default_factory=list)
    """Hosts that the proxy was asked to reach."""
    keys: set[str] = field(default_factory=set)
    """Keys that the provider was shown."""


@contextlib.contextmanager
def site(folder: Path, script: Path) -> Iterator[Site]:
    """Open for the length of the block; `folder` gets the certificate and the provider's own record."""
    authority, key = _certificate(folder)
    gateway = Gateway(
        socket=folder / "g",
        exchanges=folder / "provider.jsonl",
        backend=ScriptedBackend(script, files=(script.parent,)),
        limits=Limits(),
        table=ModelTable(providers={}, models={}),
    )
    with ExitStack() as stack:
        stack.enter_context(gateway)
        labels = {phase: stack.enter_context(gateway.session(phase)) for phase in PHASES}
        here = Site(proxy="", authority=authority)
        provider = stack.enter_context(_serving(ThreadingHTTPServer(("127.0.0.1", 0), _provider(here, folder, labels))))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(authority, key)
        provider.socket = context.wrap_socket(provider.socket, server_side=True)
        address = provider.server_address[1]
        proxy = stack.enter_context(_serving(ThreadingHTTPServer(("127.0.0.1", 0), _proxy(here, int(address)))))
        here.proxy = f"http://127.0.0.1:{proxy.server_address[1]}"
        yield here


@contextlib.contextmanager
def _serving(server: ThreadingHTTPServer) -> Iterator[ThreadingHTTPServer]:
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def _proxy(here: Site, port: int) -> type[BaseHTTPRequestHandler]:
    class Proxy(BaseHTTPRequestHandler):
        def do_CONNECT(self) -> None:
            here.asked.append(self.path)
            if self.path != f"{HOST}:443":
                self.send_error(403)
                return
            with socket.create_connection(("127.0.0.1", port)) as inner:
                self.send_response(200)
                self.end_headers()
                back = threading.Thread(target=_copy, args=(inner, self.connection), daemon=True)
                back.start()
                _copy(self.connection, inner)
                back.join(5)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    return Proxy


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def _provider(here: Site, folder: Path, labels: dict[str, str]) -> type[BaseHTTPRequestHandler]:
    class Provider(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            here.keys.add(self.headers["x-api-key"])
            body = self.rfile.read(int(self.headers["content-length"]))
            # Only the prompt tells a provider what a session is for.
            phase = re.search(rb"four phases: \*\*(\w+)\*\*", body)
            label = labels[phase[1].decode() if phase else "plan"]
            with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(folder / "g"))) as client:
                answer = client.post(
                    f"http://provider/s/{label}{self.path}",
                    content=body,
                    headers={"content-type": "application/json"},
                    timeout=60,
                )
            self.send_response(answer.status_code)
            self.send_header("content-type", answer.headers["content-type"])
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    return Provider


def _certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for HOST that is its own authority, and its key."""
    authority, key = folder / "authority.pem", folder / "key.pem"
    made = run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={HOST}"),
            *("-addext", f"subjectAltName=DNS:{HOST}", "-out", str(authority), "-keyout", str(key)),
        ],
        timeout_s=60,
    )
    assert made.ok, made.stderr
    return authority, key
