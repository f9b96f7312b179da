"""Intervals, tests and corrections, on plain arrays: what other users might have shown."""

from __future__ import annotations

from recsys_ndcg.significance.intervals import mean_interval, ratio_interval

__all__ = ["mean_interval", "ratio_interval"]
