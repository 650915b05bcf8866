"""What the Snakefile asks: files, targets and resources of a campaign. Light on purpose.

Every Snakemake process, on Slurm two a job, imports this module, so it imports only the standard library and YAML,
reads a claim's metadata once, and looks at a directory only when a rule needs it.
"""

import functools
import math
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from matproof.core.errors import InputError

Config = Mapping[str, Any]
COLLECT_SELDOM = (100_000, 50, 1000)
"""Thresholds of Python's garbage collector: a large DAG is millions of objects that live to its end, and looking them
through again and again is a tenth of what planning costs."""
MOST_MISSING = 20
"""Missing files that are named, one a line."""
HARNESS_MB = 1000
"""Memory of a run beside the claim's own: the harness and the agent's client."""
JUDGING_H = 0.5
"""Hours of a judgement by an agent that has no limit of its own."""
CHECKING_MIN = 10
"""Minutes of the batch job of a judge without a model."""
_PARTS = ("agent_view", "meta")
"""A directory with one of these is a claim: where the other is missing, the station that needs it says so."""


def complete(config: dict[str, Any], schema_file: str) -> None:
    """Fill in defaults; raise Snakemake's WorkflowError, in one line, for the first thing that is wrong.

    Names are looked up now: Snakemake would plan around a judge that does not exist where all else is up to date.
    """
    import gc
    import json

    from snakemake.exceptions import WorkflowError

    gc.set_threshold(*COLLECT_SELDOM)

    schema = json.loads(Path(schema_file).read_text(encoding="utf-8"))
    for name, described in schema["properties"].items():
        if "default" in described:
            config.setdefault(name, described["default"])
    problem = _wrong_shape(config, schema) or _wrong_names(config)
    if problem is not None:
        raise WorkflowError(f"configuration: {problem}")


def _wrong_shape(config: Config, schema: dict[str, Any]) -> str | None:
    from jsonschema import Draft202012Validator

    errors = sorted(
        Draft202012Validator(schema).iter_errors(dict(config)), key=lambda error: list(map(str, error.absolute_path))
    )
    if not errors:
        return None
    field = ".".join(str(part) for part in errors[0].absolute_path) or "(whole file)"
    return f"{field}: {errors[0].message}; see docs/running.md"


def _wrong_names(config: Config) -> str | None:
    tasks, folder = config["tasks"], config["config_dir"]
    if not Path(tasks).is_dir():
        return f"tasks: there is no directory {tasks!r}"
    for kind in ("settings", "judges"):
        for name in config[kind]:
            if not Path(folder, kind, f"{name}.yaml").is_file():
                return f"{kind}: {name!r} has no file {folder}/{kind}/{name}.yaml"
    chosen = config.get("claims", "all")
    known = _all_claims(tasks)
    if not known or not chosen:
        return f"claims: there is none to run in {tasks!r}"
    if chosen != "all" and (unknown := next((name for name in chosen if name not in known), None)) is not None:
        meant = next((name for name in known if name.partition("_")[0] == unknown), None)
        hint = f"; give the directory name {meant!r}" if meant else f"; see the directories in {tasks!r}"
        return f"claims: there is no {unknown!r}{hint}"
    return None


def claims(config: Config) -> list[str]:
    """Directory names of the campaign's claims, less those whose software is missing where that is allowed."""
    chosen = config.get("claims", "all")
    names = _all_claims(config["tasks"]) if chosen == "all" else tuple(chosen)
    if not config.get("skip_missing_software", False):
        return list(names)
    return [name for name in names if _has_software(config["tasks"], name)]


def settings(config: Config) -> list[str]:
    """Names of the campaign's settings, less those whose software is missing where that is allowed."""
    if not config.get("skip_missing_software", False):
        return list(config["settings"])
    return [name for name in config["settings"] if _has_client(config["config_dir"], name)]


def run_files(config: Config) -> list[str]:
    """Every run.json of the campaign."""
    repeats = range(1, config.get("repeats", 1) + 1)
    return [
        f"{config['results']}/runs/{claim}/{setting}/{repeat}/run.json"
        for claim in claims(config)
        for setting in settings(config)
        if _runs_on(config, setting, claim)
        for repeat in repeats
    ]


def evaluation_files(config: Config, runs: Iterable[str] | None = None) -> list[str]:
    """Every evaluation of the campaign, or of these `runs` of it."""
    return [
        f"{run.removesuffix('/run.json')}/evaluations/{judge}.json"
        for run in (run_files(config) if runs is None else runs)
        for judge in config["judges"]
    ]


def tell_missing(config: Config) -> None:
    """Say on standard error which runs and judgements of the campaign are not there, one a line, and what to do."""
    runs = [path for path in run_files(config) if not Path(path).is_file()]
    lost = {str(Path(run).parent) for run in runs}
    judgements = [path for path in evaluation_files(config) if not Path(path).is_file()]
    judgements = [path for path in judgements if str(Path(path).parents[1]) not in lost]
    told = [f"no run:       {path}" for path in runs] + [f"no judgement: {path}" for path in judgements]
    if len(told) > MOST_MISSING:
        told[MOST_MISSING:] = [f"… and {len(told) - MOST_MISSING} more"]
    advice = "Start the same command again for these; the target `leaderboard` makes tables and report without them."
    if told:
        print(*told, advice, sep="\n", file=sys.stderr)


@functools.cache
def paper_files(tasks: str, claim: str) -> list[str]:
    """What `parse` reads: `paper.md` where there is one, and the PDFs."""
    view = Path(tasks, claim, "agent_view")
    return [path for path in _files(view, deep=False) if path.endswith(("/paper.md", ".pdf", ".PDF"))]


@functools.cache
def package_files(tasks: str, claim: str, audience: str) -> list[str]:
    """What `package` reads for the agent or for judges.

    `reference/` is read for judges only, so an edit there never redoes a run. `meta/claim.yaml`, hidden too, is read
    for both: the names of its quantities are shown to the agent, so an edit of it does.
    """
    root = Path(tasks, claim)
    if audience == "judge":
        shown = _files(root / "agent_view", deep=False, names=("claim.txt",))
        return _files(root / "reference") + shown + _files(root / "meta", deep=False, names=("claim.yaml", "claim.md"))
    return _files(root / "meta", deep=False, names=("claim.yaml",)) + _files(root / "agent_view")


@functools.cache
def resource(tasks: str, claim: str, name: str) -> int:
    """`cpus`, `gpus` or `memory_mb` of a claim."""
    stated = _stated(tasks, claim)
    if name == "memory_mb":
        return max(2000, int(1000 * float(stated.get("memory_gb", 2))) + HARNESS_MB)
    if name == "gpus":
        return int(stated.get("gpus", 0))
    return int(stated.get("cpus", 1))


@functools.cache
def run_resource(tasks: str, folder: str, claim: str, setting: str, name: str) -> int:
    """`cpus`, `gpus` or `memory_mb` of a run's own job: the claim's, or little where its steps are jobs themselves."""
    whole = resource(tasks, claim, name)
    steps = _steps_elsewhere(folder, setting)
    if steps is None:
        return whole
    if name == "gpus":
        return 0
    if name == "cpus":
        return min(whole, int(steps.get("host_cpus", 2)))
    return min(whole, max(2000, int(1000 * float(steps.get("host_memory_gb", 4))) + HARNESS_MB))


def _steps_elsewhere(folder: str, setting: str) -> dict[str, Any] | None:
    """`steps` of a setting whose steps are Slurm jobs of their own."""
    steps = _yaml(f"{folder}/settings/{setting}.yaml").get("steps")
    return steps if isinstance(steps, dict) and steps.get("executor") == "slurm" else None


@functools.cache
def walltime_min(tasks: str, folder: str, claim: str, setting: str) -> int:
    """Minutes of the batch job of a run: the shorter of the claim's and the setting's, and what the harness needs."""
    limit = _yaml(f"{folder}/settings/{setting}.yaml").get("limits") or {}
    hours = [_stated(tasks, claim).get("walltime_h") or 1, limit.get("walltime_h")]
    return _minutes(min(float(h) for h in hours if h is not None))


@functools.cache
def judging_min(folder: str, judge: str) -> int:
    """Minutes of the batch job of one judge: as long as all of its judgings of a run may take."""
    chosen = _yaml(f"{folder}/judges/{judge}.yaml")
    answers = chosen.get("answers")
    if answers is None:
        return CHECKING_MIN
    once = float((answers.get("limits") or {}).get("walltime_h") or JUDGING_H)
    return _minutes(once * int(chosen.get("repeats") or 1))


@functools.cache
def constraint(tasks: str, folder: str, claim: str, setting: str) -> str | None:
    """Node features that the claim and the setting ask for, as Slurm's `--constraint` takes them.

    Where steps are jobs of their own, those have the claim's, and the run's own job the setting's.
    """
    asked = [_yaml(f"{folder}/settings/{setting}.yaml").get("constraint")]
    if _steps_elsewhere(folder, setting) is None:
        asked.insert(0, _stated(tasks, claim).get("constraint"))
    return "&".join(str(feature) for feature in asked if feature) or None


@functools.cache
def _all_claims(tasks: str) -> tuple[str, ...]:
    with os.scandir(tasks) as entries:
        found = [entry.name for entry in entries if any(Path(entry.path, part).is_dir() for part in _PARTS)]
    return tuple(sorted(found))


def _stated(tasks: str, claim: str) -> dict[str, Any]:
    return _yaml(f"{tasks}/{claim}/meta/claim.yaml").get("resources") or {}


def _minutes(hours: float) -> int:
    """Of the batch job of a station that takes `hours`: what it needs to start, and to save its evidence, on top."""
    return math.ceil(60 * hours) + 5


def _runs_on(config: Config, setting: str, claim: str) -> bool:
    only = _yaml(f"{config['config_dir']}/settings/{setting}.yaml").get("claims")
    return only is None or claim in only


@functools.cache
def _has_client(folder: str, setting: str) -> bool:
    requires = _yaml(f"{folder}/settings/{setting}.yaml").get("requires") or {}
    missing = [program for program in requires.get("commands", []) if shutil.which(program) is None]
    if missing:
        remedy = f" ({requires['remedy']})" if requires.get("remedy") else ""
        print(f"skipping setting {setting}: {', '.join(missing)} not found{remedy}", file=sys.stderr)
    return not missing


@functools.cache
def _has_software(tasks: str, claim: str) -> bool:
    requires = _yaml(str(Path(tasks, claim, "meta", "claim.yaml"))).get("requires") or {}
    missing = [program for program in requires.get("commands", []) if shutil.which(program) is None]
    if missing:
        packages = " ".join(requires.get("apt", []))
        remedy = f" (apt-get install {packages})" if packages else ""
        print(f"skipping {claim}: {', '.join(missing)} not found{remedy}", file=sys.stderr)
    return not missing


@functools.cache
def _yaml(path: str) -> dict[str, Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    try:
        data = yaml.load(text, Loader=loader)  # noqa: S506 - a safe loader
    except yaml.YAMLError:
        # Planning goes on for the other claims; the station that needs this file says what is wrong with it.
        print(f"{path}: not valid YAML; what needs it will fail", file=sys.stderr)
        return {}
    return data if isinstance(data, dict) else {}


def _files(root: Path, *, deep: bool = True, names: tuple[str, ...] | None = None) -> list[str]:
    found = []
    for folder, inner, files in os.walk(root):
        found += [f"{folder}/{name}" for name in files if names is None or name in names]
        if not deep:
            inner.clear()
    return sorted(found)


def runs_of(config: Config, claim: str, settings: tuple[str, ...], repeat: int | None) -> list[str]:
    """The run.json files of one claim, by directory name or id. Raises InputError where nothing matches."""
    runs = []
    for run in run_files(config):
        name, setting, number = run.removesuffix("/run.json").split("/")[-3:]
        chosen = claim in (name, name.partition("_")[0]) and (not settings or setting in settings)
        if chosen and repeat in (None, int(number)):
            runs.append(run)
    if not runs:
        raise InputError(
            "config",
            claim,
            "no run of this campaign has this claim, setting and repeat",
            "look at claims, settings and repeats there",
        )
    return runs
