"""The smaller suites: each has rows in, scores out, and shares tables and report."""
