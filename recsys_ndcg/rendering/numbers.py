"""Every format of a number for people, and tables of numbers as text, as columns.toml says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.glossary import read_columns

_SMALLEST = 0.0001  # p that is not written as <0.0001
_HUGE = 1e9  # from here on six digits and a power of ten
_DATES = 1e8, 1e10  # numbers between these look like seconds since 1970
_DAY = 24 * 3600


def format_number(
    value: float, low: float = np.nan, high: float = np.nan, *, sign: str = "", form: str = "z.4f"
) -> str:
    """Format a number with four decimals, and the ends of its interval if there is one.

    A huge number has six digits, and NaN is a dash. `sign`: "+" for differences.

    Examples
    --------
    >>> format_number(0.25), format_number(1.5e60), format_signed(-0.00001)
    ('0.2500', '1.5e+60', '+0.0000')
    >>> format_signed(0.25, 0.125, 0.375)
    '+0.2500 [+0.1250, +0.3750]'
    """
    if np.isnan(value):
        return "-"
    text = f"{value:{sign}{form if abs(value) < _HUGE else '.6g'}}"  # z: no -0.0000
    if np.isnan(low) or np.isnan(high):
        return text
    return f"{text} [{format_number(low, sign=sign)}, {format_number(high, sign=sign)}]"


format_signed = partial(format_number, sign="+")


def format_size(value: float) -> str:
    """Format a number for a sentence: four decimals, or two digits if it is tiny or huge."""
    if np.isnan(value):
        return "-"
    return f"{value:z.4f}" if value == 0 or 0.001 <= abs(value) < 1e6 else f"{value:.2g}"


def format_range(
    low: float, high: float, pattern: str = "{}–{}", form: Callable[[float], str] = format_number
) -> str:
    """Format the least and the largest number, or the only one; a dash if there is none.

    Examples
    --------
    >>> format_range(0.25, 0.75), format_range(np.nan, np.nan), format_range(2, 2, form=str)
    ('0.2500–0.7500', '-', '2')
    """
    if np.isnan(low) or np.isnan(high):
        return "-"
    return form(low) if low == high else pattern.format(form(low), form(high))


def format_p_value(p: float, *, in_words: bool = False) -> str:
    """Format a p-value with four decimals, or with two digits for a sentence.

    Examples
    --------
    >>> format_p_value(0.012), format_p_value(0.00001), format_p(0.012), format_p(0.00001)
    ('0.0120', '<0.0001', 'p = 0.012', 'p < 0.0001')
    """
    if in_words:
        return f"p = {p:.2g}" if p >= _SMALLEST else f"p < {_SMALLEST}"
    return f"<{_SMALLEST}" if p < _SMALLEST else format_number(p)


format_p = partial(format_p_value, in_words=True)


def format_times(times: Iterable[float]) -> list[str]:
    """Return times as text: as dates (UTC) if they look like seconds since 1970.

    Examples
    --------
    >>> format_times([1.4e9, 1.5e9]), format_times([1.4e9, 1.4e9 + 60]), format_times([3, 7.5])
    (['2014-05-13', '2017-07-14'], ['2014-05-13 16:53', '2014-05-13 16:54'], ['3', '7.5'])
    """
    low, high = _DATES
    times = [*times]
    if all(low <= time < high for time in times):
        dates = pd.to_datetime(np.array(times, dtype=np.float64), unit="s")
        for form in ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"):
            texts = dates.strftime(form).tolist()
            if len({*texts}) == len(texts):
                return texts
    return [f"{time:.15g}" for time in times]


def format_percent(share: float, form: str = "+.3g", unit: str = "") -> str:
    """Format a share in percent: by default a relative difference, with three digits or all."""
    if np.isnan(share):
        return "-"
    return f"{100 * share:{form if abs(share) < 10 else '+,.0f'}}{unit}"


format_level = partial(format_percent, form=".10g")


def pluralise(n: int, noun: str = "user") -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> pluralise(1), pluralise(1234567)
    ('1 user', '1,234,567 users')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def format_period(period: Sequence[float]) -> str:
    """Return the first and the last of some times, and the days between them if they are dates.

    Examples
    --------
    >>> format_period([1.4e9, 1.5e9]), format_period([1.4e9, 1.4e9]), format_period([3, 7.5])
    ('from 2014-05-13 to 2017-07-14 (1,157 days)', 'of 2014-05-13', 'from 3 to 7.5')
    """
    (low, high), (first, last) = _DATES, period
    if not low <= first <= last < high:
        return f"from {first:g} to {last:g}"
    days = round((last - first) / _DAY)
    (begin,), (end,) = format_times([first]), format_times([last])
    return f"from {begin} to {end} ({pluralise(days, 'day')})" if days else f"of {begin}"


#: The formats of columns and of sentences, by name.
FORMATS: dict[str, Callable[..., str]] = {
    "value": lambda value: format_number(value) if isinstance(value, float) else str(value),
    "number": format_number,
    "signed": format_signed,
    "short": partial(format_number, form=".5g"),
    "seconds": partial(format_number, form=".2f"),
    "whole": partial(format_number, form=".0f"),
    "size": format_size,
    "distance": lambda difference: format_size(abs(difference)),
    "gain": lambda change: f"{'+' if change > 0 else ''}{format_size(change)}",
    "range": format_range,
    "ranks": partial(format_range, form=str),
    "ends": partial(format_range, pattern="[{}, {}]", form=format_signed),
    "span": lambda counts: format_range(min(counts), max(counts), "{} to {}", "{:,}".format),
    "period": format_period,
    "p": format_p_value,
    "p in words": format_p,
    "points": format_percent,
    "percent": partial(format_percent, unit=" %"),
    "share": partial(format_percent, form=".0f", unit=" %"),
    "level": lambda alpha: format_level(1 - alpha),
}


# Tables


def show_columns(
    table: pd.DataFrame,
    names: Iterable[str] = (),
    level: float = 0.95,
    *,
    plain: Collection[str] = (),
) -> pd.DataFrame:
    """Return columns of a table as text, under their headings.

    Parameters
    ----------
    table : pandas.DataFrame
        The values.
    names : iterable of str
        The columns, in order; those that the table does not have are left out. By default all.
    level : float
        The level of the intervals.
    plain : collection of str
        Columns with names of models or metrics, which may be the name of a column here.

    Examples
    --------
    >>> table = pd.DataFrame({"model": ["SVD"], "p_corrected": [0.00001], "ci_low": [0.25]})
    >>> show_columns(table.assign(ci_high=0.5), ["model", "interval", "p_corrected"], 0.9)
      model          [90%] corrected p
    0   SVD  0.2500–0.5000     <0.0001
    """
    cells = {}
    for name in names or map(str, table):
        column = {} if name in plain else read_columns().get(name, {})
        sources, form = column.get("of", [name]), column.get("format", "value")
        if not {*sources} <= {*table}:
            sources, form = [name], "value"
        if {*sources} <= {*table}:
            heading = column.get("heading", "{name}")
            heading = heading.format(level=f"{format_level(level)}%", name=name)
            values = zip(*(table[one] for one in sources), strict=True)
            cells[heading] = [_format_cell(FORMATS[form], *each) for each in values]
    return pd.DataFrame(cells)


def _format_cell(form: Callable[..., str], value: Any, *ends: float) -> str:
    """Format a value with its ends; text stays as it is, and a dash is no value."""
    if isinstance(value, str):
        return value
    return "-" if value is None or value is pd.NA else form(value, *ends)
