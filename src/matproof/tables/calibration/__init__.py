"""Calibration of judges against experts: what is sampled, what experts say, how far they agree. Pure file work."""
