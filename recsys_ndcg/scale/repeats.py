"""The user and item that stand in data twice, in place of rows whose places say nothing."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd


@contextmanager
def repeats_named(
    tables: Mapping[str, Any], duplicates: str, rules: Sequence[str]
) -> Iterator[None]:
    """Have an error name who has an item twice, if somebody has and there is no rule for it.

    Parameters
    ----------
    tables : mapping
        Of pyarrow's, by what messages call them.
    duplicates : str
        As in `Convention`.
    rules : sequence of str
        Which of those may be chosen.

    Raises
    ------
    InvalidInputError
        What is inside raises one.
    """
    try:
        yield
    except InvalidInputError:
        told = _first_repeat(tables, rules) if duplicates == "raise" else ""
        if not told:
            raise
        raise InvalidInputError(told) from None


def _first_repeat(tables: Mapping[str, Any], rules: Sequence[str]) -> str:
    for where, table in tables.items():
        pairs: pd.DataFrame = table.select(["user", "item"]).to_pandas()
        again = pairs[pairs.duplicated()]
        if not again.empty:
            user, item = again.iloc[0].tolist()
            named = " or ".join(map(repr, rules))
            return (
                f"{where}: user {shown(user)} has the item {shown(item)} twice or more. Remove "
                f"such repeats, or choose duplicates={named}: convention="
                f"Convention(duplicates={rules[0]!r}) (--convention duplicates={rules[0]})."
            )
    return ""
