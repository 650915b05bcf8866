"""The Bash tool: each command in a sandbox of its own, apart from the client that asked for it.

A client that ran commands itself would share its process namespace with them, and a program among the artifacts could
write into the client's output: a forged transcript, or a forged judgement. Here a command can reach neither the client
nor the network, and nothing that it starts outlives it.
"""

import threading
from typing import Any

from matproof.core.clock import elapsed
from matproof.models.session import Said, Tool
from matproof.sandbox.engine import Sandbox

DEFAULT_S = 600.0
OUTPUT_CHARACTERS = 30_000


class Commands:
    """Runs the commands of one session until `deadline` (clock of `core.clock.elapsed`); `close` ends them all."""

    def __init__(self, sandbox: Sandbox, *, deadline: float) -> None:
        self._sandbox = sandbox
        self._deadline = deadline
        self._closed = threading.Event()
        self._idle = threading.Condition()
        self._running = 0

    def tool(self, workdir: str) -> Tool:
        """The tool that a session gets."""
        return Tool(
            name="Bash",
            description=f"Run a command with bash in {workdir}. Each call is a fresh shell without network; what it "
            f"starts in the background ends with it. `timeout_s` in seconds, {DEFAULT_S:.0f} if not given.",
            parameters={
                "type": "object",
                "properties": {"command": {"type": "string"}, "timeout_s": {"type": "number"}},
                "required": ["command"],
            },
            answer=self._answer,
        )

    def close(self) -> None:
        """End what still runs and wait for it."""
        self._closed.set()
        with self._idle:
            self._idle.wait_for(lambda: self._running == 0, timeout=30)

    def _answer(self, arguments: dict[str, Any]) -> Said:
        command = str(arguments.get("command", ""))
        if "\0" in command or len(command) > 100_000:
            return Said("the command holds a null byte or is longer than 100,000 characters", failed=True)
        asked = arguments.get("timeout_s")
        wanted = float(asked) if isinstance(asked, int | float) and 0 < asked < 1e6 else DEFAULT_S
        left = self._deadline - elapsed()
        if self._closed.is_set() or left <= 0:
            return Said("the session is over", failed=True)
        with self._idle:
            self._running += 1
        try:
            finished = self._sandbox.run(
                ["bash", "-c", command], timeout_s=min(wanted, left), cancel=self._closed, max_log_bytes=1
            )
        finally:
            with self._idle:
                self._running -= 1
                self._idle.notify_all()
        output = _shortened("\n".join(part.rstrip("\n") for part in (finished.stdout, finished.stderr) if part))
        if finished.ok:
            return Said(output or "(no output)")
        how = f"Exit code {finished.returncode}" if finished.ending == "exited" else f"Ended: {finished.ending}"
        return Said(f"{how}\n{output}".rstrip(), failed=True)


def _shortened(text: str) -> str:
    """The beginning and the end of a long output."""
    if len(text) <= OUTPUT_CHARACTERS:
        return text
    half = OUTPUT_CHARACTERS // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"
