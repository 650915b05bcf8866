"""The station `report`: tables and runs into a static site.

A page is written again only where its run, its claim or the design changed; what each page was made from stands in
`pages.json` beside it, and only pages that it names are ever removed. Every page is one file that needs no other.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from matproof.core.errors import InputError
from matproof.core.files import to_json, write_json, write_text
from matproof.records.base import Record
from matproof.report.index_page import index_page, judges_of
from matproof.report.pages import design_hash
from matproof.report.run_page import run_page
from matproof.tables.columns import Row
from matproof.tables.rows import problem_row
from matproof.tables.shards import Shard, shard_path
from matproof.tables.store import read_rows


class Pages(Record):
    """`report/pages.json`."""

    pages: dict[str, str] = {}
    """Path of a run's page below the site → hash of what it was made from."""


def build_site(results: Path, tasks: Path, out: Path) -> Path:
    """Write the site to `out` and return its first page. Raises InputError where `gather` has not run."""
    results, tasks, out = (path.resolve() for path in (results, tasks, out))
    claims = {row["claim"]: row for row in read_rows(results, "claims")}
    runs, judges = read_rows(results, "runs"), judges_of(results)
    before, after = _known_pages(out), Pages()
    hrefs: dict[tuple[str, str, int], str] = {}
    problems: list[Row] = []
    shared = [design_hash(), judges, os.path.relpath(results, out)]
    for run in runs:
        name = f"runs/{run['claim']}/{run['setting']}/{run['repeat']}.html"
        made_from = _made_from(results, tasks, run, claims[run["claim"]], shared)
        if before.pages.get(name) != made_from or not (out / name).is_file():
            try:
                html = run_page(results, tasks, out / name, run, claims[run["claim"]], judges)
            except (InputError, OSError, ValueError, RecursionError) as error:
                file = Path(error.file) if isinstance(error, InputError) else results / name
                problems.append(problem_row(file, error, below=results))
                continue
            write_text(out / name, html)
        after.pages[name] = made_from
        hrefs[(run["claim"], run["setting"], run["repeat"])] = name
    write_text(out / "index.html", index_page(results, hrefs, problems))
    _remove(out, set(before.pages) - set(after.pages))
    write_json(out / "pages.json", after)
    return out / "index.html"


def _made_from(results: Path, tasks: Path, run: Row, claim: Row, shared: Sequence[object]) -> str:
    key = (run["claim"], run["setting"], str(run["repeat"]))
    try:
        signature = Shard.model_validate_json(shard_path(results, key).read_bytes()).signature
    except (OSError, ValidationError):
        signature = []
    try:
        status = (tasks / run["claim"] / "agent_view" / "claim.txt").stat()
        text = [status.st_size, status.st_mtime_ns]
    except OSError:
        text = []
    return hashlib.sha256(to_json([shared, run, claim, signature, text]).encode()).hexdigest()


def _known_pages(out: Path) -> Pages:
    try:
        return Pages.model_validate(json.loads((out / "pages.json").read_bytes()))
    except (OSError, ValueError):
        return Pages()


def _remove(out: Path, names: set[str]) -> None:
    """Remove pages of runs that are gone, and the directories that this empties."""
    for name in sorted(names):
        path = out / name
        if ".." in Path(name).parts or not path.is_relative_to(out / "runs") or path.suffix != ".html":
            continue
        path.unlink(missing_ok=True)
        for parent in (path.parent, path.parent.parent):
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()
