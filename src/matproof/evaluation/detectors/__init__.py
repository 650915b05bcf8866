"""Detectors of hostile runs: each looks for one kind of evidence that was made rather than computed."""
