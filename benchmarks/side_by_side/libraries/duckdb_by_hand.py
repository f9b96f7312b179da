"""DuckDB by hand: ranks from window functions; ties are in arbitrary order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "duckdb"
USERS = """
    WITH ranked AS (
        SELECT "user", "true",
            row_number() OVER (PARTITION BY "user" ORDER BY estimated DESC) AS rank,
            row_number() OVER (PARTITION BY "user" ORDER BY "true" DESC) AS place
        FROM ratings
    )
    SELECT
        sum((2 ** "true" - 1) / log2(rank + 1)) FILTER (rank <= 10) AS dcg,
        sum((2 ** "true" - 1) / log2(place + 1)) FILTER (place <= 10) AS ideal,
        count(*) FILTER (rank <= 10 AND "true" >= 4) AS hits,
        count(*) FILTER ("true" >= 4) AS relevant
    FROM ranked GROUP BY "user"
"""
MEANS = """
    avg(dcg / nullif(ideal, 0)) AS "ndcg@10", avg(hits / 10) AS "precision@10",
    avg(hits / nullif(relevant, 0)) AS "recall@10"
"""


def run_query(users: str, frame: pd.DataFrame) -> dict[str, float]:
    """Return the means over a query's rows, one per user; the frame is not copied."""
    with duckdb.connect() as connection:
        connection.register("ratings", frame)
        found = connection.sql(users).aggregate(MEANS)
        (values,) = found.fetchall()
        return dict(zip(found.columns, values, strict=True))


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Run the query on the frame."""
    return run_query(USERS, frame)
