"""`config/config.yaml`: which claims, settings, judges and repeats a campaign runs."""

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from matproof.config.base import HandWritten
from matproof.config.budget import CampaignBudget
from matproof.config.m2m import M2m
from matproof.core.files import read_model


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
    """Whether claims and settings whose commands are missing here are skipped by name, or run and fail."""
    include_scripted: bool = False
    """Whether the leaderboard shows scripted settings."""
    config_dir: str = "config"
    """Directory of settings/, judges/ and models.yaml."""
    budget: CampaignBudget = CampaignBudget()
    """What may be spent."""
    m2m: M2m = M2m()
    """What `snakemake m2m` runs; `snakemake` alone runs none of it."""

    @model_validator(mode="after")
    def _caps_are_of_known_settings(self) -> Self:
        if unknown := next((name for name in self.budget.settings if name not in self.settings), None):
            raise ValueError(f"budget.settings: {unknown!r} is none of the settings, so its cap would bound nothing")
        return self


def budget_of(file: Path | None) -> CampaignBudget:
    """What the campaign of `file` may spend; without a file, as much as it likes. Raises InputError."""
    return CampaignBudget() if file is None else read_model(Campaign, file).budget


def beside(file: Path) -> Path | None:
    """The `config.yaml` beside the directory that `file`, a setting or a judge, lies in; None without one."""
    found = file.resolve().parents[1] / "config.yaml"
    return found if found.is_file() else None
