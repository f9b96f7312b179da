"""The metrics, a file for each family; all files here are imported, and register their metrics."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from recsys_ndcg.lazy import attach_stub

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
_metrics = import_module(f"{__name__}.registry").METRICS
globals().update({kind.__name__: kind for kind in _metrics.values()})
