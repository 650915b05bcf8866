"""What agents say of themselves, and what a judge says, beside what is known otherwise: confusions and their rates."""

from collections.abc import Sequence

from matproof.tables.agreement import RESAMPLES, SEED, Pair, agreement
from matproof.tables.columns import Row
from matproof.tables.estimates import Estimate
from matproof.tables.observed import SUCCESS, Board, Observed, measured, number_row, unscored_in
from matproof.tables.overconfidence import self_judgement
from matproof.tables.views import run_key

CONFUSION_METHOD = "runs: what was said of the claim, and whether the run reproduced it"
OVER_METHOD = "runs that say `reproduced` among those that did not reproduce and say either; Wilson interval over runs"
RIGHT_METHOD = "right self-judgements among all that say either; Wilson interval over runs"
CELL_METHOD = "runs that both scored: success by the judge, success by the checks"
SAME_METHOD = "runs with the same answer among those that both scored; Wilson interval with the claims as n"
KAPPA_METHOD = (
    f"Cohen's kappa of the two answers; percentile bootstrap over claims, {RESAMPLES:,} resamples, seed {SEED}"
)
_CELLS = ("said_yes_right", "said_yes_wrong", "said_no_right", "said_no_wrong", "said_nothing")


def self_judgement_rows(campaign: Observed) -> list[Row]:
    """Counts and rates by setting: all claims, then supported, contradicted and unknown ones apart."""
    rows = []
    for board, settings in campaign.boards().items():
        for setting, views in settings.items():
            outcomes = sorted({view["outcome"] for view in views})
            for outcome in (None, *outcomes):
                part = [view for view in views if outcome in (None, view["outcome"])]
                where = {"setting": setting, "group_by": outcome and "outcome", "group": outcome}
                rows += [row | where for row in _numbers(board, part)]
    return rows


def _numbers(board: Board, views: Sequence[Row]) -> list[Row]:
    scored = [view for view in views if view["scored"]]
    found, unscored = self_judgement(scored), unscored_in(views)

    def row(name: str, estimate: Estimate, method: str) -> Row:
        return number_row(board, "self_judgement", name, estimate, unit="runs", unscored=unscored, method=method)

    counts = found.row()
    return [
        *(row(name, Estimate(value=float(counts[name]), n=len(scored)), CONFUSION_METHOD) for name in _CELLS),
        row("overconfidence_rate", found.overconfidence, OVER_METHOD),
        row("right", found.right, RIGHT_METHOD),
    ]


def judge_and_checks_rows(campaign: Observed) -> list[Row]:
    """Each judge that is a model beside each that is a program: by setting, and all settings together."""
    rows = []
    boards = campaign.boards()
    for board, settings in boards.items():
        for other, checked in boards.items() if board.kind == "agent" else ():
            if other.kind == "checks":
                shared = [name for name in settings if name in checked]
                for names in ([name] for name in shared):
                    rows += [row | {"setting": names[0]} for row in _beside(board, other, settings, checked, names)]
                if len(shared) > 1:
                    rows += _beside(board, other, settings, checked, shared)
    return rows


def _beside(
    board: Board,
    other: Board,
    settings: dict[str, list[Row]],
    checked: dict[str, list[Row]],
    names: Sequence[str],
) -> list[Row]:
    by_run = {run_key(view["run"]): measured(view, SUCCESS) for name in names for view in checked[name]}
    answers = [
        (view["run"]["claim"], measured(view, SUCCESS), by_run[run_key(view["run"])])
        for name in names
        for view in settings[name]
        if run_key(view["run"]) in by_run
    ]
    if not answers:
        return []
    pairs = [
        Pair(cluster=claim, judge=int(one), human=int(two))
        for claim, one, two in answers
        if one is not None and two is not None
    ]
    found = agreement(pairs, (0, 1), quadratic=False)
    (neither, checks_only), (judge_only, both) = found.confusion
    counts = {"both_succeed": both, "judge_alone": judge_only, "checks_alone": checks_only, "both_fail": neither}
    unscored = len(answers) - len(pairs)

    def row(name: str, estimate: Estimate, method: str) -> Row:
        made = number_row(board, "checks", name, estimate, unit="runs", unscored=unscored, method=method)
        return made | {"other": other.judge, "scripted": board.scripted or other.scripted}

    return [
        *(row(name, Estimate(value=float(count), n=found.n), CELL_METHOD) for name, count in counts.items()),
        row("same", found.exact, SAME_METHOD),
        row("kappa", found.kappa, KAPPA_METHOD),
        row(
            "judge_less_checks",
            found.bias,
            "success rate by the judge less that by the checks, on the same runs; bootstrap over claims",
        ),
    ]
