"""Where an agent's processes run, and what they can reach."""
