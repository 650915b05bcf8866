"""One event schema for every agent's transcript."""
