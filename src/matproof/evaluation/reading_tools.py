"""The tools of a judge that no client brings any: list, read, search, look at an image, beside the Bash of `commands`.

Listing, reading and looking happen here, below the two directories that the judge is shown and without following
links; a search runs in the sandbox, since the pattern is the model's and the text the agent's.
"""

import base64
from collections.abc import Callable
from typing import Any

from matproof.core.clock import elapsed
from matproof.evaluation.citations import is_image
from matproof.evaluation.rubric import Order
from matproof.evaluation.shown import REFERENCE, RUN, NotShownError, Shown
from matproof.models.session import Said, Tool
from matproof.sandbox.engine import Sandbox

LISTED = 400
"""Files in one listing."""
READ_LINES = 500
READ_CHARACTERS = 30_000
LINE_CHARACTERS = 2_000
IMAGE_BYTES = 4_000_000
SEARCH_S = 60.0
_TYPES = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp"}
_PATH = {"type": "string", "description": f"Path below {RUN}; reference/… for {REFERENCE}"}


class ReadingTools:
    """The tools of one session until `deadline`; images that were asked for wait in `images`."""

    def __init__(self, shown: Shown, sandbox: Sandbox, *, order: Order, deadline: float) -> None:
        self._shown = shown
        self._sandbox = sandbox
        self._order = order
        self._deadline = deadline
        self.images: list[str] = []
        """Data addresses; taken out by who sends them on."""

    def tools(self) -> tuple[Tool, ...]:
        """list_files, read_file, search and view_image."""
        number = {"type": "integer", "minimum": 1}
        return (
            _tool("list_files", f"List files of the attempt below a path, {LISTED} a call.", self._list, start=number),
            _tool(
                "read_file",
                f"Read lines of a text file, at most {READ_LINES}, each with its number.",
                self._read,
                required=("path",),
                first=number,
                last=number,
            ),
            _tool(
                "search",
                "Search text files below a path with an extended regular expression (grep -rnE).",
                self._search,
                required=("pattern",),
                pattern={"type": "string"},
            ),
            _tool("view_image", "Look at a PNG, JPEG, GIF or WebP image.", self._view, required=("path",)),
        )

    def _list(self, arguments: dict[str, Any]) -> Said:
        below = str(arguments.get("path") or "").strip().removeprefix(RUN).strip("/")
        below = "" if below == "." else below
        files = [
            (name, size)
            for name, size in self._order.of(self._shown.files())
            if not below or name == below or name.startswith(f"{below}/")
        ]
        start = _whole(arguments.get("start"), 1)
        rows = [f"{size:>12}  {ascii(name)[1:-1]}" for name, size in files[start - 1 : start - 1 + LISTED]]
        left = len(files) - (start - 1) - len(rows)
        more = f"\n({left} more; go on with start={start + len(rows)})" if left > 0 else ""
        return Said("\n".join(rows) + more if rows else "(no files there)")

    def _read(self, arguments: dict[str, Any]) -> Said:
        try:
            content = self._shown.read(str(arguments.get("path", "")))
        except NotShownError as error:
            return Said(str(error), failed=True)
        if content.lines is None:
            return Said("the file is not text; view_image shows images, Bash runs programs on the rest", failed=True)
        first = _whole(arguments.get("first"), 1)
        last = min(_whole(arguments.get("last"), first + READ_LINES - 1), first + READ_LINES - 1, len(content.lines))
        rows, length = [], 0
        for number, line in enumerate(content.lines[first - 1 : last], first):
            row = f"{number:>7}  {line if len(line) <= LINE_CHARACTERS else line[:LINE_CHARACTERS] + ' […]'}"
            length += len(row) + 1
            if length > READ_CHARACTERS:
                break
            rows.append(row)
        shown = first + len(rows) - 1
        head = f"{content.name}: lines {first} to {shown} of {len(content.lines)}"
        return Said("\n".join([head, *rows]) if rows else f"{content.name} has {len(content.lines)} lines")

    def _search(self, arguments: dict[str, Any]) -> Said:
        argv = search_argv(str(arguments.get("pattern", "")), str(arguments.get("path") or "."))
        left = self._deadline - elapsed()
        if argv is None or left <= 0:
            return Said("the pattern or the path is empty, too long or holds a null byte", failed=True)
        finished = self._sandbox.run(argv, timeout_s=min(SEARCH_S, left), max_log_bytes=1)
        if finished.ending != "exited" or finished.returncode not in (0, 1):
            return Said(f"the search failed: {finished.stderr.strip()[:500] or finished.ending}", failed=True)
        found = finished.stdout.replace(f"{RUN}/", "").replace(f"{REFERENCE}/", "reference/")
        return Said(found[:READ_CHARACTERS] or "(nothing found)")

    def _view(self, arguments: dict[str, Any]) -> Said:
        try:
            content = self._shown.read(str(arguments.get("path", "")))
        except NotShownError as error:
            return Said(str(error), failed=True)
        if not is_image(content.data):
            return Said("the file is no PNG, JPEG, GIF or WebP image", failed=True)
        if len(content.data) > IMAGE_BYTES:
            return Said(f"the image is larger than {IMAGE_BYTES // 1_000_000} MB", failed=True)
        kind = next(kind for start, kind in _TYPES.items() if content.data.startswith(start))
        self.images.append(f"data:{kind};base64,{base64.b64encode(content.data).decode()}")
        return Said(f"{content.name} follows as an image")


def search_argv(pattern: str, path: str) -> list[str] | None:
    """The search as a command inside the sandbox; None where it can't be one."""
    if not pattern or len(pattern) > 1000 or len(path) > 1000 or "\0" in pattern + path:
        return None
    if path == "reference" or path.startswith("reference/"):
        path = REFERENCE + path.removeprefix("reference")
    where = path if path.startswith("/") else f"{RUN}/{path}"
    return ["grep", "-rnIE", "--max-count=50", f"--regexp={pattern}", "--", where]


def _tool(
    name: str,
    description: str,
    answer: Callable[[dict[str, Any]], Said],
    *,
    required: tuple[str, ...] = (),
    **parameters: dict[str, Any],
) -> Tool:
    schema = {"type": "object", "properties": {"path": _PATH, **parameters}, "required": list(required)}
    return Tool(name=name, description=description, parameters=schema, answer=answer)


def _whole(value: Any, otherwise: int) -> int:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 1 <= value <= 1_000_000_000 else otherwise
