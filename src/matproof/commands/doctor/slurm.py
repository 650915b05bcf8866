"""What the cluster has, asked of Slurm itself, and the same checks once more on one of its nodes."""

import json
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from matproof.commands.doctor.findings import Finding
from matproof.core.processes import Finished, run

_PATIENCE_S = 60.0
_NODE_PATIENCE_S = 300.0
_OPTIONS = {"slurm_partition": "--partition", "slurm_account": "--account"}


def profile_resources(profile: Path) -> dict[str, str]:
    """`default-resources` of a Snakemake profile, without quotes; empty where it has none."""
    import yaml

    for name in ("config.yaml", "profile.yaml"):
        if (profile / name).is_file():
            data = yaml.safe_load((profile / name).read_text(encoding="utf-8")) or {}
            stated: Any = data.get("default-resources") or {}
            if isinstance(stated, list):
                stated = dict(str(word).split("=", 1) for word in stated if "=" in str(word))
            return {str(key): str(value).strip("\"'") for key, value in stated.items()}
    return {}


def cluster(profile: dict[str, str]) -> Iterator[Finding]:
    """Version, accounting, partitions, GPUs and the settings that decide how jobs end."""
    if shutil.which("sinfo") is None:
        yield Finding(
            "Slurm", "bad", "there is no sinfo on PATH", "run this on a login node, or load the site's module"
        )
        return
    listed = _ask("sinfo", "--noheader", "--format=%R|%a|%D|%l|%G|%c|%m")
    if not listed.ok:
        said = " ".join(listed.stderr.split())
        remedy = "run this on a submit host, set SLURM_CONF, or try again when it answers"
        yield Finding("Slurm controller", "bad", f"does not answer: {said}", remedy)
        return
    yield Finding("Slurm", "ok", " ".join(_ask("sinfo", "--version").stdout.split()))
    yield from _partitions(listed.stdout)
    yield from _profile(profile, {line.split("|")[0] for line in listed.stdout.splitlines()})
    accounting = _ask("sacct", "--noheader", "--allocations", "--starttime=now")
    how = "sacct answers" if accounting.ok else "none: jobs note their own exit status, and squeue says the rest"
    yield Finding("accounting", "ok", how)
    yield from _settings(_ask("scontrol", "show", "config").stdout)


def _partitions(text: str) -> Iterator[Finding]:
    for line in dict.fromkeys(text.splitlines()):
        name, state, nodes, limit, gpus, cores, memory = (line.split("|") + [""] * 7)[:7]
        extra = f", {gpus}" if gpus not in ("", "(null)") else ""
        found = f"{nodes} nodes of {cores} cores and {memory} MB{extra}, at most {limit}, {state}"
        yield Finding(f"partition {name}", "ok" if state == "up" else "weak", found)


def _profile(profile: dict[str, str], known: set[str]) -> Iterator[Finding]:
    partition = profile.get("slurm_partition")
    if partition and partition not in known:
        remedy = f"set slurm_partition in the profile to one of {', '.join(sorted(known))}"
        yield Finding("profile's partition", "bad", f"there is no {partition!r} here", remedy)
    else:
        yield Finding("profile's partition", "ok", partition or "none is named: Slurm's default is used")
    tried = _ask("sbatch", "--test-only", *_options(profile), "--time=1", "--mem=600M", "--wrap=true")
    if tried.ok:
        yield Finding("a job as the profile asks", "ok", "would be accepted")
    else:
        said = " ".join((tried.stderr or tried.stdout).split())
        yield Finding("a job as the profile asks", "bad", said, "change account or partition in the profile")


def _options(profile: dict[str, str]) -> list[str]:
    return [f"{flag}={profile[name]}" for name, flag in _OPTIONS.items() if profile.get(name)]


def _settings(config: str) -> Iterator[Finding]:
    stated: dict[str, str] = {}
    for line in config.splitlines():
        name, _, value = line.partition("=")
        stated[name.strip()] = value.strip()
    tracking = stated.get("ProctrackType", "unknown")
    weak = "cgroup" not in tracking
    remedy = "sandboxes end what they started by themselves; beyond that, ask the site for proctrack/cgroup"
    yield Finding("process tracking", "weak" if weak else "ok", tracking, remedy if weak else None)
    yield Finding("time between SIGTERM and SIGKILL", "ok", stated.get("KillWait", "unknown"))
    yield Finding("preemption", "ok", f"{stated.get('PreemptType', 'unknown')}, {stated.get('PreemptMode', 'unknown')}")
    yield Finding("finished jobs stay visible for", "ok", stated.get("MinJobAge", "unknown"))


def node(profile: dict[str, str], results: Path, configfile: Path) -> Iterator[Finding]:
    """The machine and file-system checks on a node, by a job of some seconds; the results must be seen there too.

    Nothing where Slurm does not answer, which `cluster` has said.
    """
    if shutil.which("srun") is None or not _ask("sinfo", "--noheader").ok:
        return
    results.mkdir(parents=True, exist_ok=True)
    token = results / f".doctor-{secrets.token_hex(4)}"
    token.write_text("seen")
    argv = ["srun", "--ntasks=1", "--cpus-per-task=1", "--mem=600M", "--time=5", *_options(profile)]
    places = [str(place.resolve()) for place in (results, token, configfile)]
    inner = [sys.executable, "-m", "matproof.commands.doctor.node", *places]
    try:
        tried = run([*argv, *inner], timeout_s=_NODE_PATIENCE_S)
    finally:
        token.unlink(missing_ok=True)
    try:
        told = [Finding(**item) for item in json.loads(tried.stdout.strip().splitlines()[-1])]
    except (ValueError, IndexError, TypeError):
        said = " ".join((tried.stderr or tried.stdout or tried.ending).split())[-400:]
        remedy = "the environment and the results must be on a file system that nodes share"
        yield Finding("a job on a node", "bad", f"did not report: {said}", remedy)
        return
    yield from told


def _ask(*argv: str) -> Finished:
    return run(argv, timeout_s=_PATIENCE_S)
