"""Every format of a number for people: in tables, sentences, charts and templates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

_SMALLEST = 0.0001  # p that is not written as <0.0001
_HUGE = 1e9  # from here on six digits and a power of ten
_DATES = 1e8, 1e10  # numbers between these look like seconds since 1970
_DAY = 24 * 3600


def format_number(value: float, sign: str = "") -> str:
    """Format a number with four decimals, a huge one with six digits, NaN as a dash."""
    if np.isnan(value):
        return "-"
    return f"{value:{sign}z.4f}" if abs(value) < _HUGE else f"{value:{sign}.6g}"  # z: no -0.0000


def format_signed(value: float, low: float = np.nan, high: float = np.nan) -> str:
    """Format a difference with its sign, and the ends of its interval if there is one.

    Examples
    --------
    >>> format_signed(0.25), format_signed(-0.00001), format_signed(1.5e60)
    ('+0.2500', '+0.0000', '+1.5e+60')
    >>> format_signed(0.25, 0.125, 0.375)
    '+0.2500 [+0.1250, +0.3750]'
    """
    middle = format_number(value, "+")
    if np.isnan(low) or np.isnan(high):
        return middle
    return f"{middle} [{format_signed(low)}, {format_signed(high)}]"


def format_range(low: float, high: float) -> str:
    """Format the ends of an interval for a table, a dash if there is none.

    Examples
    --------
    >>> format_range(0.25, 0.75), format_range(np.nan, np.nan)
    ('0.2500–0.7500', '-')
    """
    if np.isnan(low) or np.isnan(high):
        return "-"
    return f"{format_number(low)}–{format_number(high)}"


def format_interval(low: float, high: float, level: float) -> str:
    """Describe an interval; empty if there is none.

    Examples
    --------
    >>> format_interval(0.25, 0.75, 0.95)
    '95 % interval 0.2500 to 0.7500'
    """
    if np.isnan(low) or np.isnan(high):
        return ""
    return f"{name_interval(level)} {format_number(low)} to {format_number(high)}"


def name_interval(level: float) -> str:
    """Return the name of an interval: ``95 % interval``."""
    return f"{100 * level:.10g} % interval"


def format_p_value(p: float) -> str:
    """Format a p-value with four decimals."""
    return f"<{_SMALLEST}" if p < _SMALLEST else format_number(p)


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


def pluralise(n: int, noun: str = "user") -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> pluralise(1), pluralise(1234567)
    ('1 user', '1,234,567 users')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def format_size(value: float) -> str:
    """Format a number for a sentence: four decimals, or two digits if it is tiny or huge."""
    if np.isnan(value):
        return "-"
    return f"{value:z.4f}" if value == 0 or 0.001 <= abs(value) < 1e6 else f"{value:.2g}"


def describe_interval(low: float, high: float, alpha: float, kind: str = "interval") -> str:
    """Return an interval's level, kind and ends, for a sentence."""
    return f"{100 * (1 - alpha):.10g} % {kind} {format_size(low)} to {format_size(high)}"


def format_p(p: float) -> str:
    """Format a p-value for a sentence, with two digits."""
    return f"p = {p:.2g}" if p >= _SMALLEST else f"p < {_SMALLEST}"


def format_percent(share: float) -> str:
    """Format a relative difference in percent, with three digits or all."""
    return f"{100 * share:+,.0f}" if abs(share) >= 10 else f"{100 * share:+.3g}"


def format_span(counts: Sequence[int]) -> str:
    """Return the least and the largest number, or the only one."""
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


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
