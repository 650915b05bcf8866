"""Exports: runs and tables in forms that others read, with where every file came from, and nothing that must not leave.

Hidden material of claims leaves only on request. Secrets, and paths of this machine, never do.
"""
