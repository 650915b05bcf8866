"""Running the steps of a plan."""
