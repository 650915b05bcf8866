"""The sample claims are what they say: each reference solution meets its expectations, each wrong variant fails them.

Generic over `tasks/*`: a claim joins by standing there with `reference/solution.py` and `reference/solution.yaml`.
"""

import importlib.util
import json
import re
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel, ConfigDict

from matproof.claims.checks import check
from matproof.claims.loading import Claim, find_claims, load_claim
from matproof.claims.models import Expected, ReproductionType, Subdomain, Verification
from matproof.core.files import read_model
from matproof.core.processes import run
from matproof.evaluation.checks import check_analysis
from matproof.models.scripts import read_script
from matproof.models.templates import Templates
from matproof.records.analysis import AnalysisResult, ExtractedResult
from matproof.records.evaluation import Checks

PROJECT = Path(__file__).resolve().parents[1]
TASKS = PROJECT / "tasks"
NAMES = find_claims(TASKS)


class Variant(BaseModel):
    """One wrong way to do it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    arguments: tuple[str, ...]
    because: str


class Solution(BaseModel):
    """`reference/solution.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seconds: float
    """Measured wall time of the right solution on one core."""
    wrong: tuple[Variant, ...]


def solution_of(name: str) -> Solution:
    """What the claim says of its reference solution."""
    return read_model(Solution, TASKS / name / "reference" / "solution.yaml")


SOLUTIONS = {name: solution_of(name) for name in NAMES}


@cache
def claim_of(name: str) -> Claim:
    """The claim called `name`."""
    return load_claim(TASKS / name)


def expected_of(name: str) -> Expected:
    """The hidden expectations."""
    return read_model(Expected, TASKS / name / "reference" / "expected.yaml")


def parameters(wrong: bool) -> list[Any]:
    """A test case for each claim, or for each of its wrong variants; marked slow where it takes over ten seconds."""
    cases = []
    for name in NAMES:
        marks = [pytest.mark.slow] if SOLUTIONS[name].seconds > 10 else []
        for arguments in [variant.arguments for variant in SOLUTIONS[name].wrong] if wrong else [()]:
            label = "-".join([name.split("_")[0], *arguments])
            cases.append(pytest.param(name, *([arguments] if wrong else []), id=label, marks=marks))
    return cases


def solve(name: str, arguments: tuple[str, ...], folder: Path) -> list[ExtractedResult]:
    """Run the claim's reference solution and return what it found; skip where its software is missing."""
    missing = [command for command in claim_of(name).metadata.requires.commands if shutil.which(command) is None]
    if missing:
        packages = " ".join(claim_of(name).metadata.requires.apt)
        pytest.skip(f"{name} needs {', '.join(missing)}: apt-get install {packages}")
    task, out = TASKS / name, folder / "results.json"
    argv = [sys.executable, str(task / "reference" / "solution.py")]
    argv += ["--inputs", str(task / "agent_view" / "inputs"), "--out", str(out), *arguments]
    finished = run(argv, cwd=folder, timeout_s=300)
    assert finished.ok, finished.stderr
    found = json.loads(out.read_text())
    return [ExtractedResult(quantity=key, value=item["value"], unit=item["unit"]) for key, item in found.items()]


def judged(name: str, results: list[ExtractedResult], reproduced: bool) -> Checks:
    """What the program judge says of an agent that reports `results` and that judgement."""
    return check_analysis(expected_of(name), AnalysisResult(reproduced=reproduced, results=results))


def text_of(pdf: Path) -> str:
    """The text layer without any white space: lines break differently, letters do not."""
    import pypdfium2

    with pypdfium2.PdfDocument(str(pdf)) as document:
        text = "".join(page.get_textpage().get_text_range() for page in document)
    # A hyphen at a line's end is extracted as a special character.
    return re.sub(r"[\s￾-]", "", text)


def make_papers() -> Any:
    """The module `tasks/make_papers.py`."""
    pytest.importorskip("reportlab")
    spec = importlib.util.spec_from_file_location("make_papers", TASKS / "make_papers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", parameters(wrong=False))
def test_the_reference_solution_meets_the_expectations(name: str, tmp_path: Path) -> None:
    results, outcome = solve(name, (), tmp_path), expected_of(name).outcome
    checks = judged(name, results, outcome == "supported")
    assert checks.verdict == "correct", checks.explanation
    assert checks.found == outcome
    assert {quantity.name for quantity in claim_of(name).metadata.quantities} <= {item.quantity for item in results}
    opposite = judged(name, results, outcome != "supported")
    assert opposite.verdict == "incorrect", "right numbers do not excuse the wrong conclusion"


@pytest.mark.parametrize(("name", "arguments"), parameters(wrong=True))
def test_a_wrong_variant_is_rejected(name: str, arguments: tuple[str, ...], tmp_path: Path) -> None:
    checks = judged(name, solve(name, arguments, tmp_path), expected_of(name).outcome == "supported")
    assert checks.verdict == "incorrect", f"{checks.explanation} {checks.quantities}"


def test_the_samples_are_valid_packages() -> None:
    report = check([TASKS])
    assert [str(problem) for problem in report.problems] == []
    assert {path.name for path in report.packages} == set(NAMES)


def test_the_samples_cover_every_kind_of_claim() -> None:
    claims = [claim_of(name).metadata for name in NAMES]
    assert len(claims) >= 8
    assert {claim.subdomain for claim in claims} == set(get_args(Subdomain)) - {"unknown"}
    assert {claim.reproduction_type for claim in claims} == set(get_args(ReproductionType)) - {"unknown"}
    assert {claim.verification for claim in claims} == set(get_args(Verification)) - {"unknown"}


def test_two_claims_at_least_are_false() -> None:
    assert sum(expected_of(name).outcome == "contradicted" for name in NAMES) >= 2


def test_all_samples_together_take_less_than_two_minutes() -> None:
    assert sum(solution.seconds for solution in SOLUTIONS.values()) < 120
    assert max(solution.seconds for solution in SOLUTIONS.values()) <= 60


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_has_a_wrong_variant(name: str) -> None:
    assert SOLUTIONS[name].wrong


@pytest.mark.parametrize("name", NAMES)
def test_a_claim_names_the_programs_that_its_solution_starts(name: str) -> None:
    source = (TASKS / name / "reference" / "solution.py").read_text()
    started = {command for command in ("pw.x", "ld1.x", "lmp") if f'"{command}"' in source}
    assert started == set(claim_of(name).metadata.requires.commands)


@pytest.mark.parametrize("name", NAMES)
def test_the_pdf_is_the_print_of_the_text(name: str, tmp_path: Path) -> None:
    view = TASKS / name / "agent_view"
    title = (view / "paper.md").read_text().splitlines()[0].lstrip("# ")
    assert text_of(view / "paper.pdf").startswith(re.sub(r"[\s-]", "", title))
    fresh = tmp_path / "paper.pdf"
    make_papers().build(view / "paper.md", fresh)
    assert text_of(fresh) == text_of(view / "paper.pdf"), f"run python tasks/make_papers.py tasks/{name}"


def test_a_paper_is_printed_to_the_same_bytes_twice(tmp_path: Path) -> None:
    for pdf in (tmp_path / "1.pdf", tmp_path / "2.pdf"):
        make_papers().build(TASKS / NAMES[0] / "agent_view" / "paper.md", pdf)
    assert (tmp_path / "1.pdf").read_bytes() == (tmp_path / "2.pdf").read_bytes()


def test_a_missing_figure_stops_the_printing(tmp_path: Path) -> None:
    (tmp_path / "paper.md").write_text("# Title\n\n![A figure](figures/none.png)\n")
    with pytest.raises(OSError, match=r"none\.png"):
        make_papers().build(tmp_path / "paper.md", tmp_path / "paper.pdf")


@pytest.mark.parametrize("name", NAMES)
def test_a_script_answers_for_the_claim_and_reports_what_is_asked(name: str) -> None:
    path = PROJECT / "demo" / "scripts" / "orchestrated" / f"{name}.yaml"
    script = read_script(path, Templates((TASKS / name, path.parent)))
    assert {"plan", "setup", "extract"} <= set(script.sessions)
    answer = script.sessions["extract"][-1].tools[-1].input
    assert isinstance(answer, dict)
    reported = {item["quantity"] for item in answer["results"]}
    assert {quantity.name for quantity in claim_of(name).metadata.quantities} <= reported
    constants = [item["quantity"] for item in answer["results"] if not isinstance(item["value"], dict)]
    assert constants == [], "numbers must come from what ran"
    assert isinstance(answer["reproduced"], dict), "the judgement must follow from what ran"


@pytest.mark.parametrize("name", NAMES)
def test_the_list_of_samples_names_the_claim(name: str) -> None:
    metadata = claim_of(name).metadata
    row = next(line for line in (PROJECT / "docs" / "sample-claims.md").read_text().splitlines() if name in line)
    assert f"| {metadata.verification} |" in row
    assert f"| {expected_of(name).outcome} |" in row


def test_the_reversed_claim_rests_on_a_table_that_is_true(tmp_path: Path) -> None:
    name = "MD-0002_lj-hcp-fcc"
    paper = (TASKS / name / "agent_view" / "paper.md").read_text().replace("−", "-")
    for cutoff in ("2.5", "4.0"):
        row = next(line for line in paper.splitlines() if line.startswith(f"| {cutoff} "))
        stated = [float(cell) for cell in row.strip("|").split("|")[1:]]
        found = {item.quantity: item.value for item in solve(name, ("--cutoff", cutoff), tmp_path)}
        measured = [found["energy_fcc"], found["energy_hcp"], found["energy_hcp_minus_fcc"]]
        assert stated == pytest.approx(measured, abs=6e-5)
