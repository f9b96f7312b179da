"""The command line: the only place that prints or exits."""

from __future__ import annotations

from recsys_ndcg.cli.program import build_application, main, run

__all__ = ["build_application", "main", "run"]
