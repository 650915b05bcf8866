"""The door: a program of its own that prepares what only a running process can and becomes the sandbox's engine.

`entered.py` runs `main` with ORDER COMMAND…; ORDER is JSON from `bubblewrap.py` or `apptainer.py`. It uses the standard
library alone, because every sandbox waits for it. It

- closes every descriptor but the three streams, so nothing that was open outside is open inside;
- hands bubblewrap its arguments, small files and system call filter through memory, so that no host path and no
  variable stands in a command line that is visible inside; Apptainer, which takes only files, gets a private folder;
- enters control groups;
- leaves a watcher behind, outside and in a session of its own, which enforces what groups can't, opens Apptainer's
  bridge to the gateway, sees to it that nothing is left when the engine has ended, and removes groups and folder;
- replaces itself by the engine with an environment of just what the order says, since that of the first process
  inside is the engine's own.

Being replaced rather than being a parent keeps signals, streams and exit status exactly the engine's.
"""

import base64
import contextlib
import json
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any, NoReturn

from matproof.sandbox.watching import END_WITHIN_S, Bridge, end_survivors, say, tell_events, watch

BEGIN_FD = 9
"""Where the script inside names its process namespace just before the command starts; closed to the command."""
GO_FD = 8
"""Where that script waits, with Apptainer, until the bridge to the gateway listens; closed to the command."""
FOLDER = "\x01folder"
"""Stands in an order for the private folder of one run."""
FAILED = 75
PREFIX = "matproof-"


def main(arguments: list[str]) -> NoReturn:
    """Become the engine. Exits with 75 and one line where that is impossible."""
    order: dict[str, Any] = json.loads(arguments[0])
    try:
        os.closerange(3, 1 << 20)
        told = _open_begin()
        go = _open_go() if order.get("bridge") else -1
        order["folder"] = f"/tmp/{PREFIX}box-{os.urandom(8).hex()}" if "exec" in order else None  # noqa: S108
        life = Path(order["life"], str(os.getpid())) if order["life"] else None
        name = f"sandbox-{os.urandom(8).hex()}"
        groups = [Path(group["home"], f"{PREFIX}{os.getpid()}") for group in order["groups"]]
        # The watcher comes first, so that it removes whatever is made from here on.
        _leave_watcher(order, groups, (told, go), life, name)
        if life is not None:
            life.parent.mkdir(parents=True, exist_ok=True)
            life.touch(exist_ok=False)
        for group, asked in zip(groups, order["groups"], strict=True):
            _enter_group(group, asked["files"])
        inner = [name if word == "NAME" else word for word in order["inner"]]
        if order["folder"] is None:
            argv = [order["bwrap"], "--args", str(_bwrap_arguments(order)), "--", *inner, *arguments[1:]]
            os.execve(argv[0], argv, {})  # noqa: S606 - replaces this process; there is no shell
        place = order["folder"]
        Path(place).mkdir(mode=0o700)
        _fill(Path(place), order["files"])
        argv = [word.replace(FOLDER, place) for word in [*order["exec"], *inner]] + arguments[1:]
        environment = {key: value.replace(FOLDER, place) for key, value in order["environment"].items()}
        os.execve(argv[0], argv, {**environment, "MATPROOF_SANDBOX": name})  # noqa: S606
    except OSError as error:
        say(f"matproof: the sandbox can't be entered: {error}")
    os._exit(FAILED)


def _open_begin() -> int:
    told, begin = os.pipe()
    told = os.dup2(told, BEGIN_FD + 1, inheritable=False)
    os.dup2(begin, BEGIN_FD, inheritable=True)
    os.closerange(3, BEGIN_FD)
    return told


def _open_go() -> int:
    """The watcher's end of the pipe that the script inside reads."""
    waits, go = os.pipe()
    kept = os.dup2(go, BEGIN_FD + 2, inheritable=False)
    os.dup2(waits, GO_FD, inheritable=True)
    os.closerange(3, GO_FD)
    return kept


def _fill(folder: Path, files: dict[str, str | None]) -> None:
    """Write small files, and make directories where there is no text."""
    for name, text in files.items():
        if text is None:
            (folder / name).mkdir()
        else:
            (folder / name).write_text(text)


def _in_memory(data: bytes) -> int:
    handle = os.memfd_create("matproof", 0)
    os.write(handle, data)
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def _bwrap_arguments(order: dict[str, Any]) -> int:
    arguments: list[str] = []
    if order["seccomp"]:
        arguments += ["--seccomp", str(_in_memory(base64.b64decode(order["seccomp"])))]
    for target, text in order["files"].items():
        arguments += ["--perms", "0444", "--file", str(_in_memory(text.encode())), target]
    arguments += order["arguments"]
    return _in_memory(b"".join(os.fsencode(item) + b"\0" for item in arguments))


def _enter_group(group: Path, files: dict[str, str]) -> None:
    _sweep(group.parent)
    group.mkdir()
    for name, text in files.items():
        file = group / name.rstrip("?")
        if file.exists() or not name.endswith("?"):
            file.write_text(text)
    (group / "cgroup.procs").write_text(str(os.getpid()))


def _sweep(home: Path) -> None:
    """Remove groups whose sandbox and watcher were both killed; one that is in use can't be removed."""
    for directory in home.glob(f"{PREFIX}*"):
        owner = directory.name.removeprefix(PREFIX)
        if owner.isdecimal() and not Path("/proc", owner).exists():
            _remove(directory, patience_s=0)


def _remove(directory: Path, *, patience_s: float) -> None:
    deadline = time.monotonic() + patience_s
    while True:
        try:
            directory.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() >= deadline:
                return
            time.sleep(0.02)
        else:
            return


def _leave_watcher(
    order: dict[str, Any], groups: list[Path], pipes: tuple[int, int], life: Path | None, name: str
) -> None:
    sandbox, starter = os.getpid(), os.getppid() if "exec" in order else None
    told, go = pipes
    if os.fork():
        os.close(told)
        if go >= 0:
            os.close(go)
        return
    try:
        for number in (signal.SIGTERM, signal.SIGINT):  # a batch system signals every process of a job, this one too
            signal.signal(number, signal.SIG_IGN)
        os.setsid()
        os.chdir("/")
        os.close(BEGIN_FD)
        if go >= 0:
            os.close(GO_FD)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        bridge = Bridge(order.get("bridge"), go)
        namespace = watch(sandbox, order["watch"], told, bridge, starter)
        bridge.end()
        for group, asked in zip(groups, order["groups"], strict=True):
            tell_events(group, asked["events"])
        os.dup2(null, 2)
        gone = end_survivors(name, namespace)
        for group in groups:
            _remove(group, patience_s=END_WITHIN_S)
        if order["folder"] is not None:
            shutil.rmtree(order["folder"], ignore_errors=True)
        if life is not None and gone:
            begun = namespace.name and not bridge.failed
            with contextlib.suppress(FileNotFoundError):
                life.rename(life.with_suffix(".begun" if begun else ".failed"))
    finally:
        os._exit(0)
