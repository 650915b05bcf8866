"""Who judges: program checks and the judge agent."""
