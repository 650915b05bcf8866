"""Who reproduces."""
