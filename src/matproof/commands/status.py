"""`matproof status`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from matproof.tables.standing import Standing

MOST_LISTED = 20
"""Runs of one state that are listed without `--all`."""


@click.command("status")
@click.option(
    "--configfile", default="config/config.yaml", show_default=True, type=click.Path(exists=True, path_type=Path)
)
@click.option("--claim", help="Only this claim: its directory name or id.")
@click.option("--all", "everything", is_flag=True, help="List every run.")
@click.option("--json", "as_json", is_flag=True, help="The same as JSON, for programs.")
@click.option("--watch", is_flag=True, help="Look again until everything is done, or Ctrl-C.")
@click.option("--interval", default=5.0, show_default=True, help="Seconds between two looks, with --watch.")
def command(configfile: Path, claim: str | None, everything: bool, as_json: bool, watch: bool, interval: float) -> None:
    """Where the campaign stands: queued, running, to judge, done, lost, and the money so far.

    Reads files and asks no scheduler: it is right while nothing runs, on any host that sees the results, and costs the
    cluster nothing. Paths in the configuration start in the current directory.

    \b
    Examples:
      matproof status
      matproof status --claim MD-0002 --all
      matproof status --watch
    """
    import time

    from matproof.config.campaign import Campaign
    from matproof.core.files import read_model
    from matproof.tables.standing import standings

    config = read_model(Campaign, configfile).model_dump()
    while True:
        found = [each for each in standings(config, Path()) if _is_of(each, claim)]
        text = _as_json(found, config) if as_json else "\n".join(_lines(found, config, everything))
        if watch and not as_json:
            click.clear()
        click.echo(text)
        if not watch or all(each.state == "done" for each in found):
            return
        time.sleep(interval)


def _is_of(standing: "Standing", claim: str | None) -> bool:
    return claim is None or claim in (standing.claim, standing.claim.partition("_")[0])


def _lines(found: "list[Standing]", config: dict[str, Any], everything: bool) -> list[str]:
    from tabulate import tabulate

    from matproof.tables.standing import STATES, counted

    lines = [_runs(len(found)) + _summary(found), _money(config), ""]
    rows = [
        [setting, *(count.states.get(state, 0) for state in STATES), _outcomes(count.outcomes)]
        for setting, count in counted(found).items()
    ]
    lines += [tabulate(rows, headers=["setting", *STATES, "ended"], tablefmt="simple"), ""]
    for state in STATES if everything else ("running", "lost"):
        listed = [each for each in found if each.state == state]
        shown = listed if everything else listed[:MOST_LISTED]
        lines += [_line(each) for each in shown]
        if len(shown) < len(listed):
            lines.append(f"… and {len(listed) - len(shown)} more {state}; --all lists every run")
    return lines


def _runs(number: int) -> str:
    return f"{number} run: " if number == 1 else f"{number} runs: "


def _summary(found: "list[Standing]") -> str:
    from matproof.tables.standing import STATES

    numbers = [(sum(each.state == state for each in found), state) for state in STATES]
    return ", ".join(f"{number} {state}" for number, state in numbers if number) or "none"


def _outcomes(outcomes: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(outcomes.items()))


def _line(standing: "Standing") -> str:
    name = f"{standing.claim}/{standing.setting}/{standing.repeat}"
    if standing.state == "running" and standing.owner is not None:
        where = f"job {standing.owner.job} on {standing.owner.host}" if standing.owner.job else standing.owner.host
        return f"running   {name}  {_clock(standing.seconds)}  {standing.phase or 'starting'}  {where}"
    if standing.state == "lost":
        attempts = f"{standing.attempts} attempt{'s' if standing.attempts != 1 else ''}"
        return f"lost      {name}  {attempts}: {_one_line(standing.reason)}"
    judged = f"judged by {', '.join(standing.judged)}" if standing.judged else ""
    missing = f"no judgement of {', '.join(standing.unjudged)}" if standing.state == "to judge" else ""
    return f"{standing.state:<9} {name}  {'; '.join(filter(None, (standing.outcome, judged, missing)))}".rstrip()


def _one_line(text: str | None) -> str:
    """Words of an attempt's reason, which may quote a program: control characters would move the cursor."""
    shown = "".join(character if character.isprintable() else " " for character in text or "unknown")
    return shown[:200]


def _money(config: dict[str, Any]) -> str:
    """What the campaign spent, all attempts and judgings, beside its caps; what is unknown is said."""
    from matproof.records.ledger import spent

    spending, caps = spent(Path(config["results"])), config["budget"]["campaign"]
    dollars = f"${spending.usd_counted:.2f}" + (f" counted ({spending.usd_reason})" if spending.usd is None else "")
    amounts = [
        dollars + _of(caps["cost_usd"], "${:.2f}"),
        f"{spending.tokens:,} tokens" + _of(caps["tokens"], "{:,}"),
        f"{_hours(spending.gpu_h)} GPU hours" + _of(caps["gpu_h"], "{:g}"),
    ]
    if spending.under_way:
        amounts.append(f"{spending.under_way} requests under way")
    rehearsed = spending.rehearsed
    played = f"; scripted answers would have been {rehearsed.tokens:,} tokens" if rehearsed and rehearsed.tokens else ""
    return f"spent: {', '.join(amounts)}{played}"


def _hours(number: float) -> str:
    """Tenths, and below one hour what there is."""
    return f"{number:.1f}" if number >= 1 or number == 0 else f"{number:.2g}"


def _of(cap: float | None, form: str) -> str:
    return "" if cap is None else f" of {form.format(cap)}"


def _as_json(found: "list[Standing]", config: dict[str, Any]) -> str:
    from dataclasses import asdict

    from matproof.core.files import to_json
    from matproof.records.ledger import spent

    runs = [asdict(each) | {"seconds": each.seconds} for each in found]
    return to_json({"spent": asdict(spent(Path(config["results"]))), "runs": runs})


def _clock(seconds: float | None) -> str:
    if seconds is None:
        return "since an unknown time"
    minutes, hours = int(seconds) // 60, int(seconds) // 3600
    return f"{hours}:{minutes % 60:02d}:{int(seconds) % 60:02d}"
