"""PDFs that are not the claim's paper, read when an agent asks. Runs inside the agent's sandbox.

Files are opened part by part without following links, and copied before they are read, so that what is parsed is
what was opened. Links that could lead to released code are cut out as from the paper.
"""

import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from matproof.core.errors import InputError, UnsafePathError
from matproof.core.files import open_within
from matproof.papers.light import LightParser
from matproof.papers.links import remove_links
from matproof.papers.tool import AGENT_PAYLOAD, AGENT_WORKDIR, PAPER, NotParsedError

MAX_BYTES = 50_000_000
MAX_PAGES = 300
TIMEOUT_S = 45.0
"""Less than clients wait for a tool, which is a minute at the least."""
_KEPT = 8
"""Parsed PDFs kept in memory."""


@dataclass(slots=True, kw_only=True)
class OtherPdfs:
    """Callable for `parse_pdf_tool`: path as the agent sees it → Markdown. Raises NotParsedError."""

    payload: Path
    """Where `/work/payload` is for this process."""
    artifacts: Path
    """Where `/work/artifacts` is."""
    timeout_s: float = TIMEOUT_S
    """Longest wall time for one PDF, in seconds."""
    _kept: dict[tuple[str, int, int], str] = field(default_factory=dict)

    def __call__(self, inside: str) -> str:
        """The PDF's Markdown, kept as long as the file stays the same."""
        name = repr(inside[:200])
        root, relative = self._place(inside)
        try:
            handle = open_within(root, relative)
        except FileNotFoundError as error:
            raise NotParsedError(
                f"No parsed text of {name}: there is no such file. The paper is {AGENT_PAYLOAD}/{PAPER}."
            ) from error
        except UnsafePathError as error:
            raise NotParsedError(f"Refused: {name} is a link, below one, or not a plain file.") from error
        with os.fdopen(handle, "rb") as stream:
            state = os.fstat(handle)
            if state.st_size > MAX_BYTES:
                raise NotParsedError(f"Not parsed: {name} is larger than {MAX_BYTES // 10**6} MB.")
            key = (inside, state.st_mtime_ns, state.st_size)
            if key not in self._kept:
                while len(self._kept) >= _KEPT:
                    self._kept.pop(next(iter(self._kept)))
                with tempfile.TemporaryDirectory(prefix="matproof-pdf-") as scratch:
                    copy = Path(scratch, "asked.pdf")
                    with copy.open("wb") as out:
                        shutil.copyfileobj(stream, out)
                    self._kept[key] = self._parsed(copy, name)
            return self._kept[key]

    def _place(self, inside: str) -> tuple[Path, str]:
        for prefix, root in ((AGENT_PAYLOAD, self.payload), (AGENT_WORKDIR, self.artifacts)):
            if inside.startswith(f"{prefix}/"):
                return root, inside[len(prefix) + 1 :]
        raise NotParsedError(f"Refused: {inside[:200]!r} is below neither {AGENT_PAYLOAD} nor {AGENT_WORKDIR}.")

    def _parsed(self, pdf: Path, name: str) -> str:
        try:
            text = LightParser(timeout_s=self.timeout_s, max_pages=MAX_PAGES).parse(pdf)
        except InputError as error:
            raise NotParsedError(f"Not parsed: {name}: {error.problem}.") from error
        return remove_links(text)[0]
