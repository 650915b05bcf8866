"""Versions of what a run stood on."""

import contextlib
import platform
from importlib import metadata

_PACKAGES = ("claude-agent-sdk", "numpy", "pandas", "scikit-learn", "scipy")


def system_versions() -> dict[str, str]:
    """Of Python, the kernel and some packages; one that is not installed is left out."""
    found = {"python": platform.python_version(), "kernel": platform.release()}
    for package in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found
