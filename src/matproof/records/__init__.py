"""The files that stations leave for one another: one pydantic model and one schema version each."""
