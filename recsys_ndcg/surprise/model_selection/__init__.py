"""Cross-validation, searches and splits, as in the library's own module of that name."""

from __future__ import annotations

from pkgutil import iter_modules as _iter_modules
from typing import TYPE_CHECKING, Any

from surprise.model_selection import (
    KFold,
    LeaveOneOut,
    PredefinedKFold,
    RepeatedKFold,
    ShuffleSplit,
    train_test_split,
)

from recsys_ndcg.lazy import imported as _imported
from recsys_ndcg.surprise.library import complete as _complete

if TYPE_CHECKING:  # found by `__getattr__` when the program runs
    from recsys_ndcg.surprise.model_selection.measures import make_measure
    from recsys_ndcg.surprise.model_selection.search import GridSearchCV, RandomizedSearchCV
    from recsys_ndcg.surprise.model_selection.splits import (
        LeaveLastOut,
        LeaveNOut,
        TimeSplit,
        UserKFold,
    )
    from recsys_ndcg.surprise.model_selection.validation import cross_validate

__all__ = [
    "GridSearchCV",
    "KFold",
    "LeaveLastOut",
    "LeaveNOut",
    "LeaveOneOut",
    "PredefinedKFold",
    "RandomizedSearchCV",
    "RepeatedKFold",
    "ShuffleSplit",
    "TimeSplit",
    "UserKFold",
    "cross_validate",
    "make_measure",
    "train_test_split",
]

#: Where each name of ours is: looked up when it is first asked for, as in the package above.
_PLACES = {
    "GridSearchCV": "search",
    "LeaveLastOut": "splits",
    "LeaveNOut": "splits",
    "RandomizedSearchCV": "search",
    "TimeSplit": "splits",
    "UserKFold": "splits",
    "cross_validate": "validation",
    "make_measure": "measures",
}
_ROOMS = {one.name: one.name for one in _iter_modules(__path__)}

_complete(__name__, "surprise.model_selection")


if not TYPE_CHECKING:  # or every name would be known to a type checker

    def __getattr__(name: str) -> Any:
        """Import what a name stands for, and keep it."""
        value = globals()[name] = _imported(__name__, name, _ROOMS | _PLACES)
        return value


def __dir__() -> list[str]:
    """List what is not imported yet with the other names."""
    return sorted({*globals(), *__all__})
