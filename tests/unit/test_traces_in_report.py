"""What a run's page shows of the events of a trace."""

from pathlib import Path

from matproof.report.pages import Frame
from matproof.report.transcript import transcript
from matproof.traces.events import Event, TokenCounts, TraceWriter


def test_model_tokens_and_cost_of_an_answer_are_shown(tmp_path: Path) -> None:
    trace = TraceWriter(tmp_path / "trace.jsonl")
    counts = TokenCounts(input=1200, cached=1000, output=40)
    trace.add(Event(kind="usage", model="<i>claude</i>", tokens=counts, cost_usd=0.25))
    trace.add(Event(kind="usage", model="claude", tokens=None, cost_usd=None))
    trace.close()
    told = transcript(tmp_path / "trace.jsonl", "title", "1.html", Frame(), "index.html")
    assert told is not None
    html = told.parts[0].html
    assert "&lt;i&gt;claude&lt;/i&gt;, 1,200 tokens read, 1,000 of them cached, 40 written, $0.2500" in html
    assert html.count("tokens read") == 2  # in the line that is always seen, and in the text below it
