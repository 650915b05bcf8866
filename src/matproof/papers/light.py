"""The light parser: pdfium's text with its geometry, in a process of its own that can't hang or eat the machine.

A PDF is a stranger's program. The child process has a limit on wall time, processor time, memory and what it writes;
it gets no environment but PATH and leaves its Markdown in one file and each figure in another. No models are used:
tables come from the places of their cells, figures from what is drawn together and the captions beside it.
"""

import json
import os
import resource
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from matproof.core.errors import InputError
from matproof.core.files import write_text
from matproof.core.processes import Finished, run
from matproof.papers.markers import FIGURE_NAME, FIGURES
from matproof.papers.reading import MAX_PAGES, UnreadableError, read_pdf

TIMEOUT_S = 120.0
MAX_PDF_BYTES = 200_000_000
_MAX_MARKDOWN_BYTES = 64_000_000
_DOOR = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from matproof.papers.light import main; "
    "sys.exit(main(*sys.argv[1:]))"
)
"""What the child runs: this very package, wherever it lies, in a sandbox too."""
_PROBLEM = 3
"""Exit status of the child for a PDF that can't be read; its last line of output says why."""


def refuse_size(pdf: Path) -> None:
    """Raise InputError for a PDF that is empty, or larger than any parser is given."""
    size = pdf.stat().st_size
    if size == 0:
        raise InputError(pdf, "", "the file is empty", "put the paper there")
    if size > MAX_PDF_BYTES:
        raise InputError(pdf, "", f"larger than {MAX_PDF_BYTES // 10**6} MB", "give a smaller PDF, or paper.md")


@dataclass(frozen=True, slots=True, kw_only=True)
class LightParser:
    """Parser `light`. Raises InputError, one clear line, for every PDF that has no text to give."""

    name: ClassVar[str] = "light"
    version: ClassVar[str] = "3"
    """Raised whenever the same PDF would give another text: it is part of the cache's key."""

    timeout_s: float = TIMEOUT_S
    """Longest wall time for one PDF, in seconds."""
    memory_mb: int = 2048
    """Most address space, in megabytes (10^6 bytes)."""
    max_pages: int = MAX_PAGES
    """A PDF with more is refused."""

    def parse(self, pdf: Path, figures: Path | None = None) -> str:
        """Markdown with a `<!-- page 3 -->` marker before each page; pictures of figures go into `figures`."""
        refuse_size(pdf)
        with tempfile.TemporaryDirectory(prefix="matproof-parse-") as scratch:
            out = Path(scratch) / "paper.md"
            argv = [sys.executable, "-I", "-c", _DOOR, str(Path(__file__).parents[2]), str(pdf.resolve()), str(out)]
            argv += [str(self.memory_mb), str(int(self.timeout_s) + 1), str(self.max_pages)]
            drawn = Path(scratch, FIGURES)
            if figures is not None:
                drawn.mkdir()
                argv.append(str(drawn))
            ended = run(argv, cwd=Path(scratch), env=_environment(), timeout_s=self.timeout_s, grace_s=0)
            if ended.ok:
                for picture in drawn.iterdir() if figures is not None else ():
                    if FIGURE_NAME.fullmatch(picture.name) and figures is not None:
                        shutil.copyfile(picture, figures / picture.name, follow_symlinks=False)
                return out.read_text(encoding="utf-8")
        raise self._explain(pdf, ended)

    def _explain(self, pdf: Path, ended: Finished) -> InputError:
        give = "give the paper as paper.md"
        if ended.ending == "timeout":
            return InputError(
                pdf, "", f"reading it took longer than {self.timeout_s:g} s", f"raise --timeout, or {give}"
            )
        if ended.returncode == _PROBLEM:
            told = json.loads(ended.stdout.strip().splitlines()[-1])
            return InputError(pdf, "", told["problem"], told["remedy"])
        if "MemoryError" in ended.stderr:
            return InputError(pdf, "", f"reading it took more than {self.memory_mb} MB", give)
        return InputError(pdf, "", f"the PDF reader crashed on it (status {ended.returncode})", give)


def _environment() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"}


def main(pdf: str, out: str, memory_mb: str, cpu_s: str, max_pages: str, figures: str | None = None) -> int:
    """The child: write `pdf` as Markdown to `out`, its pictures below `figures`, and a problem as one line of JSON."""
    for limit, most in (
        (resource.RLIMIT_AS, int(memory_mb) * 10**6),
        (resource.RLIMIT_CPU, int(cpu_s)),
        (resource.RLIMIT_FSIZE, _MAX_MARKDOWN_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (most, most))
    try:
        text = read_pdf(Path(pdf), int(max_pages), None if figures is None else Path(figures))
    except UnreadableError as error:
        sys.stdout.write(json.dumps({"problem": error.problem, "remedy": error.remedy}) + "\n")
        return _PROBLEM
    write_text(Path(out), text)
    return 0
