"""The parts of a split as columns, read from tables, rows, trainsets and files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.input import Table
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
    from recsys_ndcg.scale import read_names, read_users_in_batches  # noqa: PLC0415 - narwhals

    try:
        names, text = read_names(data)
        table = Table(dict.fromkeys(names, ()), columns, "interactions", is_text=text is not None)
        found = table.use_columns(*table.choose_columns())
        table.warn_of_recognised_names()
        ours_of = {"rating": "true"}
        mapped = {ours_of.get(ours, ours): theirs for ours, theirs in found.items()}
        differing = {a: b for a, b in found.items() if a != b}
        if text is not None and not text.heading:
            differing = {}
        for batch in read_users_in_batches(data, mapped, memory_limit, text):
            rating, time = (
                batch.column(one).to_numpy().astype(np.float64) if one in mapped else None
                for one in ("true", "timestamp")
            )
            part = Interactions.of(batch.column("user"), batch.column("item"), rating, time)
            yield replace(part, names=differing)
    except InvalidInputError as error:
        msg = f"{name}: {error}"
        raise InvalidInputError(msg) from None
