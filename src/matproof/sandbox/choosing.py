"""From what people write (a setting's `sandbox`, `config/sandbox.yaml`) to the engine of one run."""

from pathlib import Path

from matproof.config.sandbox import SandboxChoice
from matproof.core.errors import InputError
from matproof.core.files import read_model
from matproof.sandbox.spec import Engine

SITE_FILE = "sandbox.yaml"
"""Beside `models.yaml`: what holds where a setting or judge says nothing, such as Apptainer on a whole cluster."""


def chosen_engine(choice: SandboxChoice | None, *, config: Path, project: Path, subdomain: str, gpus: int) -> Engine:
    """The engine for a claim of `subdomain` that asks for `gpus`; relative images start at `project`.

    `config` is the directory of the site's file. Raises InputError where that is wrong, or where the image depends on
    a subdomain that is not known.
    """
    site = config / SITE_FILE
    if choice is None:
        choice = read_model(SandboxChoice, site) if site.is_file() else SandboxChoice()
    if choice.image is None:
        return Engine(name=choice.engine)
    if "{subdomain}" in choice.image and subdomain == "unknown":
        raise InputError(
            choice.image, "sandbox.image", "the claim's subdomain is not known", "add it to the claim's meta/claim.yaml"
        )
    image = project / choice.image.replace("{subdomain}", subdomain)
    gpu = choice.gpu == "always" or (choice.gpu == "auto" and gpus > 0)
    return Engine(
        name=choice.engine,
        image=image,
        digest=choice.digests.get(image.name),
        software=tuple(map(Path, choice.software)),
        own_python=choice.python == "ours",
        gpu=gpu,
    )
