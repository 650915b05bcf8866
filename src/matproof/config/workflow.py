"""What the Snakefile asks: files, targets and resources of a campaign. Light on purpose.

Every Snakemake process, on Slurm two a job, imports this module, so it imports only the standard library and YAML,
reads a claim's metadata once, and looks at a directory only when a rule needs it.
"""

import functools
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matproof.core.errors import InputError

Config = Mapping[str, Any]
_PARTS = ("agent_view", "meta")
"""A directory with one of these is a claim: where the other is missing, the station that needs it says so."""


def claims(config: Config) -> list[str]:
    """Directory names of the campaign's claims, less those whose software is missing where that is allowed."""
    chosen = config.get("claims", "all")
    names = _all_claims(config["tasks"]) if chosen == "all" else tuple(chosen)
    if not config.get("skip_missing_software", False):
        return list(names)
    return [name for name in names if _has_software(config["tasks"], name)]


def run_files(config: Config) -> list[str]:
    """Every run.json of the campaign."""
    repeats = range(1, config.get("repeats", 1) + 1)
    return [
        f"{config['results']}/runs/{claim}/{setting}/{repeat}/run.json"
        for claim in claims(config)
        for setting in config["settings"]
        if _runs_on(config, setting, claim)
        for repeat in repeats
    ]


def evaluation_files(config: Config) -> list[str]:
    """Every evaluation of the campaign."""
    return [
        f"{run.removesuffix('/run.json')}/evaluations/{judge}.json"
        for run in run_files(config)
        for judge in config["judges"]
    ]


@functools.cache
def paper_files(tasks: str, claim: str) -> list[str]:
    """What `parse` reads: `paper.md` where there is one, and the PDFs."""
    view = Path(tasks, claim, "agent_view")
    return [path for path in _files(view, deep=False) if path.endswith(("/paper.md", ".pdf", ".PDF"))]


@functools.cache
def package_files(tasks: str, claim: str, audience: str) -> list[str]:
    """What `package` reads for the agent or for judges: an edit of hidden files never redoes a run."""
    root = Path(tasks, claim)
    if audience == "judge":
        shown = _files(root / "agent_view", deep=False, names=("claim.txt",))
        return _files(root / "reference") + shown + _files(root / "meta", deep=False, names=("claim.yaml", "claim.md"))
    return _files(root / "meta", deep=False, names=("claim.yaml",)) + _files(root / "agent_view")


@functools.cache
def resource(tasks: str, claim: str, name: str) -> int:
    """`cpus`, `memory_mb`, `gpus` or `walltime_min` of a claim."""
    stated = _yaml(f"{tasks}/{claim}/meta/claim.yaml").get("resources") or {}
    if name == "memory_mb":
        return max(2000, int(1000 * float(stated.get("memory_gb", 2))) + 1000)
    if name == "walltime_min":
        return max(5, int(60 * float(stated.get("walltime_h", 1))) + 5)
    return int(stated.get(name, 1 if name == "cpus" else 0))


@functools.cache
def _all_claims(tasks: str) -> tuple[str, ...]:
    with os.scandir(tasks) as entries:
        found = [entry.name for entry in entries if any(Path(entry.path, part).is_dir() for part in _PARTS)]
    return tuple(sorted(found))


def _runs_on(config: Config, setting: str, claim: str) -> bool:
    only = _yaml(f"{config['config_dir']}/settings/{setting}.yaml").get("claims")
    return only is None or claim in only


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
    data = yaml.load(text, Loader=loader)  # noqa: S506 - a safe loader
    return data if isinstance(data, dict) else {}


def _files(root: Path, *, deep: bool = True, names: tuple[str, ...] | None = None) -> list[str]:
    found = []
    for folder, inner, files in os.walk(root):
        found += [f"{folder}/{name}" for name in files if names is None or name in names]
        if not deep:
            inner.clear()
    return sorted(found)


def rerun_arguments(config: Config, claim: str, settings: tuple[str, ...], repeat: int | None) -> list[str]:
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
