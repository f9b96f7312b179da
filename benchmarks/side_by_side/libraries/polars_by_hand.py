"""polars by hand: one lazy query; ties are in arbitrary order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "polars"
K, THRESHOLD = 10, 4.0


def query(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the three means: make a list of each user's ten best rows, then explode the lists."""
    true = pl.col("true")
    lists = rows.group_by("user").agg(
        top=true.sort_by("estimated", descending=True).head(K),
        best=true.top_k(K).sort(descending=True),
        relevant=(true >= THRESHOLD).sum(),
    )
    ranked = lists.with_columns(place=pl.int_ranges(2, pl.col("top").list.len() + 2))
    users = (
        ranked.explode("top", "best", "place")
        .group_by("user")
        .agg(
            dcg=_discounted("top").sum(),
            ideal=_discounted("best").sum(),
            hits=(pl.col("top") >= THRESHOLD).sum(),
            relevant=pl.col("relevant").first(),
        )
    )
    ideal, hits, relevant = (pl.col(name) for name in ("ideal", "hits", "relevant"))
    return users.select(
        (pl.col("dcg") / ideal).filter(ideal > 0).mean().alias("ndcg@10"),
        (hits / K).mean().alias("precision@10"),
        (hits / relevant).filter(relevant > 0).mean().alias("recall@10"),
    )


def _discounted(grades: str) -> pl.Expr:
    return (pl.lit(2.0).pow(grades) - 1) / pl.col("place").log(2)


def means(frame: pd.DataFrame) -> dict[str, float]:
    """Convert the columns, and run the query."""
    rows = pl.DataFrame({name: frame[name].to_numpy() for name in frame})
    return query(rows.lazy()).collect().row(0, named=True)
