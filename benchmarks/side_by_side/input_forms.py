"""Time other forms of the input, relative to integers in a pandas frame."""

from __future__ import annotations

from functools import cached_property, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from evaluate import Prediction, evaluate

import recsys_ndcg as rn
from side_by_side.measuring import time_call
from side_by_side.tables import TIMES, format_range, format_table, format_times

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    #: prepares the data, untimed; its result returns the data to evaluate, timed
    Maker = Callable[["SourceData"], Callable[[], Any]]


class InputForm(NamedTuple):
    """A form of the input data.

    Parameters
    ----------
    name : str
        The name as printed.
    make : callable
        Makes the data.
    needs : str
        The library that it needs, if any.
    convention : Convention, optional
        The convention of the evaluation.
    """

    name: str
    make: Maker
    needs: str = ""
    convention: rn.Convention | None = None


class SourceData:
    """The same ratings as integers, as text, and in several table types.

    Parameters
    ----------
    frame : DataFrame
        The ratings with integer ids.
    folder : Path
        The folder for files.
    """

    def __init__(self, frame: pd.DataFrame, folder: Path) -> None:
        self.frame = frame
        self.folder = folder

    @cached_property
    def text(self) -> pd.DataFrame:
        """The ratings with text ids, a Python object per row; they sort like the integers."""
        frame = self.frame
        user, item = ([*map(form, frame[name])] for name, form in _TEXT.items())
        ids = {"user": pd.Series(user, dtype=object), "item": pd.Series(item, dtype=object)}
        return frame.assign(**ids)

    def as_text(self, kind: Any) -> pd.DataFrame:
        """Return text ids of another pandas type."""
        return self.text.astype({"user": kind, "item": kind})

    @property
    def arrow(self) -> Any:
        """The ratings with text ids, in a pyarrow table."""
        import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415 - may be absent

        return pa.Table.from_pandas(self.text, preserve_index=False)

    @property
    def polars(self) -> Any:
        """The ratings with text ids, in a polars table."""
        import polars as pl  # noqa: PLC0415 - may be absent

        return pl.from_pandas(self.text)

    def with_repeats(self) -> pd.DataFrame:
        """Return integers; one row in a hundred repeats the user and item of another row."""
        draw = np.random.default_rng(0)
        place = np.arange(len(self.frame))
        again = draw.choice(place, len(place) // 100, replace=False)
        place[again] = draw.choice(np.delete(place, again), len(again))
        rows = self.frame.iloc[place].reset_index(drop=True)
        rows.loc[again, "estimated"] += 1
        return rows


_TEXT = {"user": "u{:07d}".format, "item": "i{:06d}".format}


def _wrap(data: Any) -> Callable[[], Any]:
    """Return a function that returns the data unchanged."""
    return lambda: data


def _polars_as(source: SourceData, name: str) -> Callable[[], Any]:
    """Return text ids as polars Categorical, or as Enum, which lists its categories in advance."""
    import polars as pl  # noqa: PLC0415 - may be absent

    rows = source.polars
    kinds = {
        one: pl.Enum(rows[one].unique().sort()) if name == "Enum" else pl.Categorical
        for one in ("user", "item")
    }
    return _wrap(rows.cast(kinds))


def _dictionaries(source: SourceData) -> Callable[[], Any]:
    """Return Arrow's dictionary-encoded text."""
    rows = source.arrow
    for place, name in enumerate(("user", "item")):
        rows = rows.set_column(place, name, rows[name].dictionary_encode())
    return _wrap(rows)


def _file(frame: pd.DataFrame, path: Path) -> Callable[[], Any]:
    """Write a frame to a file, and return the path."""
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, index=False)
    return _wrap(path)


def _lazy(source: SourceData) -> Callable[[], Any]:
    """Return a lazy frame of a file that has four more columns."""
    import polars as pl  # noqa: PLC0415 - may be absent

    more = {f"more {name}": source.frame[name] for name in source.frame}
    path = _file(source.frame.assign(**more), source.folder / "wide.parquet")()
    return _wrap(pl.scan_parquet(path))


def _predictions(source: SourceData) -> Callable[[], Any]:
    """Return predictions as Surprise's ``algo.test`` does."""
    rows = source.frame.itertuples(index=False, name=None)
    details = ({"was_impossible": False} for _ in source.frame.index)
    return _wrap(
        [
            Prediction(u, i, true, est, one)
            for (u, i, est, true), one in zip(rows, details, strict=True)
        ]
    )


def _labels(source: SourceData) -> Callable[[], Any]:
    """Return labels and results as tables."""
    labels = source.frame[["user", "item", "true"]].sample(frac=1, random_state=0)
    results = source.frame[["user", "item", "estimated"]]
    return lambda: rn.RankedLists.from_labels(labels, results)


BASE = InputForm("integers in pandas", lambda source: _wrap(source.frame))
INPUT_FORMS = (
    InputForm("pandas, text as objects", lambda source: _wrap(source.text)),
    InputForm("pandas, text as str", lambda source: _wrap(source.as_text("str"))),
    InputForm(
        "pandas, Arrow strings", lambda source: _wrap(source.as_text("string[pyarrow]")), "pyarrow"
    ),
    InputForm("pandas, categories", lambda source: _wrap(source.as_text("category"))),
    InputForm("pyarrow, text", lambda source: _wrap(source.arrow), "pyarrow"),
    InputForm("pyarrow, dictionaries", _dictionaries, "pyarrow"),
    InputForm("polars, text", lambda source: _wrap(source.polars), "polars"),
    InputForm("polars, Categorical", lambda source: _polars_as(source, "Categorical"), "polars"),
    InputForm("polars, Enum", lambda source: _polars_as(source, "Enum"), "polars"),
    InputForm("polars, lazy, 4 of 8 columns", _lazy, "polars"),
    InputForm(
        "Parquet, integers",
        lambda source: _file(source.frame, source.folder / "i.parquet"),
        "pyarrow",
    ),
    InputForm(
        "Parquet, text", lambda source: _file(source.text, source.folder / "t.parquet"), "pyarrow"
    ),
    InputForm("CSV, integers", lambda source: _file(source.frame, source.folder / "i.csv")),
    InputForm("CSV, text", lambda source: _file(source.text, source.folder / "t.csv")),
    InputForm(
        "rows as tuples", lambda source: _wrap([*source.frame.itertuples(index=False, name=None)])
    ),
    InputForm("Surprise predictions", _predictions),
    InputForm("from_labels", _labels),
    InputForm(
        '1 % repeated rows, "first"',
        lambda source: _wrap(source.with_repeats()),
        "",
        rn.Convention(duplicates="first"),
    ),
    InputForm(
        '1 % repeated rows, "mean"',
        lambda source: _wrap(source.with_repeats()),
        "",
        rn.Convention(duplicates="mean"),
    ),
    InputForm('ties="item_asc"', BASE.make, "", rn.Convention(ties="item_asc")),
    InputForm('ties="text_asc"', BASE.make, "", rn.Convention(ties="text_asc")),
)


def evaluate_form(form: InputForm, data: Callable[[], Any]) -> pd.Series[float]:
    """Evaluate a form of the input."""
    return evaluate(data(), form.convention)


def compare_forms(frame: pd.DataFrame, folder: Path, times: int) -> str:
    """Run each form alternately with integers in pandas, and return the table."""
    source = SourceData(frame, folder)
    base, rows, all_base, absent = BASE.make(source), [], [], []
    means = evaluate_form(BASE, base)
    for form in INPUT_FORMS:
        if form.needs and find_spec(form.needs) is None:
            absent.append(f"{form.name}: not run: {form.needs} is not installed")
            continue
        data = form.make(source)
        difference = (evaluate_form(form, data) - means).abs().max()
        work = partial(evaluate_form, BASE, base), partial(evaluate_form, form, data)
        pairs = np.array([[*map(time_call, work)] for _ in range(times)])
        all_base += [*pairs[:, 0]]
        ratios = pairs[:, 1] / pairs[:, 0]
        shown = format_times(np.median(pairs[:, 1], axis=0), np.median(ratios, axis=0))
        spread = format_range(ratios[:, 0])
        rows.append([form.name, *shown, spread, "" if form.convention else f"{difference:.0e}"])
    first = [BASE.name, *format_times(np.median(all_base, axis=0), (1.0, 1.0)), "", ""]
    head = ["", *TIMES, "range by CPU", "max diff"]
    return "\n".join([format_table(head, [first, *rows]), *absent])
