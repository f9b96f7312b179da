"""The plug-in for scikit-surprise: ranking metrics after a change of the import line.

It offers all names of ``surprise`` and ``surprise.model_selection``. Cross-validation, searches and
`accuracy` are ours; everything else is Surprise's own.

>>> from recsys_ndcg.surprise import SVD, Dataset, Reader, accuracy, cross_validate, KFold
"""

from recsys_ndcg.lazy import attach_stub as _attach_stub
from recsys_ndcg.surprise.library import import_library as _import_library
from recsys_ndcg.surprise.library import register_submodules as _register_submodules

#: Scripts may print it, as in Surprise.
__version__ = _import_library("recsys_ndcg.surprise").__version__
# the names of the stub are imported at their first use
__getattr__, __dir__, __all__ = _attach_stub(__name__, __file__)

_register_submodules(__name__)
