"""The same ratings in every form."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from recsys_ndcg.input import TextFormat

pa = pytest.importorskip("pyarrow")

#: Twelve users with six of nine items each; ids from 1.
ROWS: list[tuple[int, int, float, int]] = [
    (user, item, float(1 + (user * item) % 5), 1_000_000 + 50 * user + item)
    for user in range(1, 13)
    for item in sorted((user + 5 * place) % 9 + 1 for place in range(6))
]
FRAME = pd.DataFrame(ROWS, columns=["user", "item", "rating", "timestamp"])
_CSV = FRAME.to_csv(index=False)
_LINES = FRAME.to_csv(index=False, header=False)
_TABS = _LINES.replace(",", "\t")
_LATIN = "user,item,rating,timestamp,note\n" + _LINES.replace("\n", ",né\n")
_INTER = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n"


def _make_polars() -> pl.DataFrame:
    return pl.DataFrame(FRAME.to_dict("list"))


def _make_relation() -> Any:
    return pytest.importorskip("duckdb").from_df(FRAME)


def _make_dataset() -> Any:
    surprise = pytest.importorskip("surprise")
    reader = surprise.Reader(rating_scale=(1, 5))
    return surprise.Dataset.load_from_df(FRAME[["user", "item", "rating"]], reader)


def _group_items() -> dict[str, list[int]]:
    return {str(user): rows["item"].tolist() for user, rows in FRAME.groupby("user")}


#: Made in memory.
OBJECTS: dict[str, Callable[[], Any]] = {
    "pandas": lambda: FRAME, "polars": _make_polars, "lazy": lambda: _make_polars().lazy(),
    "Arrow": lambda: pa.Table.from_pandas(FRAME), "DuckDB": _make_relation,
    "columns": lambda: FRAME.to_dict("list"), "objects": lambda: FRAME.to_dict("records"),
    "other names": lambda: FRAME.set_axis(["userId", "movieId", "stars", "time"], axis=1).rename(
        columns={"stars": "rating"}
    ),
    "indexed": lambda: FRAME.set_index(["user", "item"]),
    "rows of two": lambda: [row[:2] for row in ROWS],
    "rows of three": lambda: [row[:3] for row in ROWS],
    "rows of four": lambda: ROWS,
    "lists": lambda: FRAME.groupby("user")["item"].agg(list).to_dict(),
    "sets": lambda: FRAME.groupby("user")["item"].agg(set).to_dict(),
    "dicts": lambda: {
        user: dict(zip(rows["item"], rows["rating"], strict=True))
        for user, rows in FRAME.groupby("user")
    },
    "lists in cells": lambda: FRAME.groupby("user", as_index=False).agg(list)[
        ["user", "item", "rating"]
    ],
    "a series of lists": lambda: FRAME.groupby("user")["item"].agg(list),
    "sparse": lambda: sparse.csr_array((FRAME["rating"], (FRAME["user"], FRAME["item"]))),
    "dataset": _make_dataset,
    "trainset": lambda: _make_dataset().build_full_trainset(),
    "testset": lambda: _make_dataset().build_full_trainset().build_testset(),
}  # fmt: skip
#: Names of files and their contents.
FILES: dict[str, tuple[str, str | bytes]] = {
    "CSV": ("r.csv", _CSV), "CSV without a heading": ("r.csv", _LINES),
    "MovieLens 1M": ("ratings.dat", _LINES.replace(",", "::")),
    "MovieLens 100K": ("u.data", _TABS), "RecBole": ("r.inter", _INTER + _TABS),
    "semicolons": ("r.csv", _CSV.replace(",", ";")),
    "compressed": ("r.csv.gz", gzip.compress(_CSV.encode())),
    "UTF-16": ("r.csv", _CSV.encode("utf-16")),
    "a note in Latin-1": ("r.csv", _LATIN.encode("latin-1")),
    "JSON lines": ("r.jsonl", FRAME.to_json(orient="records", lines=True)),
    "JSON": ("r.json", FRAME.to_json(orient="records")),
    "JSON by user": ("r.json", json.dumps(_group_items())),
}  # fmt: skip
#: Forms without ratings.
UNRATED = {"rows of two", "lists", "sets", "a series of lists", "JSON by user"}


def make(form: str, folder: Path) -> Any:
    """Return the ratings in a form; files are written to a folder."""
    if form in OBJECTS:
        return OBJECTS[form]()
    if form == "Parquet":
        FRAME.to_parquet(folder / "r.parquet")
        return folder / "r.parquet"
    if form in {"several files", "a pattern"}:
        for place, part in enumerate(np.array_split(np.arange(len(FRAME)), 3)):
            FRAME.iloc[part].to_csv(folder / f"part{place}.csv", index=False)
        paths = sorted(folder.glob("part*.csv"))
        return paths if form == "several files" else str(folder / "part*.csv")
    if form == "a format beside the path":
        (folder / "r.txt").write_text(_LINES.replace(",", "/"))
        return folder / "r.txt", TextFormat(separator="/", heading=False)
    name, content = FILES[form]
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


FORMS = [*OBJECTS, *FILES, "Parquet", "several files", "a pattern", "a format beside the path"]
