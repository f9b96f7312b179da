"""polars by hand: one lazy query, equal estimates in whatever order the sort leaves them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "polars"
K, THRESHOLD = 10, 4.0


def _dcg(grades: pl.Expr) -> pl.Expr:
    """Return the DCG of grades in their order."""
    return ((pl.lit(2.0).pow(grades) - 1) / pl.int_range(2, grades.len() + 2).log(2)).sum()


def query(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the three means."""
    true = pl.col("true")
    top = true.sort_by("estimated", descending=True).head(K)
    best = true.top_k(K).sort(descending=True)
    users = rows.group_by("user").agg(
        dcg=_dcg(top),
        ideal=_dcg(best),
        hits=(top >= THRESHOLD).sum(),
        relevant=(true >= THRESHOLD).sum(),
    )
    ideal, hits, relevant = (pl.col(name) for name in ("ideal", "hits", "relevant"))
    return users.select(
        (pl.col("dcg") / ideal).filter(ideal > 0).mean().alias("ndcg@10"),
        (hits / K).mean().alias("precision@10"),
        (hits / relevant).filter(relevant > 0).mean().alias("recall@10"),
    )


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Hand the columns over, and ask."""
    rows = pl.DataFrame({name: frame[name].to_numpy() for name in frame})
    return query(rows.lazy()).collect().row(0, named=True)
