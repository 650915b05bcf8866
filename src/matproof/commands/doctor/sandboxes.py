"""The engines that the campaign's settings and judges choose, each really entered; and those that it could choose."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from matproof.commands.doctor.findings import Finding
from matproof.config.sandbox import SandboxChoice
from matproof.config.settings import Judge, Setting
from matproof.core.errors import MatproofError
from matproof.core.files import read_model


def sandboxes(config: dict[str, Any], root: Path) -> Iterator[Finding]:
    """A sandbox of each engine and image in use, entered with the policy of steps; then what else is there."""
    engines = chosen(config, root)
    for name, image in engines:
        yield from _entered(name, image, engines[name, image], root)
    if not any(name == "apptainer" for name, _ in engines):
        yield from _apptainer()


def chosen(config: dict[str, Any], root: Path) -> dict[tuple[str, Path | None], Any]:
    """(name, image) → engine, for every setting and judge of the campaign and every subdomain of its claims."""
    from matproof.claims.loading import load_claim
    from matproof.config.workflow import claims
    from matproof.sandbox.choosing import chosen_engine

    folder, tasks = root / config["config_dir"], root / config["tasks"]
    subdomains = {load_claim(tasks / claim).metadata.subdomain for claim in claims({**config, "tasks": str(tasks)})}
    found = {}
    for choice in _choices(config, folder):
        for subdomain in sorted(subdomains):
            engine = chosen_engine(choice, config=folder, project=root.absolute(), subdomain=subdomain, gpus=0)
            found[engine.name, engine.image] = engine
    return found


def _choices(config: dict[str, Any], folder: Path) -> Iterator[SandboxChoice | None]:
    for name in config["settings"]:
        yield read_model(Setting, folder / "settings" / f"{name}.yaml").sandbox
    for name in config["judges"]:
        answers = read_model(Judge, folder / "judges" / f"{name}.yaml").answers
        if answers is not None:
            yield answers.sandbox


def _entered(name: str, image: Path | None, engine: Any, root: Path) -> Iterator[Finding]:
    from matproof.sandbox.engine import SandboxSpec, open_sandbox
    from matproof.sandbox.policy import load_policy

    subject = f"{name} with {image.name}" if image else name
    try:
        report = open_sandbox(SandboxSpec(policy=load_policy(root / "sandbox/step.yaml"), engine=engine)).report
    except MatproofError as error:
        yield Finding(subject, "bad", str(error))
        return
    user = "root" if os.geteuid() == 0 else "an ordinary user"
    digest = f", image {report.image_digest}" if report.image_digest else ""
    yield Finding(subject, "ok", f"{report.version}, entered as {user}{digest}")
    for limit in ("memory", "processes", "system calls"):
        how = report.enforced.get(limit, "not enforced")
        weak = limit == "memory" and not how.startswith("control group")
        remedy = "delegate the memory and pids controllers to users (systemd: Delegate=yes)" if weak else None
        yield Finding(f"sandbox {limit}", "weak" if weak else "ok", how, remedy)


def _apptainer() -> Iterator[Finding]:
    from matproof.sandbox.host import find_apptainer

    try:
        yield Finding("apptainer", "ok", f"{find_apptainer().version}, not chosen by this campaign")
    except MatproofError as error:
        yield Finding("apptainer", "weak", f"{error} (needed only where a setting or sandbox.yaml names it)")
