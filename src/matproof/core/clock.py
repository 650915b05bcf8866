"""The one clock: wall time for records (UTC), monotonic time for durations (seconds)."""

import time
from datetime import UTC, datetime


def utc_now() -> datetime:
    """Now, in UTC, with its zone."""
    return datetime.now(UTC)


def timestamp() -> str:
    """Now as ISO 8601 with milliseconds, such as ``2026-01-31T12:00:00.000Z``."""
    return utc_now().isoformat(timespec="milliseconds").replace("+00:00", "Z")


def elapsed() -> float:
    """Seconds of a clock that never jumps; only differences mean anything."""
    return time.monotonic()
