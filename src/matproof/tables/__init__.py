"""Parquet tables, gathered from runs; the leaderboard."""
