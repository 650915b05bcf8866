"""The graph of a plan's steps: where each stands and which lines join them. Pure functions from names to places.

A plan is hostile data: a step may wait for one that does not exist, for itself, or in a circle. Such a line is not
drawn, and the rest is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

NODE_WIDTH, NODE_HEIGHT = 168.0, 46.0
GAP_X, GAP_Y = 56.0, 16.0
MARGIN = 4.0
MOST_NODES = 150
"""Steps that are drawn; a plan with more has its table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphStep:
    """What the picture needs of a step."""

    id: str
    anchor: str
    """Of the step's own place on the page."""
    depends_on: tuple[str, ...]
    status: str
    """`planned`, or how it ended."""
    detail: str


@dataclass(frozen=True, slots=True)
class Node:
    """A step and its top left corner."""

    step: GraphStep
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Graph:
    """The picture, in the units of a viewBox."""

    nodes: list[Node]
    lines: list[str]
    """Paths as SVG writes them."""
    width: float
    height: float


def graph(steps: Sequence[GraphStep]) -> Graph | None:
    """The picture of `steps`, left to right in the order of dependence; None where there are none or too many."""
    if not steps or len(steps) > MOST_NODES:
        return None
    known = {step.id: step for step in reversed(steps)}
    ranks = _ranks(known, [step.id for step in steps])
    columns: dict[int, list[GraphStep]] = {}
    for name, rank in ranks.items():
        columns.setdefault(rank, []).append(known[name])
    tallest = max(len(column) for column in columns.values())
    height = tallest * (NODE_HEIGHT + GAP_Y) - GAP_Y + 2 * MARGIN
    nodes: dict[str, Node] = {}
    for rank, column in sorted(columns.items()):
        top = (height - len(column) * (NODE_HEIGHT + GAP_Y) + GAP_Y) / 2
        for index, step in enumerate(column):
            x, y = MARGIN + rank * (NODE_WIDTH + GAP_X), top + index * (NODE_HEIGHT + GAP_Y)
            nodes[step.id] = Node(step, round(x, 1), round(y, 1))
    lines = [
        _line(nodes[before], nodes[name])
        for name in ranks
        for before in dict.fromkeys(known[name].depends_on)
        if before in nodes and ranks[before] < ranks[name]
    ]
    width = len(columns) * (NODE_WIDTH + GAP_X) - GAP_X + 2 * MARGIN
    return Graph(list(nodes.values()), lines, round(width, 1), round(height, 1))


def _ranks(known: dict[str, GraphStep], order: Sequence[str]) -> dict[str, int]:
    """Column of each step: one after the last that it waits for. What closes a circle is taken as not waiting."""
    ranks: dict[str, int] = {}
    left = list(dict.fromkeys(order))
    while left:
        ready = [name for name in left if all(b in ranks or b not in known for b in known[name].depends_on)]
        for name in ready or left[:1]:
            before = [ranks[b] for b in known[name].depends_on if b in ranks]
            ranks[name] = max(before, default=-1) + 1
        left = [name for name in left if name not in ranks]
    return ranks


def _line(start: Node, end: Node) -> str:
    x1, y1 = start.x + NODE_WIDTH, start.y + NODE_HEIGHT / 2
    x2, y2 = end.x, end.y + NODE_HEIGHT / 2
    bend = round((x2 - x1) / 2, 1)
    return f"M{x1:.1f} {y1:.1f}C{x1 + bend:.1f} {y1:.1f} {x2 - bend:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
