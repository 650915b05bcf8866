"""Charts as data: rows of marks, bars or cells with their places, and the numbers as CSV.

A chart is drawn twice by the same template: on a page, in its colours, and as an SVG file of its own. Nothing here
knows a colour; labels are data, escaped and cleaned where they are drawn.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from matproof.report import figures
from matproof.tables.words import one_line, shorten

WIDTH = 800.0
LABEL = 220.0
"""Room for labels on the left."""
PLOT = 420.0
"""Width of the axis."""
ROW, HEAD, TOP, BOTTOM = 28.0, 30.0, 8.0, 26.0
"""Heights: a row, a heading, above and below."""
Table = list[list[str | int | float | None]]
HeatValue = tuple[float | None, str, str, str | None]
"""Share from 0 to 1, text, small text, link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartRow:
    """A line of a chart: a heading, or a label with a mark, a bar or cells."""

    label: str
    y: float = 0.0
    """Of its middle."""
    heading: bool = False
    scripted: bool = False
    mark: figures.Whisker | None = None
    segments: tuple[figures.Segment, ...] = ()
    text: str = ""
    """Beside the plot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell of a heatmap."""

    x: float
    y: float
    width: float
    height: float
    shade: int
    """0 (nothing) to 9."""
    text: str
    small: str
    title: str
    href: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart and its numbers."""

    name: str
    """File name without ending."""
    title: str
    note: str
    rows: tuple[ChartRow, ...] = ()
    cells: tuple[Cell, ...] = ()
    columns: tuple[tuple[float, str, str], ...] = ()
    """(x, label, second line) of a heatmap's columns."""
    ticks: tuple[tuple[float, str], ...] = ()
    legend: tuple[tuple[str, str], ...] = ()
    """(class, words)."""
    width: float = WIDTH
    height: float = 0.0
    table: Table = field(default_factory=list)
    """Header and rows of the CSV."""

    @property
    def csv(self) -> str:
        """The numbers; a text that a spreadsheet would take for a formula starts with an apostrophe."""
        sink = io.StringIO()
        csv.writer(sink, lineterminator="\n").writerows([[_plain(value) for value in row] for row in self.table])
        return sink.getvalue()


def _plain(value: str | int | float | None) -> str | int | float | None:
    if not isinstance(value, str):
        return value
    text = one_line(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


@dataclass(frozen=True, slots=True)
class Axis:
    """A horizontal axis of the plot."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def place(self, value: float) -> float:
        """Where `value` stands; beyond the ends, at the end."""
        inside = min(max(value, self.low), self.high)
        return round(LABEL + 8 + (inside - self.low) / (self.high - self.low) * (PLOT - 16), 2)

    def marks(self) -> tuple[tuple[float, str], ...]:
        """(x, label) of the ticks."""
        return tuple((self.place(value), label) for value, label in self.ticks)

    def whisker(self, centre: float, low: float | None, high: float | None) -> figures.Whisker:
        """The places of a value and its interval."""
        ends = (None, None) if low is None or high is None else (self.place(low), self.place(high))
        return figures.Whisker(self.place(centre), *ends)


SCORES = Axis(1, 5, tuple((float(score), str(score)) for score in range(1, 6)))
SHARES = Axis(0, 1, tuple((share / 4, f"{25 * share} %") for share in range(5)))
COUNTS = Axis(0, 1, ((0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")))


def bar(counts: Sequence[tuple[str, int]]) -> tuple[figures.Segment, ...]:
    """A stacked bar as wide as the plot."""
    parts = figures.stack(counts, PLOT - 16)
    return tuple(figures.Segment(part.name, part.count, round(part.x + LABEL + 8, 2), part.width) for part in parts)


def lined(
    name: str,
    title: str,
    note: str,
    axis: Axis,
    rows: Sequence[ChartRow],
    table: Table,
    legend: Sequence[tuple[str, str]] = (),
) -> Chart:
    """A chart of `rows` one below the other."""
    placed, y = [], TOP
    for row in rows:
        height = HEAD if row.heading else ROW
        placed.append(_moved(row, y + height / 2))
        y += height
    return Chart(
        name=name,
        title=title,
        note=note,
        rows=tuple(placed),
        ticks=axis.marks(),
        legend=tuple(legend),
        height=y + BOTTOM,
        table=table,
    )


def _moved(row: ChartRow, y: float) -> ChartRow:
    return replace(row, y=round(y, 1), label=shorten(one_line(row.label), 60 if row.heading else 30))


def heat(
    name: str,
    title: str,
    note: str,
    rows: Sequence[tuple[str, bool]],
    columns: Sequence[tuple[str, str]],
    values: Sequence[Sequence[HeatValue]],
    table: Table,
) -> Chart:
    """A heatmap. `rows` are (label, scripted), `columns` (label, second line); `values` a line a row."""
    room, height, top = (WIDTH - LABEL) / max(len(columns), 1), 44.0, 44.0
    cells = [
        Cell(
            x=round(LABEL + across * room, 1),
            y=top + down * height,
            width=round(room - 3, 1),
            height=height - 3,
            shade=0 if not share else min(9, 1 + int(share * 9)),
            text=text,
            small=small,
            title=f"{rows[down][0]}, {columns[across][0]}: {text} {small}",
            href=href,
        )
        for down, line in enumerate(values)
        for across, (share, text, small, href) in enumerate(line)
    ]
    labels = [
        ChartRow(label=shorten(one_line(label), 30), scripted=scripted, y=top + index * height + (height - 3) / 2)
        for index, (label, scripted) in enumerate(rows)
    ]
    heads = [(round(LABEL + (i + 0.5) * room - 1.5, 1), first, second) for i, (first, second) in enumerate(columns)]
    return Chart(
        name=name,
        title=title,
        note=note,
        rows=tuple(labels),
        cells=tuple(cells),
        columns=tuple(heads),
        height=top + len(rows) * height + 6,
        table=table,
    )
