"""The metrics: one file each, found by being in this folder."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from recsys_ndcg.metrics.metric import Metric
from recsys_ndcg.metrics.registry import METRICS, parse

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["METRICS", "Metric", "parse"]
