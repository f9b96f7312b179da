"""The command line: the only place that prints or exits."""

from __future__ import annotations

from recsys_ndcg.cli.main import app, main

__all__ = ["app", "main"]
