"""The input of learning-to-rank libraries: lists as matrices, users × ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from numpy.typing import NDArray


def by_length(
    frame: pd.DataFrame,
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield the grades and estimates of all users with the same list length, for each length."""
    order = np.argsort(frame["user"].to_numpy(), kind="stable")
    user = frame["user"].to_numpy()[order]
    true, estimated = (frame[name].to_numpy()[order] for name in ("true", "estimated"))
    starts = np.flatnonzero(np.append(True, user[1:] != user[:-1]))
    lengths = np.diff(np.append(starts, len(user)))
    for length in np.unique(lengths):
        rows = starts[lengths == length][:, None] + np.arange(length)
        yield true[rows], estimated[rows]
