"""Talking to model APIs: the gateway, prices and usage, scripted and replayed replies."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matproof.models.opening import open_backend as open_backend


def __getattr__(name: str) -> Any:
    """`open_backend`, loaded only when it is asked for: prices and prompts need no template engine."""
    if name == "open_backend":
        from matproof.models.opening import open_backend

        return open_backend
    raise AttributeError(name)
