"""`matproof m2m judge`: models compare systems, pair by pair, in both orders."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from matproof.commands.m2m.asking import answering, model_options, told, unfinished

if TYPE_CHECKING:
    from matproof.suites.matter_to_mechanism.judging import Comparison, Judgement


@click.command("judge")
@click.argument("rows", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--judge", "judges", multiple=True, required=True, help="A model of models.yaml; give it once a judge.")
@click.option("--script", "scripts", multiple=True, type=click.Path(path_type=Path), help="In place of each judge.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Judgements: .jsonl.")
@click.option(
    "--scores", multiple=True, type=click.Path(path_type=Path), help="Scores of ROWS, for agreement with CBS."
)
@click.option("--table", "summary", type=click.Path(path_type=Path), help="Also write the rates: .parquet, .csv, .md.")
@click.option("--pairs", type=click.IntRange(1), help="Problems for each pair of systems; by default all.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which problems are drawn.")
@model_options
def command(
    rows: tuple[Path, ...],
    judges: tuple[str, ...],
    scripts: tuple[Path, ...],
    output: Path,
    scores: tuple[Path, ...],
    summary: Path | None,
    pairs: int | None,
    seed: int,
    **asking: Any,
) -> None:
    """Let models compare the systems of ROWS on the problems that they share.

    Each comparison is made twice, with the sides exchanged; the judge sees A and B and no names. What can't be read is
    asked for once more, then listed as unscored. Limits hold for each judge. A stopped job goes on with the same
    command and repeats no call.

    \b
    Examples:
      matproof m2m judge rows.parquet --judge claude-sonnet-4-6 --judge gpt-5.4-2026-03-05 --pairs 50 \\
        --scores scores.parquet -o judgements.jsonl --table agreement.parquet
      matproof m2m judge rows.parquet --judge scripted-judge --script judge.yaml -o judgements.jsonl
    """
    from matproof.core.errors import InputError, MatproofError
    from matproof.core.files import to_json, write_text
    from matproof.core.outputs import check_output
    from matproof.suites.matter_to_mechanism.columns import SYSTEM
    from matproof.suites.matter_to_mechanism.judging import comparisons, joined
    from matproof.suites.matter_to_mechanism.judging_agreement import agreement, agreement_text
    from matproof.suites.matter_to_mechanism.rows import read_rows, require
    from matproof.suites.matter_to_mechanism.scored import load_scores
    from matproof.tables.m2m import check_table, write_m2m

    _check(judges, scripts, output)
    check_output(output, *rows, *scores, *scripts)
    if summary is not None:
        check_table(summary, *rows, *scores)
    scored = load_scores(scores) if scores else None
    tables = []
    for path in rows:
        tables.append(read_rows(path))
        require(tables[-1], path, dict.fromkeys(("paper_id", "problem_statement", "hypothesis", SYSTEM), "judge"))
    given = comparisons(joined(tables), pairs=pairs, seed=seed)
    if not given:
        raise InputError(rows[0], SYSTEM, "no two systems share a problem", "give rows of at least two systems")
    found: list[Judgement] = []
    error: MatproofError | None = None
    for number, judge in enumerate(judges):
        more, problem = _one_judge(judge, scripts[number] if scripts else None, given, output, asking)
        found += more
        error = error or problem
    if error is not None and not asking["partial"]:
        raise error
    write_text(output, "".join(to_json(one, indent=None) + "\n" for one in found))
    cbs = None
    if scored is not None:
        frame = scored.frame.dropna(subset=["cbs"])
        cbs = dict(zip(zip(frame["paper_id"], frame["system"], strict=True), frame["cbs"].tolist(), strict=True))
    rates = agreement(found, cbs)
    text = agreement_text(rates)
    click.echo(text)
    click.echo(output)
    if summary is not None:
        write_m2m(summary, "m2m_judgements", rates, scored.notes() if scored else {}, f"# Judges\n\n{text}\n")
        click.echo(summary)
    if error is not None:
        raise error


def _one_judge(
    judge: str, script: Path | None, given: "list[Comparison]", output: Path, asking: dict[str, Any]
) -> "tuple[list[Judgement], Any]":
    """All judgements of one judge, and the error with which it ended, if with one."""
    from matproof.suites.matter_to_mechanism.answering import calls_file, open_answerer
    from matproof.suites.matter_to_mechanism.asking import Asker
    from matproof.suites.matter_to_mechanism.interview import cost_words
    from matproof.suites.matter_to_mechanism.judging import judge_all

    answerer = open_answerer(answering(judge, asking, script=script))
    with Asker(answerer.asked, calls_file(output, answerer)) as asker:
        worked = judge_all(given, asker, parallel=asking["parallel"])
        usage, remembered = asker.usage(), asker.remembered
    done = [worked.results[index] for index in sorted(worked.results)]
    lost = [one for one in done if one.winner is None]
    told([f"{one.paper_id}, {one.system_a} and {one.system_b}: {one.unscored_reason}" for one in lost], "unscored")
    cost = cost_words(usage.cost_usd, scripted=answerer.asked.backend.scripted)
    click.echo(
        f"{judge}: {len(done)} judgements of {len(given)} pairs, {len(lost)} unscored · "
        f"{usage.requests} requests, {remembered} from the record · {cost}"
    )
    total = 2 * len(given)
    return done, unfinished(worked.stopped, worked.lost, worked.unfinished(total), total)


def _check(judges: tuple[str, ...], scripts: tuple[Path, ...], output: Path) -> None:
    from matproof.core.errors import InputError
    from matproof.suites.matter_to_mechanism.generation import check_name

    if output.suffix != ".jsonl":
        raise InputError(output, "", "judgements are lines of JSON", "name it .jsonl")
    if len(set(judges)) != len(judges):
        raise InputError("--judge", "", "the same judge twice", "give each judge once")
    if scripts and len(scripts) != len(judges):
        raise InputError("--script", "", f"{len(scripts)} for {len(judges)} judges", "give one for each judge, or none")
    for judge in judges:
        check_name(judge, scripted=bool(scripts), option="--judge")
