"""Matproof puts agents that claim to do computational materials science to the proof."""

__version__ = "0.1.0"
