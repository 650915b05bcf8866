"""`config/models.yaml`: providers, and models with prices and windows."""

from typing import Literal

from pydantic import Field

from matproof.config.base import HandWritten

Api = Literal["anthropic", "openai"]


class Provider(HandWritten):
    """Where a model is served and where its key is found."""

    api: Api
    """Shape of the API: Anthropic Messages, or OpenAI Responses and Chat."""
    base_url: str
    """Address without `/v1`."""
    key_env: str | None = None
    """Environment variable that holds the key."""
    key_file: str | None = None
    """File that holds the key; must have mode 0600."""


class Prices(HandWritten):
    """US dollars for a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_read: float | None = Field(default=None, ge=0)
    """Null: as input."""
    cache_write: float | None = Field(default=None, ge=0)
    """Null: as input."""
    cache_write_1h: float | None = Field(default=None, ge=0)
    """Cache written for an hour; null: unknown, so the cost of a reply that did so is unknown."""
    max_input_tokens: int | None = Field(default=None, gt=0)
    """Longest prompt that these prices are for; the cost of a longer one is unknown."""


class ModelInfo(HandWritten):
    """One model."""

    provider: str
    """A name under `providers`."""
    context_window: int | None = Field(default=None, gt=0)
    """Tokens; null is unknown."""
    prices: Prices | None = None
    """Null: unknown, so cost is unknown too."""


class ModelTable(HandWritten):
    """The whole file."""

    providers: dict[str, Provider]
    models: dict[str, ModelInfo]
