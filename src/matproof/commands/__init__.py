"""The subcommands: options in, one call to a station, lines out. No logic of their own."""
