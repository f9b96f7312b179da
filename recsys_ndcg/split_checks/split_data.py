"""The parts of a split as columns, read from tables, rows, trainsets and files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.input import (
    RATING_COLUMNS,
    choose_rating_columns,
    is_rating_header,
    match_rating_columns,
)
from recsys_ndcg.ratings import Interactions


def read_batches(
    data: Any, name: str, columns: Mapping[str, str] | None, memory_limit: str | float | None
) -> Iterator[Interactions]:
    """Yield all rows of some users at a time, from files or streams that are sorted on disk.

    Raises
    ------
    InvalidInputError
        The data cannot be read, or has no columns of users and items.
    """
    try:
        yield from _read_sorted(data, columns, memory_limit)
    except InvalidInputError as error:
        msg = f"{name}: {error}"
        raise InvalidInputError(msg) from None


def _read_sorted(
    data: Any, columns: Mapping[str, str] | None, memory_limit: str | float | None
) -> Iterator[Interactions]:
    from recsys_ndcg.scale import read_names, read_users_in_batches  # noqa: PLC0415 - narwhals

    names, text = read_names(data)
    needed, is_headless = RATING_COLUMNS[:2], text is not None and not is_rating_header(names)
    if text is not None:
        text = replace(text, heading=not is_headless)
    if is_headless:
        names = [str(place + 1) for place in range(len(names))]
    if text is None:
        found = match_rating_columns(names, columns, needed)
    else:
        found = choose_rating_columns(names, columns, needed, has_header=bool(text.heading))
    ours_of = {"rating": "true"}
    mapped = {ours_of.get(ours, ours): theirs for ours, theirs in found.items()}
    differing = {} if is_headless else {a: b for a, b in found.items() if a != b}
    for batch in read_users_in_batches(data, mapped, memory_limit, text):
        rating, time = (
            batch.column(one).to_numpy().astype(np.float64) if one in mapped else None
            for one in ("true", "timestamp")
        )
        part = Interactions.of(batch.column("user"), batch.column("item"), rating, time)
        yield replace(part, names=differing)
