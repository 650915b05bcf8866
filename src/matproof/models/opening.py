"""Choosing who answers a run: a script, or a provider."""

from pathlib import Path

from matproof.config.models import ModelTable
from matproof.config.settings import Answers
from matproof.core.errors import InputError
from matproof.models.base import Backend
from matproof.models.keys import read_key
from matproof.models.live import LiveBackend
from matproof.models.scripted import ScriptedBackend


def open_backend(answers: Answers, table: ModelTable, *, claim_dir: Path | None, root: Path) -> Backend:
    """The backend that `answers` asks for.

    `claim_dir` is the claim's package, whose name stands for `{claim}` in the script's path and below which a script
    may read; `root` is what relative paths start from. Raises InputError for a bad script, an unknown model or
    provider, a missing key, or a limit in dollars for a model without a price.
    """
    if answers.script is not None:
        return _scripted(answers.script, claim_dir, root, strict=answers.replay == "strict")
    known = table.models.get(answers.model)
    if known is None:
        raise InputError("models.yaml", "models", f"{answers.model} is not listed", "add it with its provider")
    provider = table.providers.get(known.provider)
    if provider is None:
        where = f"models.{answers.model}.provider"
        raise InputError("models.yaml", where, f"{known.provider} is not listed", "add it under providers")
    if answers.limits.cost_usd is not None and known.prices is None:
        remedy = f"add a price for {answers.model}, or set no limit in dollars"
        raise InputError("models.yaml", f"models.{answers.model}.prices", "a limit in dollars needs a price", remedy)
    key = read_key(provider, name=known.provider)
    return LiveBackend(provider, key, models=frozenset({answers.model}))


def _scripted(script: str, claim_dir: Path | None, root: Path, *, strict: bool) -> ScriptedBackend:
    if "{claim}" in script and claim_dir is None:
        raise InputError(script, "script", "{claim} stands for nothing here", "name the script without it")
    path = root / (script.replace("{claim}", claim_dir.name) if claim_dir is not None else script)
    files = (path.parent,) if claim_dir is None else (claim_dir, path.parent)
    return ScriptedBackend(path, files=files, strict=strict)
