"""The real Docling, from .venv-docling, without a network and without its published models.

`scripts/docling.sh` installs it; without it these tests are skipped by name. Its layout model is random: the way in
which models are found, loaded and killed is real, what they find is nonsense.
"""

import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate

from matproof.commands.parse import command
from matproof.core.clock import elapsed
from matproof.core.errors import InputError
from matproof.core.processes import run
from matproof.papers.docling import LAYOUT, docling_parser
from matproof.papers.parse import parse_claim
from matproof.papers.parsers import parser_named

PROJECT = Path(__file__).parents[2]
PYTHON = PROJECT / ".venv-docling" / "bin" / "python"
TEXT = "The conductivity is 5 &times; 10<super>-4</super> S cm<super>-1</super> in this glass at room temperature. "
installed = pytest.mark.skipif(
    not list(PYTHON.parents[1].glob("installed-*")), reason="Docling is not installed: run `make docling`"
)


@pytest.fixture(scope="module")
def claim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    task = tmp_path_factory.mktemp("tasks") / "C-1_x"
    (task / "agent_view").mkdir(parents=True)
    style = getSampleStyleSheet()["BodyText"]
    story = [Paragraph(TEXT * 4, style), Paragraph("Code is at https://github.com/someone/code for all.", style)]
    SimpleDocTemplate(str(task / "agent_view/a.pdf"), pagesize=A4).build(story)
    return task


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory as `docling-tools` would make it, with a random layout model that takes much for pictures."""
    folder = tmp_path_factory.mktemp("models")
    script = str(PROJECT / "tests/data/tiny_layout_model.py")
    made = run([str(PYTHON), "-I", script, str(PROJECT / "src"), str(folder), "picture"], timeout_s=180)
    assert made.ok, made.stderr
    return folder


@pytest.fixture
def docling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATPROOF_DOCLING_PYTHON", str(PYTHON))
    monkeypatch.delenv("DOCLING_ARTIFACTS_PATH", raising=False)


@pytest.fixture
def silent_hub() -> Iterator[str]:
    """A hub that takes connections and never answers; Docling by itself waits for one without end."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        held: list[socket.socket] = []

        def take() -> None:
            while True:
                try:
                    held.append(server.accept()[0])
                except OSError:
                    return

        threading.Thread(target=take, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        assert held == []  # nobody even tried


# Without models


def test_without_models_the_light_parser_answers_in_two_seconds(
    claim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, silent_hub: str
) -> None:
    monkeypatch.setenv("MATPROOF_DOCLING_PYTHON", str(PYTHON if PYTHON.exists() else sys.executable))
    monkeypatch.setenv("DOCLING_ARTIFACTS_PATH", str(tmp_path / "none"))
    monkeypatch.setenv("HF_ENDPOINT", silent_hub)
    began = elapsed()
    arguments = [str(claim), "--out", str(tmp_path / "paper.md"), "--no-cache", "--parser", "docling"]
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert elapsed() - began < 2
    assert result.exit_code == 0
    assert "a.pdf by light 3; " in result.stdout
    assert "warning: Docling has no models in" in result.stderr
    assert "docling-tools models download layout tableformer code_formula -o DIR" in result.stderr
    assert "DOCLING_ARTIFACTS_PATH=DIR" in result.stderr
    assert "5 × 10^-4 S cm^-1" in (tmp_path / "paper.md").read_text()


def test_a_fallback_is_kept_as_what_it_is(claim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATPROOF_DOCLING_PYTHON", sys.executable)
    monkeypatch.setenv("DOCLING_ARTIFACTS_PATH", str(tmp_path / "none"))
    parse_claim(claim, tmp_path / "paper.md", tmp_path / "cache", "docling")
    assert json.loads((tmp_path / "paper.links.json").read_text())["parser"] == "light 3"
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".light-3"]


def test_docling_that_is_not_installed_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MATPROOF_DOCLING_PYTHON", str(tmp_path / "python"))
    with pytest.raises(InputError, match="run `make docling`"):
        parser_named("docling")
    monkeypatch.delenv("MATPROOF_DOCLING_PYTHON")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install -c requirements/docling-constraints\.txt 'matproof\[docling\]'"):
        parser_named("docling")


def test_a_python_without_docling_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / LAYOUT).mkdir()
    monkeypatch.setenv("MATPROOF_DOCLING_PYTHON", sys.executable)
    monkeypatch.setenv("DOCLING_ARTIFACTS_PATH", str(tmp_path))
    with pytest.raises(InputError, match="has no Docling; run `make docling`"):
        parser_named("docling")


# With a random layout model


@installed
@pytest.mark.slow
def test_docling_reads_a_paper_with_staged_models_and_no_network(
    claim: Path, tmp_path: Path, models: Path, docling: None, monkeypatch: pytest.MonkeyPatch, silent_hub: str
) -> None:
    monkeypatch.setenv("DOCLING_ARTIFACTS_PATH", str(models))
    monkeypatch.setenv("HF_ENDPOINT", silent_hub)
    warnings: list[str] = []
    summary = parse_claim(claim, tmp_path / "paper.md", tmp_path / "cache", "docling", warn=warnings.append)
    assert (summary.parser or "").startswith("docling 2.")
    assert [line.split(": ")[1].split(".")[0] for line in warnings] == ["no structure of tables", "no formulas"]
    text = summary.out.read_text()
    assert text.startswith("<!-- page 1 -->\n")
    assert text.count("10^-4 S cm^-1") >= 3
    assert "[exponent?]" not in text
    assert "Code is at [link removed] for all." in text
    names = [path.name for path in (tmp_path / "paper.figures").iterdir()]
    assert names
    assert all(f"![Picture (page 1)](paper.figures/{name})" in text for name in names)
    assert all((tmp_path / "paper.figures" / name).read_bytes().startswith(b"\x89PNG") for name in names)
    again = parse_claim(claim, tmp_path / "paper.md", tmp_path / "cache", "docling")
    assert (again.cached, again.figures) == (1, len(names))


@installed
def test_docling_is_ended_at_the_time_limit(
    claim: Path, models: Path, docling: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCLING_ARTIFACTS_PATH", str(models))
    parser = docling_parser(timeout_s=0.5, warn=lambda line: None)
    assert parser is not None
    began = elapsed()
    with pytest.raises(InputError, match=r"Docling took longer than 0\.5 s; raise --timeout, or use --parser light"):
        parser.parse(claim / "agent_view/a.pdf")
    assert elapsed() - began < 10


@installed
@pytest.mark.slow
def test_broken_models_are_one_line(
    claim: Path, tmp_path: Path, docling: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / LAYOUT).mkdir()
    (tmp_path / LAYOUT / "config.json").write_text("{}")
    monkeypatch.setenv("DOCLING_ARTIFACTS_PATH", str(tmp_path))
    with pytest.raises(InputError, match="Docling could not convert it: ") as caught:
        parser_named("docling").parse(claim / "agent_view/a.pdf")
    assert "\n" not in str(caught.value)


@installed
def test_the_installation_has_a_cpu_build_of_torch_where_there_is_no_gpu() -> None:
    asked = "from importlib.metadata import distributions; print([d.name for d in distributions()])"
    printed = run([str(PYTHON), "-I", "-c", asked], timeout_s=60)
    if any(Path("/dev").glob("nvidia[0-9]*")) or os.environ.get("DOCLING_CUDA") == "yes":
        pytest.skip("there is a GPU here, or CUDA was asked for")
    assert "torch" in printed.stdout
    assert "nvidia" not in printed.stdout
