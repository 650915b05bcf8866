"""Names of node features that a run may ask for."""

from typing import Annotated

from pydantic import StringConstraints

NodeFeatures = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:-]+(&[A-Za-z0-9_.:-]+)*$", max_length=200)]
"""Features, joined by `&` where several are needed, as Slurm's `--constraint` takes them."""
