"""The statistics for people: Markdown that reads as well in a terminal. Every table says its n, unscored and method."""

import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from matproof.tables.columns import Row
from matproof.tables.words import money_text, one_line, seconds_text, shorten

WIDTH = 110
_NAME = 28
Cells = list[str]


def statistics_markdown(rows: Sequence[Row], compare: tuple[str, str] | None = None) -> str:
    """All analyses; with `compare` the comparison of those two settings alone, in full."""
    chosen = [row for row in rows if compare is None or _is_about(row, compare)]
    parts = ["# Statistics" if compare is None else f"# Is {_name(compare[0])} higher than {_name(compare[1])}?", ""]
    if not chosen:
        return "\n".join([*parts, *_wrapped(_NOTHING), ""])
    for board in dict.fromkeys((row["judge"], row["kind"], row["scripted"]) for row in chosen):
        own = [row for row in chosen if (row["judge"], row["kind"], row["scripted"]) == board]
        scripted = " (scripted: a demonstration, no model's score)" if board[2] else ""
        parts += [f"## Judge {one_line(board[0], 60)}{scripted}", ""]
        for title, section in _SECTIONS.items():
            lines = section(own, compare)
            parts += [f"### {title}", "", *lines, ""] if lines else []
    return "\n".join(parts)


_NOTHING = (
    "Nothing to compute: no judged run, or every setting is scripted. Pass --include-scripted to see demonstrations."
)


def _is_about(row: Row, compare: tuple[str, str]) -> bool:
    return row["analysis"] == "comparison" and (row["setting"], row["other"]) == compare


def _score_lines(rows: Sequence[Row], compare: object) -> list[str]:
    own = [row for row in rows if row["analysis"] == "score"]
    cells: list[Cells] = []
    for where in dict.fromkeys((row["group_by"], row["group"], row["setting"]) for row in own):
        part = {row["name"]: row for row in own if (row["group_by"], row["group"], row["setting"]) == where}
        mean, rate = part.get("mean_score"), part["success_rate"]
        spread = [_spread(part[f"score_{level}"]) for level in range(1, 6)] if mean else []
        cells.append(
            [
                _name(where[1] or "all claims"),
                _name(where[2]),
                _plus_minus(mean, 2) if mean else "–",
                _share(rate),
                "/".join(spread) or "–",
                str(rate["n"]),
                str(rate["unscored"]),
                _published(mean, 2) if mean else "",
                _published(rate, 3),
            ]
        )
    headers = ["claims", "setting", "score ± SE", "success [95 %]", "runs at 1/2/3/4/5", "n", "unscored"]
    headers += ["score in paper", "success in paper"]
    if not any(line[-1] or line[-2] for line in cells):
        headers, cells = headers[:-2], [line[:-2] for line in cells]
    return _section(headers, cells, own, texts=(0, 1))


def _rank_lines(rows: Sequence[Row], compare: object) -> list[str]:
    own = [row for row in rows if row["analysis"] == "ranks"]
    told: dict[str, list[str]] = {row["setting"]: [] for row in own if row["name"] == "group"}
    for row in own:
        if row["name"] == "group":
            told[row["setting"]].append(chr(96 + int(row["value"])) if row["value"] <= 26 else str(int(row["value"])))
    cells = []
    for row in own:
        if row["name"] == "rank":
            span = "–" if row["low"] is None else f"{row['low']:.0f} to {row['high']:.0f}"
            place = "–" if row["value"] is None else f"{row['value']:.0f}"
            cells.append([place, _name(row["setting"]), span, "".join(told[row["setting"]]), str(row["n"])])
    note = "Settings that share a letter can't be told apart."
    lines = _section(["#", "setting", "rank [95 %]", "group", "n"], cells, own, texts=(1,))
    return [*lines, note] if lines else []


def _comparison_lines(rows: Sequence[Row], compare: tuple[str, str] | None) -> list[str]:
    own = [row for row in rows if row["analysis"] == "comparison"]
    whole = {(row["setting"], row["other"], row["group"]) for row in own if row["group"] is not None}
    if compare is None:
        first = "overall" if any(group == "overall" for *_, group in whole) else "success"
        whole = {(one, other, group) for one, other, group in whole if group == first and one < other}
    cells = []
    for where in dict.fromkeys((row["setting"], row["other"], row["group"]) for row in own):
        if where in whole:
            part = {row["name"]: row for row in own if (row["setting"], row["other"], row["group"]) == where}
            cells.append(_comparison_cells(where, part))
    headers = ["first", "second", "by", "win/tie/loss", "difference ± SE", "r", "p", "p Holm", "finds from", "n"]
    shown = slice(2, None) if compare is not None else slice(0, None)
    lines = [line[shown] for line in cells]
    return _section([*headers, "unscored"][shown], lines, own, texts=(0,) if compare else (0, 1, 2))


def _comparison_cells(where: tuple[str, str, str], part: dict[str, Row]) -> Cells:
    test = part["signed_rank"]
    counts = "/".join(str(part[name]["note"]) for name in ("win", "tie", "loss"))
    return [
        _name(where[0]),
        _name(where[1]),
        where[2].replace("_", " "),
        counts,
        _plus_minus(part["difference"], 2),
        _number(test["value"], 2),
        _number(test["p_value"], 4),
        _number(test["p_adjusted"], 4),
        _number(part["detectable"]["value"], 2),
        str(part["difference"]["n"]),
        str(part["difference"]["unscored"]),
    ]


def _failure_lines(rows: Sequence[Row], compare: object) -> list[str]:
    own = [row for row in rows if row["analysis"] == "failures"]
    settings = list(dict.fromkeys(row["setting"] for row in own))
    cells = []
    for label in dict.fromkeys(row["name"] for row in own):
        found = {row["setting"]: row for row in own if row["name"] == label}
        cells.append([label.replace("_", " "), *(_labelled(found[name]) for name in settings)])
    heads = [f"{_name(row['setting'])} (n {row['n']})" for row in own if row["name"] == own[0]["name"]]
    return _section(["label", *heads], cells, own, texts=(0,))


def _labelled(row: Row) -> str:
    return "–" if row["value"] is None else f"{str(row['note']).split()[0]} ({100 * row['value']:.0f} %)"


def _cost_lines(rows: Sequence[Row], compare: object) -> list[str]:
    own = [row for row in rows if row["analysis"] == "cost"]
    cells = []
    for setting in dict.fromkeys(row["setting"] for row in own):
        part = {row["name"]: row for row in own if row["setting"] == setting}
        money, time = part["usd_per_success"], part["seconds_per_success"]
        notes = "; ".join(dict.fromkeys(row["note"] for row in (money, time) if row["note"]))
        shown = [money_text(money["value"]) if money["value"] is not None else "–"]
        shown.append(seconds_text(time["value"]) if time["value"] is not None else "–")
        cells.append([_name(setting), *shown, str(time["n"]), str(time["unscored"]), notes])
    return _section(["setting", "cost", "time", "runs", "unscored", "note"], cells, own, texts=(0, 5))


def _pass_lines(rows: Sequence[Row], compare: object) -> list[str]:
    own = [row for row in rows if row["analysis"] == "pass_at_k"]
    if all(row["name"] == "pass@1" for row in own):
        return []
    cells = [
        [_name(row["setting"]), row["name"], _share(row), str(row["n"]), str(row["unscored"]), row["note"] or ""]
        for row in own
    ]
    return _section(["setting", "k", "chance [95 %]", "claims", "unscored", "note"], cells, own, texts=(0, 1, 5))


def _checks_lines(rows: Sequence[Row], compare: object) -> list[str]:
    own = [row for row in rows if row["analysis"] == "checks"]
    cells = []
    for where in dict.fromkeys((row["setting"], row["other"]) for row in own):
        part = {row["name"]: row for row in own if (row["setting"], row["other"]) == where}
        counts = [
            str(int(part[name]["value"])) for name in ("both_succeed", "judge_alone", "checks_alone", "both_fail")
        ]
        rates = [_share(part["same"]), _interval(part["kappa"], 2)]
        n = [str(part["same"]["n"]), str(part["same"]["unscored"])]
        cells.append([_name(where[0] or "all settings"), _name(where[1]), *counts, *rates, *n])
    headers = ["setting", "checks", "both", "judge alone", "checks alone", "neither", "same", "kappa", "n", "unscored"]
    return _section(headers, cells, own, texts=(0, 1))


def _self_lines(rows: Sequence[Row], compare: object) -> list[str]:
    own = [row for row in rows if row["analysis"] == "self_judgement"]
    cells = []
    for where in dict.fromkeys((row["setting"], row["group"]) for row in own):
        part = {row["name"]: row for row in own if (row["setting"], row["group"]) == where}
        names = ("said_yes_right", "said_yes_wrong", "said_no_right", "said_no_wrong", "said_nothing")
        over, right = part["overconfidence_rate"], part["right"]
        counts = [str(int(part[name]["value"])) for name in names]
        shown = [f"{_share(row)} of {row['n']}" for row in (over, right)]
        cells.append([_name(where[0]), where[1] or "all", *counts, *shown, str(over["unscored"])])
    headers = ["setting", "claims", "yes ✓", "yes ✗", "no ✓", "no ✗", "silent", "overconfident", "right", "unscored"]
    return _section(headers, cells, own, texts=(0, 1))


_SECTIONS: dict[str, Callable[[Sequence[Row], tuple[str, str] | None], list[str]]] = {
    "Scores and success": _score_lines,
    "Ranks": _rank_lines,
    "Paired comparisons": _comparison_lines,
    "Failure labels": _failure_lines,
    "What a success costs": _cost_lines,
    "pass@k": _pass_lines,
    "Judge beside checks": _checks_lines,
    "Self-judgement beside the truth": _self_lines,
}


def _section(headers: Sequence[str], cells: Sequence[Cells], rows: Iterable[Row], *, texts: Sequence[int]) -> list[str]:
    """A Markdown table and the methods of its rows; nothing where it has no line."""
    from tabulate import tabulate

    if not cells:
        return []
    align = ["left" if index in texts else "right" for index in range(len(headers))]
    plain = [[cell.replace("|", "¦") for cell in line] for line in cells]
    table: str = tabulate(plain, list(headers), tablefmt="github", colalign=align, disable_numparse=True)
    methods = dict.fromkeys(
        (row["name"].split("_")[0] if "score_" in row["name"] else row["name"], row["method"]) for row in rows
    )
    by_method: dict[str, list[str]] = {}
    for name, method in methods:
        by_method.setdefault(method, []).append(name.replace("_", " "))
    notes = [line for method, names in by_method.items() for line in _wrapped(f"- {_few(names)}: {method}", "  ")]
    return [*table.splitlines(), "", *notes]


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (", …" if len(names) > 6 else "")


def _name(text: Any) -> str:
    return shorten(one_line(str(text)), _NAME)


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _plus_minus(row: Row, digits: int) -> str:
    error = "" if row["se"] is None else f" ± {row['se']:.{digits}f}"
    return "–" if row["value"] is None else f"{row['value']:.{digits}f}{error}"


def _interval(row: Row, digits: int) -> str:
    span = "" if row["low"] is None else f" [{row['low']:.{digits}f}, {row['high']:.{digits}f}]"
    return "–" if row["value"] is None else f"{row['value']:.{digits}f}{span}"


def _share(row: Row) -> str:
    if row["value"] is None:
        return "–"
    span = "" if row["low"] is None else f" [{100 * row['low']:.0f}, {100 * row['high']:.0f}]"
    return f"{100 * row['value']:.0f} %{span}"


def _spread(row: Row) -> str:
    return str(row["note"]).split()[0]


def _published(row: Row, digits: int) -> str:
    if row.get("published") is not None:
        return f"{row['published']:.{digits}f}"
    if row.get("published_low") is not None:
        return f"{row['published_low']:.{digits}f} to {row['published_high']:.{digits}f}"
    return ""


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
