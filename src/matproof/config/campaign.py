"""`config/config.yaml`: which claims, settings, judges and repeats a campaign runs."""

from typing import Literal

from pydantic import Field

from matproof.config.base import HandWritten


class Campaign(HandWritten):
    """The whole file. Names of settings and judges are file names without `.yaml`."""

    tasks: str = "tasks"
    """Directory of claim packages."""
    results: str = "results"
    """Where everything is written."""
    claims: Literal["all"] | list[str] = "all"
    """Directory names of claims, or `all`."""
    settings: list[str] = Field(min_length=1)
    """Agent settings to run."""
    judges: list[str] = Field(min_length=1)
    """Judges of each run."""
    repeats: int = Field(default=1, ge=1)
    """Runs of each claim under each setting."""
    skip_missing_software: bool = False
    """Whether claims whose commands are missing here are skipped by name, or run and fail."""
    include_scripted: bool = False
    """Whether the leaderboard shows scripted settings."""
    config_dir: str = "config"
    """Directory of settings/, judges/ and models.yaml."""
