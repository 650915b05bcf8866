"""The bridge to the gateway for a sandbox that was made by a program without one: a door into its network.

Run as `python -I -S bridge.py PROCESS SOCKET TELL`. It enters the user and network namespaces of PROCESS, unless
those are ours, listens there on the gateway's loopback port, says `ready` on the descriptor TELL, and leads every
connection to the Unix socket SOCKET, which it finds outside: file system and processes stay the host's. So nothing
inside can see it, end it or reach the socket by another way, and an image need not bring a program for it. It uses the
standard library alone.
"""

import ctypes
import os
import signal
import socket
import sys
import threading

PORT = 8080
NEW_USER, NEW_NETWORK = 0x1000_0000, 0x4000_0000
END_WITH_PARENT = 1


def main(process: str, address: str, tell: int) -> None:
    """Listen until the end; a failure is told in place of `ready`."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(END_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    try:
        _enter(libc, process)
        libc.prctl(END_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
        door = socket.create_server(("127.0.0.1", PORT), backlog=128)
    except OSError as error:
        os.write(tell, str(error).encode())
        return
    os.write(tell, b"ready")
    os.close(tell)
    while True:
        visitor, _ = door.accept()
        threading.Thread(target=_lead, args=(visitor, address), daemon=True).start()


def _enter(libc: ctypes.CDLL, process: str) -> None:
    if os.stat(f"/proc/{process}/ns/net").st_ino == os.stat("/proc/self/ns/net").st_ino:  # noqa: PTH116
        return
    handles = [
        (os.open(f"/proc/{process}/ns/{name}", os.O_RDONLY), kind)
        for name, kind in (("user", NEW_USER), ("net", NEW_NETWORK))
    ]
    for handle, kind in handles:
        if libc.setns(handle, kind):
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error), f"setns of {process}")
        os.close(handle)


def _lead(visitor: socket.socket, address: str) -> None:
    gateway = socket.socket(socket.AF_UNIX)
    with visitor, gateway:
        try:
            gateway.connect(address)
        except OSError:
            return  # the visitor sees its connection closed, as through any other bridge
        back = threading.Thread(target=_copy, args=(gateway, visitor), daemon=True)
        back.start()
        _copy(visitor, gateway)
        back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        # One side is gone: end the other, so that the thread that reads there ends too.
        for side in (source, target):
            try:
                side.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
