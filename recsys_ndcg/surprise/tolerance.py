"""The convention of the plug-in: what `Convention` says, with estimates equal up to arithmetic."""

from __future__ import annotations

from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, shown

#: Sums over neighbours that are equal come out as 4.0 and 3.9999999999999996.
TIE_TOLERANCE = 1e-9


def with_tolerance(convention: Convention | None) -> Convention:
    """Return the convention, or the default one, with at least this tolerance for ties.

    Examples
    --------
    >>> with_tolerance(None).tie_tolerance
    1e-09
    """
    if convention is None:
        convention = Convention()
    if not isinstance(convention, Convention):
        msg = f"convention must be a Convention(...), not {shown(convention)}."
        raise InvalidInputError(msg)
    step = convention.tie_tolerance
    fine = not isinstance(step, str) and step < TIE_TOLERANCE
    return convention.replace(tie_tolerance=TIE_TOLERANCE) if fine else convention
