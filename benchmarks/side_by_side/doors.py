"""The forms in which data comes: what each costs against integers in a frame of pandas."""

from __future__ import annotations

import time
from functools import cached_property
from importlib.util import find_spec
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from evaluate import Prediction, evaluated

import recsys_ndcg as rn
from side_by_side.tables import ratio, seconds, spread, table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    #: makes what a user has, untimed; its result gives what is evaluated, timed
    Maker = Callable[["Forms"], Callable[[], Any]]


class Door(NamedTuple):
    """A form of the data.

    Parameters
    ----------
    name : str
        As printed.
    make : callable
        Makes the data.
    needs : str
        The library that it takes, if any.
    convention : Convention, optional
        Under which it is measured.
    """

    name: str
    make: Maker
    needs: str = ""
    convention: rn.Convention | None = None


class Forms:
    """The same ratings in the forms that several doors begin with.

    Parameters
    ----------
    frame : DataFrame
        Integers.
    folder : Path
        For files.
    """

    def __init__(self, frame: pd.DataFrame, folder: Path) -> None:
        self.frame = frame
        self.folder = folder

    @cached_property
    def text(self) -> pd.DataFrame:
        """With text as Python objects, one for each row, in the order of the numbers."""
        frame = self.frame
        user, item = ([*map(form, frame[name])] for name, form in _TEXT.items())
        ids = {"user": pd.Series(user, dtype=object), "item": pd.Series(item, dtype=object)}
        return frame.assign(**ids)

    def as_text(self, kind: Any) -> pd.DataFrame:
        """Return text of another type of pandas."""
        return self.text.astype({"user": kind, "item": kind})

    @property
    def arrow(self) -> Any:
        """Return text in a table of pyarrow."""
        import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415 - may be absent

        return pa.Table.from_pandas(self.text, preserve_index=False)

    @property
    def polars(self) -> Any:
        """Return text in a table of polars."""
        import polars as pl  # noqa: PLC0415 - may be absent

        return pl.from_pandas(self.text)

    def with_repeats(self) -> pd.DataFrame:
        """Return integers, where one row of a hundred repeats another one's user and item."""
        draw = np.random.default_rng(0)
        place = np.arange(len(self.frame))
        again = draw.choice(place, len(place) // 100, replace=False)
        place[again] = draw.choice(np.delete(place, again), len(again))
        rows = self.frame.iloc[place].reset_index(drop=True)
        rows.loc[again, "estimated"] += 1
        return rows


_TEXT = {"user": "u{:07d}".format, "item": "i{:06d}".format}


def _it(data: Any) -> Callable[[], Any]:
    """Return data that is evaluated as it is."""
    return lambda: data


def _polars_as(forms: Forms, name: str) -> Callable[[], Any]:
    """Return polars' categories: Categorical, or Enum, which says which there are."""
    import polars as pl  # noqa: PLC0415 - may be absent

    rows = forms.polars
    kinds = {
        one: pl.Enum(rows[one].unique().sort()) if name == "Enum" else pl.Categorical
        for one in ("user", "item")
    }
    return _it(rows.cast(kinds))


def _dictionaries(forms: Forms) -> Callable[[], Any]:
    """Return Arrow's dictionary-encoded text."""
    rows = forms.arrow
    for place, name in enumerate(("user", "item")):
        rows = rows.set_column(place, name, rows[name].dictionary_encode())
    return _it(rows)


def _file(frame: pd.DataFrame, path: Path) -> Callable[[], Any]:
    """Return the path of a frame that is written there."""
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, index=False)
    return _it(path)


def _lazy(forms: Forms) -> Callable[[], Any]:
    """Return a lazy frame of a file that has as many columns beside ours."""
    import polars as pl  # noqa: PLC0415 - may be absent

    more = {f"beside {name}": forms.frame[name] for name in forms.frame}
    path = _file(forms.frame.assign(**more), forms.folder / "wide.parquet")()
    return _it(pl.scan_parquet(path))


def _predictions(forms: Forms) -> Callable[[], Any]:
    """Return what ``algo.test`` of Surprise returns."""
    rows = forms.frame.itertuples(index=False, name=None)
    said = ({"was_impossible": False} for _ in forms.frame.index)
    return _it(
        [
            Prediction(u, i, true, est, one)
            for (u, i, est, true), one in zip(rows, said, strict=True)
        ]
    )


def _labels(forms: Forms) -> Callable[[], Any]:
    """Return labels and results as tables."""
    labels = forms.frame[["user", "item", "true"]].sample(frac=1, random_state=0)
    results = forms.frame[["user", "item", "estimated"]]
    return lambda: rn.RankedLists.from_labels(labels, results)


BASE = Door("integers in pandas", lambda forms: _it(forms.frame))
DOORS = (
    Door("pandas, text as objects", lambda forms: _it(forms.text)),
    Door("pandas, text as str", lambda forms: _it(forms.as_text("str"))),
    Door("pandas, Arrow strings", lambda forms: _it(forms.as_text("string[pyarrow]")), "pyarrow"),
    Door("pandas, categories", lambda forms: _it(forms.as_text("category"))),
    Door("pyarrow, text", lambda forms: _it(forms.arrow), "pyarrow"),
    Door("pyarrow, dictionaries", _dictionaries, "pyarrow"),
    Door("polars, text", lambda forms: _it(forms.polars), "polars"),
    Door("polars, Categorical", lambda forms: _polars_as(forms, "Categorical"), "polars"),
    Door("polars, Enum", lambda forms: _polars_as(forms, "Enum"), "polars"),
    Door("polars, lazy, of 8 columns", _lazy, "polars"),
    Door(
        "Parquet, integers", lambda forms: _file(forms.frame, forms.folder / "i.parquet"), "pyarrow"
    ),
    Door("Parquet, text", lambda forms: _file(forms.text, forms.folder / "t.parquet"), "pyarrow"),
    Door("CSV, integers", lambda forms: _file(forms.frame, forms.folder / "i.csv")),
    Door("CSV, text", lambda forms: _file(forms.text, forms.folder / "t.csv")),
    Door("rows as tuples", lambda forms: _it([*forms.frame.itertuples(index=False, name=None)])),
    Door("Surprise predictions", _predictions),
    Door("from_labels", _labels),
    Door(
        "1 % repeated, duplicates first",
        lambda forms: _it(forms.with_repeats()),
        "",
        rn.Convention(duplicates="first"),
    ),
    Door(
        "1 % repeated, duplicates mean",
        lambda forms: _it(forms.with_repeats()),
        "",
        rn.Convention(duplicates="mean"),
    ),
    Door("ties item_asc", BASE.make, "", rn.Convention(ties="item_asc")),
    Door("ties text_asc", BASE.make, "", rn.Convention(ties="text_asc")),
)


def through(door: Door, data: Callable[[], Any]) -> pd.Series[float]:
    """Evaluate what comes through a door."""
    return evaluated(data(), door.convention)


def _timed(door: Door, data: Callable[[], Any]) -> float:
    start = time.perf_counter()
    through(door, data)
    return time.perf_counter() - start


def compared(frame: pd.DataFrame, folder: Path, times: int) -> str:
    """Return the table: each door in turn with the base."""
    forms = Forms(frame, folder)
    base, rows, all_base, absent = BASE.make(forms), [], [], []
    means = through(BASE, base)
    for door in DOORS:
        if door.needs and find_spec(door.needs) is None:
            absent.append(f"{door.name}: not run: no {door.needs} here")
            continue
        data = door.make(forms)
        found = through(door, data)
        off = "" if door.convention else f"{(found - means).abs().max():.0e}"
        pairs = [(_timed(BASE, base), _timed(door, data)) for _ in range(times)]
        all_base += [ours for ours, _ in pairs]
        ratios = [theirs / ours for ours, theirs in pairs]
        took = seconds(median(theirs for _, theirs in pairs))
        rows.append([door.name, took, ratio(median(ratios)), spread(ratios), off])
    first = [BASE.name, seconds(median(all_base)), "1.00", "", ""]
    head = ["", "seconds", "ratio", "of pairs", "off by"]
    return "\n".join([table(head, [first, *rows]), *absent])
