"""The part of `matproof doctor` that a job runs on a node: prints its findings as one line of JSON."""

import json
import socket
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from matproof.commands.doctor import filesystem, machine, sandboxes
from matproof.commands.doctor.findings import Finding, found_by
from matproof.config.campaign import Campaign
from matproof.core.files import read_model


def findings(results: Path, token: Path, configfile: Path) -> Iterator[Finding]:
    """What is found on this node."""
    seen = token.is_file() and token.read_text() == "seen"
    remedy = None if seen else "put results on a file system that nodes share"
    found = "what was written before is seen here" if seen else "a file that was written before is not seen here"
    yield Finding("shared results", "ok" if seen else "bad", found, remedy)
    config = read_model(Campaign, configfile).model_dump()
    yield from found_by(lambda: sandboxes.sandboxes(config, Path()), "sandbox")
    yield from found_by(machine.graphics, "GPUs")
    yield from found_by(lambda: filesystem.results(results), "results")


def main(results: str, token: str, configfile: str) -> None:
    """Print what is found."""
    found = findings(Path(results), Path(token), Path(configfile))
    print(json.dumps([asdict(replace(item, where=socket.gethostname())) for item in found]))


if __name__ == "__main__":
    main(*sys.argv[1:4])
