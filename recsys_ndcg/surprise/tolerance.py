"""The convention of the plug-in: what `Convention` says, with estimates equal up to arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.evaluation import convention_or_default

if TYPE_CHECKING:
    from recsys_ndcg.convention.convention import Convention

#: Sums over neighbours that are equal come out as 4.0 and 3.9999999999999996.
TIE_TOLERANCE = 1e-9


def with_tolerance(convention: Convention | None) -> Convention:
    """Return the convention, or the default one, with at least this tolerance for ties.

    Examples
    --------
    >>> with_tolerance(None).tie_tolerance
    1e-09
    """
    chosen = convention_or_default(convention)
    step = chosen.tie_tolerance
    fine = not isinstance(step, str) and step < TIE_TOLERANCE
    return chosen.replace(tie_tolerance=TIE_TOLERANCE) if fine else chosen
