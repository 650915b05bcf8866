"""`config/models.yaml`: providers, and models with prices and windows."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from matproof.config.base import HandWritten

Api = Literal["anthropic", "openai"]


def _proxy(text: str) -> str:
    url = urlsplit(text)
    if url.scheme not in ("http", "https") or not url.hostname or url.path.strip("/") or url.query:
        raise ValueError(f"{url.scheme or 'it'} is not the address of a proxy: write http://host:port")
    if url.username or url.password:
        raise ValueError("a proxy that asks for a password is named by HTTPS_PROXY, not in a file that others read")
    return text


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
    proxy: Annotated[str, AfterValidator(_proxy)] | None = None
    """Proxy on the way there, such as `http://proxy.site:3128`; null: as HTTPS_PROXY, HTTP_PROXY and NO_PROXY say."""


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
