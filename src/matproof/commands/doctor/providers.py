"""Whether the campaign's models can be reached, and whether their keys are there. No key is shown, none is sent."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from matproof.commands.doctor.findings import Finding
from matproof.config.models import ModelTable
from matproof.config.settings import Answers, Judge, Setting
from matproof.core.errors import InputError
from matproof.core.files import read_model

_PATIENCE_S = 5.0


def used(config: dict[str, Any], root: Path) -> dict[str, list[str]]:
    """Providers that the campaign's settings and judges ask → who asks. Scripted ones ask nobody."""
    folder = root / config["config_dir"]
    asking: list[tuple[str, Answers]] = []
    for name in config["settings"]:
        asking.append((name, read_model(Setting, folder / "settings" / f"{name}.yaml")))
    for name in config["judges"]:
        answers = read_model(Judge, folder / "judges" / f"{name}.yaml").answers
        asking += [(name, answers)] if answers is not None else []
    table = read_model(ModelTable, folder / "models.yaml")
    found: dict[str, list[str]] = {}
    for name, answers in asking:
        known = table.models.get(answers.model)
        if not answers.scripted and known is None:
            raise InputError(folder / "models.yaml", "models", f"{answers.model} is not listed", f"{name} asks for it")
        if not answers.scripted and known is not None:
            found.setdefault(known.provider, []).append(name)
    return found


def providers(config: dict[str, Any], root: Path) -> Iterator[Finding]:
    """Key and way out for each provider that the campaign asks."""
    from matproof.models.keys import read_key

    asked = used(config, root)
    if not asked:
        yield Finding("model providers", "ok", "none is asked: every setting and judge of the campaign is scripted")
    table = read_model(ModelTable, root / config["config_dir"] / "models.yaml")
    for name, who in asked.items():
        provider = table.providers.get(name)
        if provider is None:
            yield Finding(f"provider {name}", "bad", "is not in models.yaml", f"add it; {', '.join(who)} ask for it")
            continue
        try:
            read_key(provider, name=name)
            yield Finding(f"key of {name}", "ok", f"is there, for {', '.join(who)}")
        except InputError as error:
            yield Finding(f"key of {name}", "bad", str(error))
        yield reachable(name, provider.base_url, provider.proxy)


def reachable(name: str, address: str, proxy: str | None = None) -> Finding:
    """Whether a connection to `address`, or to the proxy for it, is accepted. Nothing is sent.

    Without `proxy` the environment names one, unless NO_PROXY names the host.
    """
    url = urlsplit(address)
    if proxy is None and not proxy_bypass(url.hostname or ""):
        proxy = os.environ.get(f"{url.scheme}_proxy") or os.environ.get(f"{url.scheme}_proxy".upper())
    way = urlsplit(proxy) if proxy else url
    host, port = way.hostname or "", way.port or (443 if way.scheme == "https" else 80)
    through = f"the proxy {host}:{port}" if proxy else f"{host}:{port}"
    subject = f"way to {name}"
    try:
        with socket.create_connection((host, port), timeout=_PATIENCE_S):
            return Finding(subject, "ok", f"{through} takes connections")
    except OSError as error:
        remedy = (
            "set HTTPS_PROXY, or run where there is a way out; docs/cluster-network.md says how on nodes without one"
        )
        return Finding(subject, "bad", f"{through} can't be reached: {error}", remedy)
