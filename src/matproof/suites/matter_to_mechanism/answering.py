"""Choosing who answers: a model of models.yaml, any OpenAI-compatible address, or a script in a model's place.

A job's calls are kept beside its output, in `<output>.calls/<model>-<8 hex digits>.jsonl`. The digits stand for who
answered (address, or the script's text): another script or server never inherits the answers of the one before.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from matproof.config.models import ModelInfo, ModelTable, Provider
from matproof.config.settings import Answers, Limits
from matproof.core.errors import InputError
from matproof.core.files import read_model, sha256_of
from matproof.models.base import Backend
from matproof.models.keys import read_key
from matproof.models.live import LiveBackend
from matproof.models.opening import open_backend
from matproof.suites.matter_to_mechanism.asking import Asked

SCRIPTED_PREFIX = "scripted-"
"""How the name of a scripted system or judge begins, so that every table that shows the name says it."""
_NO_KEY = "no-key-needed"
UNLIMITED = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """What a person says of who answers."""

    model: str
    """A name in models.yaml, the name that the server of `base_url` knows, or what a script's replies are called."""
    script: Path | None = None
    models_file: Path = Path("config/models.yaml")
    base_url: str | None = None
    """Address of an OpenAI-compatible server, with or without `/v1`; it needs no entry in models.yaml."""
    key_env: str | None = None
    """Environment variable with the key of `base_url`; null: the server wants none."""
    limits: Limits = UNLIMITED
    max_output_tokens: int = 8000
    temperature: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    """Who answers, and the name under which its calls are kept."""

    asked: Asked
    identity: str


def open_answerer(said: Answering) -> Answerer:
    """Open what `said` asks for. Raises InputError where a name, key, price, script or address is wrong."""
    if said.script is not None:
        return _scripted(said, said.script)
    if said.base_url is not None:
        return _endpoint(said, said.base_url)
    table = read_model(ModelTable, said.models_file)
    backend = open_backend(Answers(model=said.model, limits=said.limits), table, claim_dir=None, root=Path())
    provider = table.providers[table.models[said.model].provider]
    api: Literal["chat", "messages"] = "messages" if provider.api == "anthropic" else "chat"
    return _answerer(said, backend, table, source=provider.base_url, api=api)


def calls_file(output: Path, answerer: Answerer) -> Path:
    """Where the calls of a job that writes `output` are kept."""
    return output.with_name(f"{output.name}.calls") / f"{answerer.identity}.jsonl"


def _scripted(said: Answering, script: Path) -> Answerer:
    if said.base_url is not None:
        raise InputError("--base-url", "", "a script answers, so there is no server", "leave out one of the two")
    if not script.is_file():
        raise InputError(script, "", "no such script", "correct the path")
    known = read_model(ModelTable, said.models_file) if said.models_file.is_file() else None
    table = known or ModelTable(providers={}, models={})
    answers = Answers(model=said.model, script=str(script.resolve()), limits=said.limits)
    backend = open_backend(answers, table, claim_dir=None, root=Path("/"))
    return _answerer(said, backend, table, source=f"script {sha256_of(script)}", api="chat")


def _endpoint(said: Answering, base_url: str) -> Answerer:
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise InputError("--base-url", "", f"{base_url[:200]!r} is no server's address", "give http://host:port")
    if said.limits.cost_usd is not None:
        remedy = "list the server under providers in models.yaml, with a price, or limit requests or tokens"
        raise InputError("--limit-usd", "", "a limit in dollars needs a price, and an address has none", remedy)
    address = base_url.rstrip("/").removesuffix("/v1")
    provider = Provider(api="openai", base_url=address, key_env=said.key_env)
    key = read_key(provider, name="--key-env") if said.key_env is not None else _NO_KEY
    table = ModelTable(providers={"endpoint": provider}, models={said.model: ModelInfo(provider="endpoint")})
    backend = LiveBackend(provider, key, models=frozenset({said.model}))
    return _answerer(said, backend, table, source=address, api="chat")


def _answerer(
    said: Answering, backend: Backend, table: ModelTable, *, source: str, api: Literal["chat", "messages"]
) -> Answerer:
    own = (urlsplit(source).hostname or "").endswith("openai.com")
    asked = Asked(
        model=said.model,
        backend=backend,
        api=api,
        limits=said.limits,
        table=table,
        max_output_tokens=said.max_output_tokens,
        temperature=said.temperature,
        length_field="max_completion_tokens" if own else "max_tokens",
    )
    digest = hashlib.sha256(json.dumps([said.model, source]).encode()).hexdigest()[:8]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", said.model).strip("-.")[:60] or "model"
    return Answerer(asked=asked, identity=f"{name}-{digest}")
