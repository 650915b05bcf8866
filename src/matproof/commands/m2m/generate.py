"""`matproof m2m generate`: a system writes hypotheses for problem rows."""

from pathlib import Path
from typing import Any

import click

from matproof.commands.m2m.asking import answering, model_options, script_option, told, unfinished

KINDS = ("direct", "weak-prompt", "retrieval", "co-scientist", "researcher", "endpoint")


@click.command("generate")
@click.argument("problems", type=click.Path(path_type=Path))
@click.option("--system", "kind", type=click.Choice(KINDS), required=True, help="Kind of system.")
@click.option("--name", required=True, help="What the system is called in every table.")
@click.option("--model", required=True, help="A name in models.yaml; for `endpoint`, what the server calls it.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Rows: .parquet or .csv.")
@click.option("--base-url", help="endpoint: address of an OpenAI-compatible server.")
@click.option("--key-env", help="endpoint: environment variable with the server's key, where it wants one.")
@click.option("--corpus", type=click.Path(path_type=Path), help="retrieval: rows to read from; by default PROBLEMS.")
@click.option("-k", type=click.IntRange(1, 20), default=3, show_default=True, help="retrieval: rows in the prompt.")
@click.option("--candidates", type=click.IntRange(2, 8), default=3, show_default=True, help="co-scientist: proposals.")
@click.option("--ideas", type=click.IntRange(2, 10), default=4, show_default=True, help="researcher: ideas.")
@script_option
@model_options
def command(
    problems: Path,
    kind: str,
    name: str,
    model: str,
    output: Path,
    base_url: str | None,
    key_env: str | None,
    corpus: Path | None,
    k: int,
    candidates: int,
    ideas: int,
    script: Path | None,
    **asking: Any,
) -> None:
    """Let a system write one hypothesis for each problem of PROBLEMS.

    It is given the problem side alone, never the row's own solution, its id or its year. Calls are kept in
    OUTPUT.calls: a stopped job goes on with the same command and repeats none. Replies without a hypothesis make no
    row; they are listed here and in OUTPUT.generation.json.

    \b
    Examples:
      matproof m2m generate problems.csv --system direct --name gpt-direct --model gpt-5.4-2026-03-05 -o rows.parquet
      matproof m2m generate problems.csv --system endpoint --name chemdfm --model ChemDFM-8B \\
        --base-url http://gpu07:8000/v1 --max-output-tokens 2000 -o rows.parquet
      matproof m2m generate problems.csv --system direct --name scripted-a --model a --script a.yaml -o rows.parquet
    """
    from matproof.core.errors import InputError
    from matproof.core.outputs import check_output
    from matproof.suites.matter_to_mechanism.answering import calls_file, open_answerer
    from matproof.suites.matter_to_mechanism.asking import Asker
    from matproof.suites.matter_to_mechanism.columns import PROBLEM_COLUMNS
    from matproof.suites.matter_to_mechanism.generation import (
        check_name,
        generate,
        record_path,
        system_of,
        write_generation,
    )
    from matproof.suites.matter_to_mechanism.interview import cost_words
    from matproof.suites.matter_to_mechanism.problems import problems_of
    from matproof.suites.matter_to_mechanism.retrieval import Retrieval, notes_of
    from matproof.suites.matter_to_mechanism.rows import read_rows, require

    _check(kind, script, base_url, key_env, output)
    check_output(output, problems, *([corpus] if corpus is not None else []))
    check_name(name, scripted=script is not None)
    table = read_rows(problems)
    require(table, problems, dict.fromkeys(PROBLEM_COLUMNS, "generate"))
    retrieval = None
    if kind == "retrieval":
        source = corpus or problems
        rows = table if corpus is None else read_rows(source)
        require(rows, source, dict.fromkeys((*PROBLEM_COLUMNS, "hypothesis"), "the corpus of retrieval"))
        retrieval = Retrieval(notes_of(rows), own=table)
    elif corpus is not None:
        raise InputError("--corpus", "", f"a {kind} system reads no corpus", "leave it out")
    asked = problems_of(table)
    system = system_of(kind, retrieval=retrieval, k=k, candidates=candidates, ideas=ideas)
    answerer = open_answerer(answering(model, asking, script=script, base_url=base_url, key_env=key_env))
    with Asker(answerer.asked, calls_file(output, answerer)) as asker:
        done = generate(asked, system, asker, parallel=asking["parallel"])
        usage, remembered = asker.usage(), asker.remembered
        error = unfinished(done.worked.stopped, done.worked.lost, len(asked) - len(done.generated), len(asked))
        if error is None or asking["partial"]:
            write_generation(done, output, kind=kind, name=name, asker=asker)
    if table.num_rows > len(asked):
        click.echo(f"{table.num_rows - len(asked)} further rows of the same papers left out", err=True)
    told([f"{one.problem.paper_id}: {one.reason}" for one in done.unusable], "without a hypothesis, no row")
    told([f"{one.problem.paper_id}: {'; '.join(one.notes)}" for one in done.noted], "rows not as asked")
    cost = cost_words(usage.cost_usd, scripted=answerer.asked.backend.scripted)
    click.echo(
        f"{name}: {len(done.written)} rows of {len(asked)} problems, {len(done.unusable)} without a hypothesis · "
        f"{usage.requests} requests, {remembered} from the record · {cost}"
    )
    if error is not None:
        raise error
    click.echo(output)
    click.echo(record_path(output))


def _check(kind: str, script: Path | None, base_url: str | None, key_env: str | None, output: Path) -> None:
    """Raises InputError for options that don't fit one another, before anything is asked."""
    from matproof.core.errors import InputError

    if output.suffix.lower() not in (".parquet", ".csv"):
        raise InputError(output, "", "not a table by its ending", "name it .parquet or .csv")
    if kind == "endpoint" and base_url is None and script is None:
        raise InputError("--base-url", "", "an endpoint system needs an address", "give http://host:port")
    if kind != "endpoint" and base_url is not None:
        raise InputError("--base-url", "", f"a {kind} system has a model of models.yaml", "use --system endpoint")
    if key_env is not None and base_url is None:
        raise InputError("--key-env", "", "is for --base-url alone", "name keys of other providers in models.yaml")
