"""The `budget` block of `config/config.yaml`: what a campaign may spend in all, per setting and per run."""

from pydantic import Field

from matproof.config.base import HandWritten
from matproof.config.settings import Caps, Limits


class CampaignBudget(HandWritten):
    """Caps of a campaign, which is all that its results directory holds. Judges' spending counts too."""

    campaign: Caps = Caps()
    """Everything together."""
    setting: Caps = Caps()
    """Each setting: its runs and the judging of them."""
    settings: dict[str, Caps] = Field(default={})
    """Caps of single settings, in place of `setting`."""
    run: Caps = Caps()
    """Each run, where the setting's own `limits` are not tighter."""

    def of_setting(self, name: str) -> Caps:
        """Caps that hold for the setting `name`."""
        return self.settings.get(name, self.setting)


def tighter(limits: Limits, caps: Caps) -> Limits:
    """`limits` with each amount that `caps` bounds more tightly replaced."""
    pairs = {name: (getattr(limits, name), getattr(caps, name)) for name in Caps.model_fields}
    bounds = {name: [value for value in pair if value is not None] for name, pair in pairs.items()}
    return limits.model_copy(update={name: min(values, default=None) for name, values in bounds.items()})
