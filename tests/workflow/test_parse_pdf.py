"""ParsePDF in a whole run of the orchestrated agent: the real client asks, other PDFs are read in a sandbox."""

from pathlib import Path

from reportlab.pdfgen.canvas import Canvas
from single_run import Bench, plan

from matproof.traces.events import read_trace


def pdf(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas = Canvas(str(path))
    canvas.drawString(72, 700, text)
    canvas.save()


def test_the_agent_reads_the_paper_and_a_supplement_and_nothing_hidden(bench: Bench) -> None:
    pdf(bench.claim / "agent_view/inputs/supplement.pdf", "More of it, see github.com/someone/code for all.")
    pdf(bench.claim / "reference/solution.pdf", "The answer.")
    paths = ("paper.md", "/work/payload/inputs/supplement.pdf", str(bench.claim / "reference/solution.pdf"))
    asked = [{"tools": [{"name": "ParsePDF", "input": {"path": path}}]} for path in paths]
    bench.script(plan=[*asked, *plan({"id": "add", "command": "echo 55 > t.json", "outputs": ["t.json"]})])
    assert bench.run().outcome == "completed"
    events = list(read_trace(bench.attempt().trace))
    calls = [event.call_id for event in events if event.kind == "tool_call" and "ParsePDF" in (event.tool or "")]
    answers = [event.text for event in events if event.kind == "tool_result" and event.call_id in calls]
    assert len(answers) == 3
    assert "We add the integers" in answers[0]
    assert "More of it, see [link removed] for all." in answers[1]
    assert answers[2].startswith("Refused: ")
    assert not any("The answer." in event.text for event in events)
