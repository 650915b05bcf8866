"""What agents say of themselves beside what is true of their runs.

The truth of a run is whether it reproduced the claim: the evidence supports the claim, and the judge calls the run a
success or, where the judge is a program, the run's own numbers establish it. A contradicted claim is never reproduced,
so that there the right word is `not reproduced`. Where nobody has said what the evidence says of a claim, the judge's
word alone is the truth. Runs that the judge did not score have no truth and are in no cell.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matproof.tables.columns import Row
from matproof.tables.estimates import Estimate, count_estimate
from matproof.tables.words import one_line, share_text

_HEADERS = ("#", "setting", "judge", "supported", "contradicted", "yes", "no", "silent", "over")
BOARD_NOTE = (
    "supported, contradicted: success on claims that the evidence supports, and on those that it contradicts, where "
    "success is to find that out; yes, no: runs that say `reproduced`, and those that say `not reproduced`, of "
    "themselves, rightly/wrongly by this judge; over: overconfidence, the share saying yes among the runs that did not "
    "reproduce and said either"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfJudgement:
    """Counts of runs: what was said, and whether it was right."""

    said_yes_right: int
    said_yes_wrong: int
    """Overconfident."""
    said_no_right: int
    said_no_wrong: int
    """Underconfident."""
    said_nothing: int

    @property
    def overconfidence(self) -> Estimate:
        """Share of the runs that did not reproduce and say `reproduced`, among those that say either."""
        return count_estimate(self.said_yes_wrong, self.said_yes_wrong + self.said_no_right)

    @property
    def right(self) -> Estimate:
        """Share of self-judgements that are right."""
        number = self.said_yes_right + self.said_yes_wrong + self.said_no_right + self.said_no_wrong
        return count_estimate(self.said_yes_right + self.said_no_right, number)

    def row(self) -> Row:
        """The leaderboard's columns."""
        failed = self.said_yes_wrong + self.said_no_right
        return {
            "said_yes_right": self.said_yes_right,
            "said_yes_wrong": self.said_yes_wrong,
            "said_no_right": self.said_no_right,
            "said_no_wrong": self.said_no_wrong,
            "said_nothing": self.said_nothing,
            "overconfidence_rate": self.said_yes_wrong / failed if failed else None,
        }


def reproduced(view: Row) -> bool:
    """Whether a scored run reproduced its claim."""
    established = view["success"] is True if view["found"] is None else view["found"] == "supported"
    return established and view["outcome"] != "contradicted"


def self_judgement(scored: Iterable[Row]) -> SelfJudgement:
    """Counts over scored views."""
    cells = [(view["run"]["self_reproduced"], reproduced(view)) for view in scored]
    return SelfJudgement(
        said_yes_right=cells.count((True, True)),
        said_yes_wrong=cells.count((True, False)),
        said_no_right=cells.count((False, False)),
        said_no_wrong=cells.count((False, True)),
        said_nothing=sum(said is None for said, _ in cells),
    )


def board_lines(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """The leaderboard's second table for people, headers first."""
    lines: list[tuple[str, ...]] = [_HEADERS]
    for row in rows:
        failed = row["said_yes_wrong"] + row["said_no_right"]
        lines.append(
            (
                "–" if row["rank"] is None else str(row["rank"]),
                one_line(row["setting"]),
                one_line(row["judge"] or "none"),
                *(_success(row, outcome) for outcome in ("supported", "contradicted")),
                f"{row['said_yes_right']}/{row['said_yes_wrong']}",
                f"{row['said_no_right']}/{row['said_no_wrong']}",
                str(row["said_nothing"]),
                f"{share_text(row['overconfidence_rate'], None)} of {failed}" if failed else "–",
            )
        )
    return lines


def _success(row: Row, outcome: str) -> str:
    claims = row[f"{outcome}_claims"]
    return f"{share_text(row[f'{outcome}_success'], None)} of {claims}" if claims else "–"
