"""The gateway is the only address that answers inside a sandbox."""

import os
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_guest import Guest

CONNECT = """
import socket, sys
def reach(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as door:
        door.settimeout(5)
        try:
            door.connect(address)
            return door.recv(20).decode()
        except OSError as error:
            return type(error).__name__ + " " + str(error.errno)
"""


class _Hello(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.sendall(b"hello")


class _Unix(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


class _Tcp(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True


def _serve(server: socketserver.BaseServer) -> Iterator[socketserver.BaseServer]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def listener() -> Iterator[socketserver.BaseServer]:
    """A service on the host's loopback."""
    yield from _serve(_Tcp(("127.0.0.1", 0), _Hello))


@pytest.fixture
def abstract() -> Iterator[str]:
    """A service on an abstract Unix socket, which has no file."""
    name = f"matproof-test-{os.getpid()}"
    for _ in _serve(_Unix("\0" + name, _Hello)):
        yield name


@pytest.fixture
def gateway(guest: Guest) -> Iterator[Path]:
    """A gateway that says hello, on a socket of the guest."""
    path = guest.directory("gw") / "g.sock"
    for _ in _serve(_Unix(str(path), _Hello)):
        guest.own()
        yield path


def test_a_service_on_the_hosts_loopback_is_out_of_reach(guest: Guest, listener: _Tcp, gateway: Path) -> None:
    attack = CONNECT + f"print(reach(socket.AF_INET, ('127.0.0.1', {listener.server_address[1]})))"
    assert guest.python_outside(attack)["stdout"] == "hello\n"
    outcome = guest.python_inside(attack, network="gateway", gateway_socket=str(gateway))
    assert outcome["stdout"] == "ConnectionRefusedError 111\n"


def test_other_addresses_are_unreachable_at_once(guest: Guest, gateway: Path) -> None:
    attack = CONNECT + (
        "for address in (('192.0.2.1', 443), ('10.0.0.1', 22), ('169.254.169.254', 80)):\n"
        "    print(reach(socket.AF_INET, address))\n"
        "print(reach(socket.AF_INET6, ('2001:db8::1', 443)))\n"
    )
    outcome = guest.python_inside(attack, network="gateway", gateway_socket=str(gateway))
    assert outcome["stdout"].splitlines()[:3] == ["OSError 101"] * 3
    assert outcome["stdout"].splitlines()[3] in ("OSError 101", "OSError 99", "OSError 97")


def test_the_gateway_answers_from_the_first_moment(guest: Guest, gateway: Path) -> None:
    attack = CONNECT + "print([reach(socket.AF_INET, ('127.0.0.1', 8080)) for _ in range(20)].count('hello'))"
    outcome = guest.python_inside(attack, network="gateway", gateway_socket=str(gateway))
    assert outcome["stdout"] == "20\n"


def test_without_network_the_gateway_is_out_of_reach_too(guest: Guest, gateway: Path) -> None:
    attack = (
        CONNECT + "import os; print(reach(socket.AF_INET, ('127.0.0.1', 8080)), os.path.exists('/run/gateway.sock'))"
    )
    outcome = guest.python_inside(attack, network="none", gateway_socket=str(gateway))
    assert outcome["stdout"] == "ConnectionRefusedError 111 False\n"


def test_there_is_only_the_loopback_interface(guest: Guest) -> None:
    attack = "import socket; print([name for _, name in socket.if_nameindex() if name != 'lo'])"
    assert guest.python_inside(attack)["stdout"] in ("[]\n", "['sit0']\n", "['tunl0', 'sit0']\n")


def test_no_name_is_resolved(guest: Guest) -> None:
    attack = "import socket\ntry: print(socket.gethostbyname('example.org'))\nexcept OSError: print('no')"
    assert guest.python_inside(attack)["stdout"] == "no\n"


def test_an_abstract_socket_of_the_host_is_out_of_reach(guest: Guest, abstract: str) -> None:
    attack = CONNECT + f"print(reach(socket.AF_UNIX, '\\0{abstract}'))"
    assert guest.python_outside(attack)["stdout"] == "hello\n"
    assert guest.python_inside(attack)["stdout"] == "ConnectionRefusedError 111\n"


def test_a_socket_file_of_the_host_is_out_of_reach(guest: Guest, gateway: Path) -> None:
    attack = CONNECT + f"print(reach(socket.AF_UNIX, {str(gateway)!r}))"
    assert guest.python_outside(attack)["stdout"] == "hello\n"
    assert guest.python_inside(attack)["stdout"] == "FileNotFoundError 2\n"


def test_packets_can_not_be_made_by_hand(guest: Guest) -> None:
    attack = (
        "import socket\n"
        "for family, kind in ((socket.AF_PACKET, socket.SOCK_RAW), (socket.AF_INET, socket.SOCK_RAW)):\n"
        "    try: socket.socket(family, kind, 1); print('made')\n"
        "    except PermissionError: print('refused')\n"
    )
    assert guest.python_inside(attack)["stdout"] == "refused\nrefused\n"


def test_a_gateway_that_is_not_there_is_a_failure_of_the_infrastructure(guest: Guest) -> None:
    socket_path = guest.directory("gw") / "missing.sock"
    outcome = guest.inside("true", network="gateway", gateway_socket=str(socket_path))
    assert outcome["error"] == "InfrastructureError"
    assert "missing.sock" in outcome["text"]


def test_hosts_that_a_claim_needs_are_refused_unless_weaker_is_allowed(guest: Guest, listener: _Tcp) -> None:
    refused = guest.inside("true", allow_hosts=["data.example.org"])
    assert refused["error"] == "RefusedError"
    assert "data.example.org" in refused["text"]
    attack = CONNECT + f"print(reach(socket.AF_INET, ('127.0.0.1', {listener.server_address[1]})))"
    weaker = guest.python_inside(attack, allow_hosts=["data.example.org"], allow_weaker=True)
    assert weaker["stdout"] == "hello\n"
    assert "data.example.org" in weaker["report"]["weaker"]["network"]
    assert "network" not in weaker["report"]["enforced"]
