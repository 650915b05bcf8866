"""Making a script of a recorded session: `gateway.md` tells the format, `record-replay.md` how to use it."""
