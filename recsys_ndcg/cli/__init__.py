"""The command line: the only place that prints or exits."""

from __future__ import annotations

from recsys_ndcg.cli.program import application, main

__all__ = ["application", "main"]
