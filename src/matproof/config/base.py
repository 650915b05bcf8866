"""Base of the configuration models."""

from pydantic import BaseModel, ConfigDict


class HandWritten(BaseModel):
    """Filled in by people: unknown fields are errors, NaN and infinities too."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True, use_attribute_docstrings=True)
