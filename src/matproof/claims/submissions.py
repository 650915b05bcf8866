"""The experts' submissions → one claim package each (`matproof import-submissions`).

Nothing is lost without a line: a claim becomes a package, or a line says why not; claims that the expert calls not
reproducible are listed with the reason; everything that was submitted stands verbatim in `meta/provenance.json`.

The id of a claim is made from the paper's identifier and a digest of the claim and its steps, so the same submission
imported twice meets its own directory, which is never overwritten. What an expert writes as `context` goes into the
hidden procedure, not into the claim: in submissions as they come it often continues the instructions ("step 3 should be
changed to …"). A person who curates the package moves to `claim.txt` what the agent needs.
"""

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matproof.claims import strict_yaml
from matproof.claims.submission_form import Submission, SubmittedClaim, submissions_in
from matproof.claims.tree import read_plain
from matproof.claims.untidy import MAX_BYTES, read_documents
from matproof.core.errors import InputError
from matproof.core.files import write_bytes, write_json, write_text

_MAX_PDF = 200_000_000


@dataclass(slots=True)
class Imported:
    """What came of an import; every line is for the summary."""

    packages: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    """Claims that became no package, and why."""
    failed: list[str] = field(default_factory=list)
    """Files and documents that could not be read, and packages that were there already."""
    not_reproducible: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """Where a submission came from."""

    file: Path
    sha256: str
    index: int
    """Number of the submission in its file, from one."""

    @property
    def name(self) -> str:
        """For lines of the summary."""
        return f"{self.file}: submission {self.index}"


def import_submissions(files: Iterable[Path], out: Path) -> Imported:
    """Write one package a claim below `out`. Raises InputError where `out` can't be a directory; never on content."""
    if out.exists() and not out.is_dir():
        raise InputError(out, "--out", "is not a directory", "give the directory for the packages")
    result = Imported()
    for file in files:
        _import_file(file, out, result)
    return result


def _import_file(file: Path, out: Path, result: Imported) -> None:
    try:
        data = read_plain(file, MAX_BYTES + 1)
    except OSError as error:
        reason = "is a directory: give files" if file.is_dir() else error.strerror or "is not a plain file"
        result.failed.append(f"{file}: can't be read: {reason}")
        return
    reading = read_documents(data)
    result.notes += [f"{file}: {note}" for note in reading.notes]
    if reading.problem is not None:
        result.failed.append(f"{file}: nothing imported: {reading.problem}")
        return
    found = list(submissions_in(reading.documents))
    if not found:
        result.failed.append(f"{file}: nothing imported: no submission in it")
    digest = hashlib.sha256(data).hexdigest()
    for index, submission in enumerate(found, 1):
        if isinstance(submission, str):
            result.failed.append(f"{file}: document {index}: {submission}")
        else:
            _import_submission(submission, _Source(file=file, sha256=digest, index=index), out, result)


def _import_submission(submission: Submission, source: _Source, out: Path, result: Imported) -> None:
    result.notes += [f"{source.name}: {note}" for note in submission.notes]
    for text, reason in submission.non_reproducible:
        result.not_reproducible.append(f"{source.name}: {text or '(no text)'} — {reason or 'no reason given'}")
    if not submission.claims and not submission.non_reproducible:
        result.failed.append(f"{source.name}: holds no claims")
    paper, why = _paper(submission, source.file) if submission.claims else (None, "")
    if why:
        result.notes.append(f"{source.name}: no paper: {why}")
    for claim in submission.claims:
        where = f"{source.name}, claim {claim.position}"
        if not any(character.isalnum() for character in claim.text):
            result.dropped.append(f"{where}: dropped: no claim text")
            continue
        name = f"{_claim_id(submission, claim)}_{_slug(claim.text)}"
        target = out / name
        if target in result.packages:
            result.dropped.append(f"{where}: dropped: the same claim with the same steps became {name}")
        elif target.exists() or target.is_symlink():
            result.failed.append(f"{where}: not written: {target} is there already; move it away to import it again")
        else:
            _write(target, submission, claim, source, paper)
            result.packages.append(target)
            result.notes += [f"{where}: {note}" for note in _remarks(claim)]


def _remarks(claim: SubmittedClaim) -> list[str]:
    remarks = []
    if not claim.steps:
        remarks.append("no instructions, so reference/procedure.md is missing")
    if claim.placeholder:
        remarks.append("a step says that it is a placeholder: check reference/procedure.md")
    if claim.context:
        remarks.append("its context is hidden in reference/procedure.md: move to claim.txt what the agent needs")
    return remarks


def _write(target: Path, submission: Submission, claim: SubmittedClaim, source: _Source, paper: Path | None) -> None:
    """Write a whole package, or nothing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=target.parent, prefix=".import."))
    try:
        write_text(scratch / "meta/claim.yaml", _claim_yaml(target.name.split("_")[0], claim))
        write_json(scratch / "meta/provenance.json", strict_yaml.without_nan(_provenance(submission, claim, source)))
        write_text(scratch / "agent_view/claim.txt", claim.text + "\n")
        (scratch / "reference").mkdir()
        if procedure := _procedure(claim):
            write_text(scratch / "reference/procedure.md", procedure)
        if paper is not None:
            write_bytes(scratch / "agent_view/paper.pdf", read_plain(paper, _MAX_PDF))
        scratch.chmod(0o755)
        scratch.rename(target)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise


def _claim_yaml(claim_id: str, claim: SubmittedClaim) -> str:
    words = " ".join(claim.text.split())
    title = words if len(words) <= 100 else words[:97].rsplit(" ", 1)[0] + " …"
    fields = {
        "id": claim_id,
        "title": title,
        "subdomain": "unknown",
        "reproduction_type": "unknown",
        "verification": "unknown",
    }
    text = strict_yaml.dump(fields)
    return "# Imported; set what is unknown. docs/claims.md tells the fields and their values.\n" + text


def _procedure(claim: SubmittedClaim) -> str:
    steps = [f"{number}. " + step.replace("\n", "\n   ") for number, step in enumerate(claim.steps, 1)]
    context = ["", "## Context given by the expert", "", claim.context] if claim.context else []
    return "\n".join([*steps, *context]).lstrip("\n") + "\n" if steps or context else ""


def _provenance(submission: Submission, claim: SubmittedClaim, source: _Source) -> dict[str, Any]:
    return {
        "source": {
            "file": source.file.name,
            "sha256": source.sha256,
            "submission": source.index,
            "claim": claim.position,
        },
        "title": submission.paper_title,
        "identifier": submission.identifier,
        "submission": submission.verbatim,
    }


def _claim_id(submission: Submission, claim: SubmittedClaim) -> str:
    """The paper's identifier, shortened to what a file name takes, and a digest of the claim and its steps."""
    digest = hashlib.sha256("\n".join((claim.text, *claim.steps)).encode()).hexdigest()[:8]
    identifier = (submission.identifier or "").lower()
    identifier = re.sub(r"^(https?://)?(dx\.)?(doi\.org|arxiv\.org)/(abs/|pdf/)?|^(doi|arxiv)\s*:\s*", "", identifier)
    is_address = "://" in identifier or not identifier
    paper = "" if is_address else re.sub(r"[^a-z0-9.]+", "-", identifier).strip("-.")[:40]
    if not paper:
        known = submission.identifier or submission.paper_title or ""
        paper = "paper-" + hashlib.sha256(known.encode()).hexdigest()[:8] if known else "paper"
    return f"{paper}-{digest}"


def _slug(text: str) -> str:
    """The first words of a claim as a file name."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    slug = ""
    for word in words:
        if len(slug) + len(word) > 40:
            break
        slug = f"{slug}-{word}" if slug else word
    return slug or "claim"


def _paper(submission: Submission, file: Path) -> tuple[Path | None, str]:
    """The PDF beside the submission that it names, or why there is none."""
    named = submission.paper_pdf
    if named is None:
        return None, "paper_pdf is not filled in; add agent_view/paper.md or a PDF"
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", named):
        return None, f"fetch {named[:100]} and put it into agent_view/"
    path = file.parent / named
    try:
        if not path.resolve().is_relative_to(file.parent.resolve()):
            return None, f"{named[:100]!r} is not beside the submission"
        if b"%PDF-" in read_plain(path, 1024):
            return path, ""
    except (OSError, ValueError, RuntimeError):
        return None, f"{named[:100]!r} is not beside the submission"
    return None, f"{named[:100]!r} is not a PDF"
