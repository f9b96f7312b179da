"""Cross-validation, searches and splits, as in the library's own module of that name."""

from recsys_ndcg.lazy import attach_stub as _attach_stub
from recsys_ndcg.surprise.library import complete as _complete

__getattr__, __dir__, __all__ = _attach_stub(__name__, __file__)

_complete(__name__, "surprise.model_selection")
