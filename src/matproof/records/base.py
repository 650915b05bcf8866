"""What every record shares: a schema version checked before anything else, and counted usage."""

from pathlib import Path
from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict

from matproof.core.errors import InputError
from matproof.core.files import read_model


class Record(BaseModel):
    """A file that a station wrote: frozen, strict about its fields, with a schema version."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)
    CURRENT: ClassVar[int] = 1

    schema_version: int = 1
    """Version of this file's layout."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """The record at `path`. Raises InputError where it is missing, malformed or of another version."""
        record = read_model(cls, path)
        if record.schema_version != cls.CURRENT:
            raise InputError(
                path,
                "schema_version",
                f"is {record.schema_version}, this version reads {cls.CURRENT}",
                "use the matproof version that wrote it, or run the station again",
            )
        return record


class Usage(BaseModel):
    """What the gateway metered. Null is unknown, never zero."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests: int = 0
    """Model requests that the gateway saw."""
    input_tokens: int | None = None
    """Tokens read, cached ones included."""
    cached_tokens: int | None = None
    """Of those, tokens read from the provider's cache."""
    output_tokens: int | None = None
    """Tokens written, thinking included."""
    cost_usd: float | None = None
    """US dollars by our own price table; null where a model has no price there."""
    cost_reason: str | None = None
    """Why the cost is unknown, where it is."""
