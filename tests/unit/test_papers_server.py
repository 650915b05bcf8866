"""The ParsePDF server: a real MCP client over standard streams, in a real sandbox."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from reportlab.pdfgen.canvas import Canvas

import matproof
from matproof.agents.parse_pdf import ParsedAside, server_mounts
from matproof.core.clock import elapsed
from matproof.papers.on_demand import OtherPdfs
from matproof.papers.server_command import MODULES, once_argv, server_argv, shown
from matproof.papers.tool import DESCRIPTION, NAME, NotParsedError, parse_pdf_tool
from matproof.sandbox.engine import Engine, Mount, Sandbox, SandboxSpec, open_sandbox
from matproof.sandbox.policy import load_policy

POLICY = Path(__file__).parents[2] / "sandbox" / "plan.yaml"
LINK = "github.com/someone/code"


def pdf(path: Path, *pages: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas = Canvas(str(path))
    for text in pages:
        canvas.drawString(72, 700, text)
        canvas.showPage()
    canvas.save()
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`payload/` and `artifacts/` of a run, and what is hidden beside them."""
    root = tmp_path_factory.mktemp("run")
    (root / "payload").mkdir()
    (root / "payload/paper.md").write_text("<!-- page 1 -->\n\nThe paper.\n\n<!-- page 2 -->\n\nIts end.\n")
    pdf(root / "payload/inputs/supplement.pdf", f"A supplement, see {LINK} for all.", "Second page.")
    pdf(root / "artifacts/found.pdf", "Found by the agent.")
    pdf(root / "hidden/secret.pdf", "The answer.")
    (root / "artifacts/out.pdf").symlink_to("/etc/passwd")
    (root / "artifacts/away").symlink_to(root / "hidden")
    (root / "artifacts/damaged.pdf").write_bytes(b"%PDF-1.4\nnothing")
    os.mkfifo(root / "artifacts/pipe.pdf")
    return root


@pytest.fixture(scope="module")
def spec(place: Path) -> SandboxSpec:
    mounts = (Mount(place / "payload", "/work/payload"), Mount(place / "artifacts", "/work/artifacts", writable=True))
    return SandboxSpec(policy=load_policy(POLICY), mounts=mounts, workdir="/work/artifacts")


@pytest.fixture(scope="module")
def sandbox(spec: SandboxSpec) -> Sandbox:
    return open_sandbox(
        SandboxSpec(policy=spec.policy, mounts=(*spec.mounts, *server_mounts(spec.engine)), workdir=spec.workdir)
    )


def asked(argv: Sequence[str], *calls: Mapping[str, Any]) -> tuple[list[Any], list[str]]:
    """The tools that the server at `argv` offers, and its answer to each call of ParsePDF."""

    async def talk() -> tuple[list[Any], list[str]]:
        with anyio.fail_after(60):
            async with (
                stdio_client(StdioServerParameters(command=argv[0], args=list(argv[1:]))) as (received, sent),
                ClientSession(received, sent) as session,
            ):
                await session.initialize()
                tools = (await session.list_tools()).tools
                results = [await session.call_tool(NAME, dict(call)) for call in calls]
                return list(tools), [result.content[0].text for result in results]  # type: ignore[union-attr]

    return anyio.run(talk)


def test_a_client_in_the_sandbox_gets_the_paper_and_other_pdfs(sandbox: Sandbox) -> None:
    tools, answers = asked(
        sandbox.argv(server_argv()),
        {"path": "/work/payload/paper.md"},
        {"path": "paper.md", "pages": "2"},
        {"path": "/work/payload/paper.pdf", "pages": "2"},
        {"path": "/work/payload/inputs/supplement.pdf"},
        {"path": "../payload/inputs/supplement.pdf", "pages": "2-"},
        {"path": "found.pdf"},
    )
    assert [(tool.name, tool.description) for tool in tools] == [("ParsePDF", DESCRIPTION)]
    assert answers == [
        "<!-- page 1 -->\n\nThe paper.\n\n<!-- page 2 -->\n\nIts end.\n",
        "<!-- page 2 -->\n\nIts end.\n",
        "<!-- page 2 -->\n\nIts end.\n",
        "<!-- page 1 -->\n\nA supplement, see [link removed] for all.\n\n<!-- page 2 -->\n\nSecond page.\n",
        "<!-- page 2 -->\n\nSecond page.\n",
        "<!-- page 1 -->\n\nFound by the agent.\n",
    ]


def test_a_path_outside_is_refused_however_it_is_written(sandbox: Sandbox, place: Path) -> None:
    paths = (
        "/etc/passwd",
        "../../etc/x.pdf",
        str(place / "hidden/secret.pdf"),
        "/work/payload/../hidden/secret.pdf",
        "/work/artifacts/out.pdf",
        "away/secret.pdf",
        "pipe.pdf",
        f"{MODULES}/x.pdf",
    )
    _, answers = asked(sandbox.argv(server_argv()), *({"path": path} for path in paths))
    assert [answer.split(":")[0] for answer in answers] == ["Refused"] * len(paths)
    assert not any("The answer" in answer or "root:" in answer for answer in answers)


def test_what_is_no_pdf_or_not_there_is_one_sentence(sandbox: Sandbox) -> None:
    _, answers = asked(
        sandbox.argv(server_argv()),
        {"path": "damaged.pdf"},
        {"path": "none.pdf"},
        {"path": "/work/payload/claim.txt"},
        {"path": "found.pdf", "pages": "x"},
        {"path": 3},
        {},
    )
    assert answers[0] == "Not parsed: '/work/artifacts/damaged.pdf': it is not a PDF, or a damaged one."
    assert answers[1] == (
        "No parsed text of '/work/artifacts/none.pdf': there is no such file. The paper is /work/payload/paper.md."
    )
    assert answers[2] == "No parsed text of '/work/payload/claim.txt'. Parsed: /work/payload/paper.md."
    assert answers[3].startswith("Refused: pages must look like")
    assert answers[4] == answers[5] == "Refused: call ParsePDF with a path, and pages such as '3-5' if wanted."


def test_of_this_package_the_sandbox_sees_only_what_reads_papers(sandbox: Sandbox) -> None:
    finished = sandbox.run(["find", "-L", MODULES, "-type", "f", "-not", "-name", "*.pyc"], timeout_s=20)
    seen = [Path(line).relative_to(f"{MODULES}/matproof") for line in finished.stdout.splitlines()]
    assert {path.parts[0] for path in seen} == {"__init__.py", "core", "papers"}
    assert {path.suffix for path in seen} == {".py"}
    assert all(str(path).startswith(str(Path(matproof.__file__).parent)) for path in shown().values())


def test_the_image_of_apptainer_is_given_the_python_in_use() -> None:
    plain = {mount.target for mount in server_mounts(Engine())}
    image = {mount.target for mount in server_mounts(Engine(name="apptainer"))}
    assert plain == set(shown())
    assert image > plain
    assert server_mounts(Engine(name="apptainer", own_python=True)) == server_mounts(Engine())


def test_one_pdf_can_be_printed(sandbox: Sandbox) -> None:
    printed = sandbox.run(once_argv("/work/artifacts/found.pdf"), timeout_s=60)
    assert (printed.returncode, printed.stdout) == (0, "<!-- page 1 -->\n\nFound by the agent.\n")
    refused = sandbox.run(once_argv("--help.pdf"), timeout_s=60)
    assert refused.returncode == 3
    assert refused.stderr.startswith("Refused: '--help.pdf' is below neither")


def test_a_session_outside_the_sandbox_reads_other_pdfs_inside(spec: SandboxSpec, place: Path) -> None:
    aside = ParsedAside(lambda: spec, allow_weaker=False, deadline=elapsed() + 120)
    paper = place / "payload/paper.md"
    text = parse_pdf_tool("/work/payload/inputs/supplement.pdf", place / "payload", paper, pages="1", other=aside)
    assert text == "<!-- page 1 -->\n\nA supplement, see [link removed] for all.\n\n"
    refused = parse_pdf_tool("/work/artifacts/away/secret.pdf", place / "payload", paper, other=aside)
    assert refused.startswith("Refused: '/work/artifacts/away/secret.pdf' is a link, below one")
    aside.close()
    assert parse_pdf_tool("found.pdf", place / "payload", paper, other=aside) == "Not parsed: the session is over."


# Limits


def other(place: Path, **options: Any) -> OtherPdfs:
    return OtherPdfs(payload=place / "payload", artifacts=place / "artifacts", **options)


def test_a_pdf_that_takes_too_long_is_left(place: Path) -> None:
    with pytest.raises(NotParsedError, match=r"reading it took longer than 0\.01 s\.$"):
        other(place, timeout_s=0.01)("/work/artifacts/found.pdf")


def test_a_pdf_with_too_many_pages_is_refused(tmp_path: Path) -> None:
    (tmp_path / "payload").mkdir()
    pdf(tmp_path / "artifacts/long.pdf", *["x"] * 301)
    with pytest.raises(NotParsedError, match="it has 301 pages"):
        other(tmp_path)("/work/artifacts/long.pdf")


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    (tmp_path / "artifacts").mkdir()
    with (tmp_path / "artifacts/large.pdf").open("wb") as stream:
        stream.truncate(50_000_001)
    with pytest.raises(NotParsedError, match="is larger than 50 MB"):
        other(tmp_path)("/work/artifacts/large.pdf")


def test_a_changed_pdf_is_read_again(tmp_path: Path) -> None:
    reader = other(tmp_path)
    pdf(tmp_path / "artifacts/a.pdf", "One.")
    assert "One." in reader("/work/artifacts/a.pdf")
    pdf(tmp_path / "artifacts/a.pdf", "One and two.")
    assert "One and two." in reader("/work/artifacts/a.pdf")


def test_a_long_answer_is_cut_and_only_names_what_helps(tmp_path: Path) -> None:
    (tmp_path / "payload").mkdir()
    (tmp_path / "payload/paper.md").write_text("The paper.\n")
    pdf(tmp_path / "artifacts/a.pdf", *(f"Page {number}. " + "word " * 12 for number in range(1, 9)))
    answer = parse_pdf_tool(
        "a.pdf", tmp_path / "payload", tmp_path / "payload/paper.md", limit=300, other=other(tmp_path)
    )
    assert answer.endswith("[cut here: ask again with pages='4-']\n")
