"""Cross-validation, searches and splits, with the names of ``surprise.model_selection``."""

from recsys_ndcg.lazy import attach_stub as _attach_stub
from recsys_ndcg.surprise.library import add_missing_names as _add_missing_names

__getattr__, __dir__, __all__ = _attach_stub(__name__, __file__)

_add_missing_names(__name__, "surprise.model_selection")
