"""Stopping what runs: Snakemake, stations on this host, Slurm jobs; each by its number, never by a name alone.

A process counts as the campaign's where it belongs to this user and works in this directory; a Slurm job, where it was
submitted from this directory and its comment is one of ours. What is on another host without a job can only be named.
"""

import os
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

from matproof.core.clock import elapsed
from matproof.core.processes import run
from matproof.core.slurm import is_unconfigured
from matproof.records.cancelling import wish
from matproof.records.owner import read_owner
from matproof.records.places import Results, RunPlace
from matproof.tables.standing import Standing

_STATIONS = ("reproduce", "evaluate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What a person wants stopped; without a claim and settings, all of it."""

    claim: str | None
    settings: tuple[str, ...]

    @property
    def is_all(self) -> bool:
        """Whether the whole campaign is meant."""
        return self.claim is None and not self.settings

    def has(self, claim: str, setting: str) -> bool:
        """Whether a run of `claim` under `setting` is meant."""
        right_claim = self.claim is None or self.claim in (claim, claim.partition("_")[0])
        return right_claim and (not self.settings or setting in self.settings)


@dataclass(frozen=True, slots=True)
class Job:
    """One Slurm job of this campaign."""

    number: str
    state: str
    rule: str
    claim: str
    setting: str

    @property
    def words(self) -> str:
        """For a person."""
        return f"Slurm job {self.number} ({self.rule} {self.claim} {self.setting}, {self.state.lower()})"


def stop(
    found: Iterable[Standing],
    selection: Selection,
    *,
    results: Path,
    patience_s: float,
    dry_run: bool,
    tell: Callable[[str], None],
) -> list[str]:
    """Stop what `selection` names, telling each; returns what may still go on after `patience_s` seconds."""
    running = [each for each in found if each.state == "running"]
    judging = [each for each in found if each.state == "to judge"]
    places = {_name(each): Results(results).run(each.claim, each.setting, each.repeat) for each in running}
    drivers = snakemakes(Path.cwd()) if selection.is_all else []
    stations = [process for process in stations_here(Path.cwd()) if selection.has(*_subject(process))]
    jobs, silence = slurm_jobs(Path.cwd())
    jobs = [job for job in jobs if selection.has(job.claim, job.setting)]
    says = "would stop" if dry_run else "stopping"
    for driver in drivers:
        tell(f"{says} Snakemake, process {driver.pid}")
    for job in jobs:
        tell(f"{says} {job.words}")
    for station in stations:
        tell(f"{says} {' '.join(_subject(station))}, process {station.pid}")
    elsewhere = [each for each in running if each.owner is not None and not each.owner.is_here and not each.owner.job]
    for each in elsewhere:
        tell(f"can't reach {_name(each)}: process {each.owner and each.owner.pid} on {each.owner and each.owner.host}")
    if silence is not None:
        tell(f"Slurm does not answer ({silence}): its jobs go on; do this again when it answers")
    elif not (drivers or jobs or stations or elsewhere):
        tell("nothing runs here")
    unknown = [] if silence is None else ["jobs of Slurm"]
    if dry_run:
        return unknown
    for each in (*running, *judging):
        wish(Results(results).run(each.claim, each.setting, each.repeat))
    _signal(drivers, signal.SIGINT)
    _cancel(jobs, tell)
    _signal(stations, signal.SIGTERM)
    return [*_wait(places, patience_s, tell), *unknown]


def snakemakes(directory: Path) -> list[psutil.Process]:
    """Snakemake processes of this user that work in `directory` and were started by no other of them."""
    found = [process for process in _mine(directory) if _is_snakemake(process)]
    numbers = {process.pid for process in found}
    return [process for process in found if process.ppid() not in numbers]


def stations_here(directory: Path) -> list[psutil.Process]:
    """Stations of this user that work in `directory` on this host."""
    return [process for process in _mine(directory) if _subject(process) != ("", "")]


def slurm_jobs(directory: Path) -> tuple[list[Job], str | None]:
    """Slurm jobs of this user that wait or run and were submitted from `directory`, and why Slurm gave no answer.

    Where it is not installed there is no job, and nothing to be answered.
    """
    try:
        asked = run(["squeue", f"--user={os.getuid()}", "--noheader", "--format=%A|%T|%Z|%k"], timeout_s=60)
    except OSError:
        return [], None
    if not asked.ok:
        if is_unconfigured(asked.stderr):
            return [], None  # programs of a Slurm that knows no cluster: no job can be there
        return [], " ".join(asked.stderr.split()) or asked.ending
    jobs = []
    for line in asked.stdout.splitlines():
        number, state, place, comment = [*line.split("|", 3), "", "", ""][:4]
        said = dict(word.split("=", 1) for word in comment.split() if "=" in word)
        if comment.startswith("matproof ") and Path(place) == directory:
            jobs.append(Job(number, state, said.get("rule", ""), said.get("claim", ""), said.get("setting", "")))
    return jobs, None


def _mine(directory: Path) -> list[psutil.Process]:
    """Processes of this user that work in `directory`, without this one and what it was started by."""
    own = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid not in own and process.uids().real == os.getuid() and Path(process.cwd()) == directory:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def _argv(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return []


def _is_snakemake(process: psutil.Process) -> bool:
    return any(Path(word).name == "snakemake" for word in _argv(process)[:3])


def _subject(process: psutil.Process) -> tuple[str, str]:
    """(claim, setting) that a `matproof reproduce` or `matproof evaluate` process works on; empty for any other."""
    argv = _argv(process)
    for index, word in enumerate(argv[:3]):
        if Path(word).name == "matproof" and argv[index + 1 : index + 2] and argv[index + 1] in _STATIONS:
            option = "--out" if argv[index + 1] == "reproduce" else "--run"
            after = argv[argv.index(option) + 1 :] if option in argv else []
            parts = Path(after[0]).parts if after else ()
            return (parts[-4], parts[-3]) if len(parts) >= 4 else ("", "")
    return "", ""


def _name(standing: Standing) -> str:
    return f"{standing.claim}/{standing.setting}/{standing.repeat}"


def _signal(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            continue


def _cancel(jobs: list[Job], tell: Callable[[str], None]) -> None:
    if not jobs:
        return
    finished = run(["scancel", *(job.number for job in jobs)], timeout_s=60)
    if not finished.ok:
        tell(f"Slurm did not take it: {' '.join(finished.stderr.split())}")


def _wait(places: dict[str, RunPlace], patience_s: float, tell: Callable[[str], None]) -> list[str]:
    """Tell of each run that let go; returns those that did not in time."""
    import time

    until = elapsed() + patience_s
    while places and elapsed() < until:
        for name, place in list(places.items()):
            owner = read_owner(place.owner)
            if owner is None or owner.is_gone:
                tell(f"stopped {name}; its evidence is in {place.attempts}")
                del places[name]
        time.sleep(0.2)
    for name in places:
        tell(f"{name} still goes on after {patience_s:g} s; look at it with matproof status")
    return list(places)
