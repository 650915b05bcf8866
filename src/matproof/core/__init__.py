"""What every station stands on: files, the clock, processes, errors. Imports nothing else of ours."""
