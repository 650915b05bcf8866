"""Docling, with its published models: tables, figures, reading order and formulas are its own.

It runs in a process of its own (`docling_child`) that is killed at the time limit, and never fetches anything: hub
clients are told to be offline, as a dropped connection keeps them waiting for minutes or for ever. A person stages its
models where there is a network; without the layout model the light parser takes its place, and a warning says how.
"""

import hashlib
import importlib.util
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from matproof.core.errors import InputError
from matproof.core.processes import Finished, run
from matproof.papers.docling_child import PROBLEM, Order
from matproof.papers.light import refuse_size
from matproof.papers.markers import FIGURE_NAME, FIGURES

TIMEOUT_S = 900.0
LAYOUT, TABLES, FORMULAS = (
    f"docling-project--{name}" for name in ("docling-layout-heron", "docling-models", "CodeFormulaV2")
)
"""Directories of the models, as `docling-tools` names them."""
STAGE = "docling-tools models download layout tableformer code_formula -o DIR"
"""What a person runs, where there is a network, to stage them."""
_OWN_VERSION = 2
"""Raised whenever our part would give another text."""
_END_BYTES = 1_000_000
_DOOR = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from matproof.papers.docling_child import main; "
    "sys.exit(main(sys.argv[1]))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DoclingParser:
    """Parser `docling`. Raises InputError, one clear line, where Docling fails or takes too long."""

    name: ClassVar[str] = "docling"
    python: str
    """The Python that has Docling."""
    models: Path
    """Directory of the models."""
    version: str
    """Docling's, which models there are, and ours."""
    timeout_s: float = TIMEOUT_S
    """Longest wall time for one PDF, in seconds."""

    def parse(self, pdf: Path, figures: Path | None = None) -> str:
        """See `Parser.parse`."""
        refuse_size(pdf)
        with tempfile.TemporaryDirectory(prefix="matproof-docling-") as scratch:
            out, drawn = Path(scratch, "paper.md"), Path(scratch, FIGURES)
            drawn.mkdir()
            order = Order(
                pdf=str(pdf.resolve()),
                out=str(out),
                figures=str(drawn) if figures is not None else None,
                models=str(self.models.resolve()),
                tables=(self.models / TABLES).is_dir(),
                formulas=(self.models / FORMULAS).is_dir(),
            )
            argv = [self.python, "-I", "-c", _DOOR, str(Path(__file__).parents[2]), json.dumps(asdict(order))]
            ended = run(argv, cwd=Path(scratch), env=_environment(scratch), timeout_s=self.timeout_s, grace_s=0)
            if not ended.ok:
                raise self._explain(pdf, ended)
            for picture in drawn.iterdir() if figures is not None else ():
                if FIGURE_NAME.fullmatch(picture.name) and figures is not None:
                    shutil.copyfile(picture, figures / picture.name, follow_symlinks=False)
            return out.read_text(encoding="utf-8")

    def _explain(self, pdf: Path, ended: Finished) -> InputError:
        if ended.ending == "timeout":
            problem = f"Docling took longer than {self.timeout_s:g} s"
            return InputError(pdf, "", problem, "raise --timeout, or use --parser light")
        last = (ended.stderr.strip().splitlines() or [f"status {ended.returncode}"])[-1][:300]
        problem = last if ended.returncode == PROBLEM else f"Docling crashed on it: {last}"
        return InputError(pdf, "", problem, "use --parser light, or give the paper as paper.md")


def docling_parser(*, timeout_s: float | None, warn: Callable[[str], None]) -> DoclingParser | None:
    """The parser, or None, after a warning, where its layout model is not staged. Nothing is fetched.

    The models are in DOCLING_ARTIFACTS_PATH, or where `docling-tools` puts them; Docling is in this Python, or in that
    of MATPROOF_DOCLING_PYTHON. Raises InputError where it is in neither.
    """
    python = _python()
    models = Path(os.environ.get("DOCLING_ARTIFACTS_PATH") or Path.home() / ".cache/docling/models")
    if not (models / LAYOUT).is_dir():
        warn(
            f"Docling has no models in {models}: papers are parsed by light. Stage them where there is a network "
            f"({STAGE}), copy DIR here and set DOCLING_ARTIFACTS_PATH=DIR"
        )
        return None
    for folder, what in ((TABLES, "structure of tables"), (FORMULAS, "formulas")):
        if not (models / folder).is_dir():
            warn(f"Docling has no {folder} in {models}: no {what}. Stage it: {STAGE}")
    version = f"{_docling_version(python)}-{_fingerprint(models)}-{_OWN_VERSION}"
    return DoclingParser(python=python, models=models, version=version, timeout_s=timeout_s or TIMEOUT_S)


def _python() -> str:
    other = os.environ.get("MATPROOF_DOCLING_PYTHON")
    if other:
        if not os.access(other, os.X_OK):
            raise InputError("MATPROOF_DOCLING_PYTHON", "", f"{other} is no program", "run `make docling`")
        return str(Path(other).absolute())
    if importlib.util.find_spec("docling") is None:
        install = "pip install -c requirements/docling-constraints.txt 'matproof[docling]'"
        raise InputError("--parser", "docling", "Docling is not installed", f"{install}, or use --parser light")
    return sys.executable


def _docling_version(python: str) -> str:
    asked = [python, "-I", "-c", "from importlib.metadata import version; print(version('docling'))"]
    ended = run(asked, timeout_s=30)
    if not ended.ok:
        raise InputError("MATPROOF_DOCLING_PYTHON", "", f"{python} has no Docling", "run `make docling`")
    return ended.stdout.strip()


def _fingerprint(models: Path) -> str:
    """Eight characters that change with the models that are used: with the size and both ends of each file."""
    used = [models / name for name in (LAYOUT, TABLES, FORMULAS)]
    digest = hashlib.sha256()
    for path in sorted(path for folder in used if folder.is_dir() for path in folder.rglob("*") if path.is_file()):
        size = path.stat().st_size
        digest.update(f"{path.relative_to(models)} {size}\n".encode())
        with path.open("rb") as stream:
            digest.update(stream.read(_END_BYTES))
            stream.seek(max(0, size - _END_BYTES))
            digest.update(stream.read(_END_BYTES))
    return digest.hexdigest()[:8]


def _environment(scratch: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES") if name in os.environ}
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C.UTF-8",
        "HOME": scratch,
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        **kept,
    }
