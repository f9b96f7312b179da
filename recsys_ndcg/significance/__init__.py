"""Intervals, tests and corrections, on plain arrays: what other users might have shown."""
