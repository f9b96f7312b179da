"""Surprise, evaluated by ranking: the plug-in whose import line is the only change.

All that ``surprise`` and ``surprise.model_selection`` offer is here under the same names.
Cross-validation, searches and `accuracy` are ours; everything else is Surprise's own.

>>> from recsys_ndcg.surprise import SVD, Dataset, Reader, accuracy, cross_validate, KFold
"""

from recsys_ndcg.lazy import attach_stub as _attach_stub
from recsys_ndcg.surprise.library import import_library as _import_library
from recsys_ndcg.surprise.library import stand_for_library as _stand_for_library

#: Which a script may print, as in Surprise.
__version__ = _import_library("recsys_ndcg.surprise").__version__
# what the stub lists is imported when it is first used: every worker of a search imports this
# package, and pandas takes memory of its own in each
__getattr__, __dir__, __all__ = _attach_stub(__name__, __file__)

_stand_for_library(__name__)
