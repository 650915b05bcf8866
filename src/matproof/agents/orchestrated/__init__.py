"""The orchestrated agent: plan, setup, deterministic execution with diagnosis, extraction (paper, appendix B.4)."""
