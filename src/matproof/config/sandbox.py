"""Which engine holds an agent's processes, and in which image: `sandbox` of a setting, or `config/sandbox.yaml`."""

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, model_validator

from matproof.config.base import HandWritten

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def _digest(text: str) -> str:
    if not _DIGEST.fullmatch(text):
        raise ValueError(f"{text!r} is not sha256: and 64 hexadecimal digits")
    return text


Digest = Annotated[str, AfterValidator(_digest)]


class SandboxChoice(HandWritten):
    """An engine and what it needs. The policy (`sandbox/*.yaml`) is the same for every engine."""

    engine: Literal["bubblewrap", "apptainer"] = "bubblewrap"
    """`bubblewrap` shows the programs of this machine; `apptainer` those of an image."""
    image: str | None = None
    """SIF file or directory of an image, for apptainer; `{subdomain}` stands for the claim's (dft, md, statml, ddd)."""
    digests: dict[str, Digest] = {}
    """Name of an image's file or directory → the digest that it must have; others are recorded, not checked."""
    software: list[str] = []
    """Directories of this machine visible in the image, read-only at their own paths, beside the policy's."""
    python: Literal["image", "ours"] = "image"
    """Whose Python is first on PATH: the image's, or the one that runs Matproof, where the image's C library can."""
    gpu: Literal["auto", "always", "never"] = "auto"
    """Whether the node's GPUs are visible inside: `auto` where the claim asks for one. Apptainer only."""

    @model_validator(mode="after")
    def _apptainer_needs_an_image(self) -> Self:
        if (self.engine == "apptainer") != (self.image is not None):
            raise ValueError("engine apptainer has an `image`, bubblewrap has none")
        if wrong := next((path for path in self.software if not path.startswith("/") or ".." in path.split("/")), None):
            raise ValueError(f"software: {wrong!r} is not an absolute path")
        return self
