"""DuckDB by hand, with lists: aggregates return each user's ten best rows as a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from libraries.duckdb_by_hand import DISTRIBUTION, run_query

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DISTRIBUTION", "USERS", "means"]
USERS = """
    WITH lists AS (
        SELECT arg_max("true", estimated, 10) AS top, max("true", 10) AS best,
            count(*) FILTER ("true" >= 4) AS relevant
        FROM ratings GROUP BY "user"
    ), numbered AS (
        SELECT row_number() OVER () AS number, * FROM lists
    ), ranked AS (
        SELECT number, relevant, unnest(top) AS own, unnest(best) AS ideal,
            generate_subscripts(top, 1) AS rank
        FROM numbered
    )
    SELECT any_value(relevant) AS relevant, count(*) FILTER (own >= 4) AS hits,
        sum((2 ** own - 1) / log2(rank + 1)) AS dcg,
        sum((2 ** ideal - 1) / log2(rank + 1)) AS ideal
    FROM ranked GROUP BY number
"""


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Run the query on the frame."""
    return run_query(USERS, frame)
