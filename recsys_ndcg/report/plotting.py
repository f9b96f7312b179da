"""What the plots of a report show: its metrics by cutoff, and its users against chance."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import pandas as pd

from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, shown
from recsys_ndcg.metrics import parse
from recsys_ndcg.report.tables import intervals

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.scoring import Audit, Measurement

KINDS = ("k", "users")
_FEW = 5  # up to here, each cutoff is measured for a plot; beyond, round ones
_MOST = 8  # cutoffs that are measured for a plot
_ROUND = [first * 10**zeros for zeros in range(18) for first in (1, 2, 5)]


def plotted(
    audited: Audit, kind: str, metric: str | None, known: Callable[[str], str]
) -> alt.LayerChart | alt.ConcatChart:
    """Return a plot of one kind, of one metric or of those that a plot of that kind can show.

    Parameters
    ----------
    audited : Audit
        With the scores.
    kind : str
        One of `KINDS`.
    metric : str, optional
        As somebody typed it.
    known : callable
        Returns the name that a report has for a metric, or refuses it.

    Raises
    ------
    InvalidInputError
        There is no such kind or metric, or nobody has a score.
    MissingExtraError
        Vega-Altair is not installed.
    """
    from recsys_ndcg.rendering import plot  # noqa: PLC0415 - rarely needed

    if kind not in KINDS:
        msg = f"kind must be 'k' or 'users', not {shown(kind)}."
        raise InvalidInputError(msg)
    if kind == "users":
        name = audited.scores.names[0] if metric is None else known(metric)
        _check_scored(audited, [name])
        scores = audited.full_scores
        place = scores.names.index(name)
        columns = {"score": scores.per_user[:, place], "chance": scores.roles["chance"][:, place]}
        return plot(kind, pd.DataFrame(columns), name)
    return plot(kind, by_cutoff(audited, _families(audited, metric, known)))


def by_cutoff(audited: Audit, families: dict[str, list[Measurement]]) -> pd.DataFrame:
    """Return mean, interval and chance of each family at each cutoff.

    One that has a single cutoff is measured at smaller ones, too, where the lists are at hand.
    """
    _check_scored(audited, [str(one) for some in families.values() for one in some])
    told = _told(audited)
    if audited.lists is not None:
        fewer = {name: _smaller(some[0]) for name, some in families.items() if len(some) == 1}
        if any(fewer.values()):
            told = pd.concat([told, _told(audited.measured_by(tuple(chain(*fewer.values()))))])
        families = {name: [*some, *fewer.get(name, [])] for name, some in families.items()}
    parts = [told.loc[[*map(str, some)]].assign(metric=name) for name, some in families.items()]
    return pd.concat(parts, ignore_index=True).astype({"k": int})


def _told(audited: Audit) -> pd.DataFrame:
    totals = audited.order_totals
    ends = intervals(totals)
    columns = {
        "k": [one.metric.k for one in totals.measurements],
        "mean": totals.mean,
        "low": ends["mean_low"].to_numpy(),
        "high": ends["mean_high"].to_numpy(),
        "chance": totals.mean_of("chance"),
    }
    return pd.DataFrame(columns, index=totals.names)


def _families(
    audited: Audit, metric: str | None, known: Callable[[str], str]
) -> dict[str, list[Measurement]]:
    """Return the measurements with a cutoff by their name without it: all, or those of a metric."""
    named = {str(one): one for one in audited.scores.measurements}
    families: dict[str, list[Measurement]] = {}
    for name, one in named.items():
        if one.metric.k is not None:
            families.setdefault(name.removesuffix(f"@{one.metric.k}"), []).append(one)
    if metric is None and families:
        return families
    if metric is not None:
        with suppress(RecsysNdcgError):  # such as NDCG, which is ndcg
            metric = str(parse(metric)[0])
        if metric not in families:
            k = named[known(metric)].metric.k
            metric = known(metric).removesuffix(f"@{k}")
        if metric in families:
            return {metric: families[metric]}
    what = f"{metric} has no cutoff" if metric else "No metric of this report has a cutoff"
    msg = f"{what} to be plotted against: evaluate 'ndcg@10', for instance, or plot('users')."
    raise InvalidInputError(msg)


def _smaller(one: Measurement) -> list[Measurement]:
    """Return a measurement at smaller, round cutoffs."""
    k = one.metric.k or 1
    ks = range(1, k) if k <= _FEW else [n for n in _ROUND if n < k]
    ks = ks[:: -(-len(ks) // _MOST)] if len(ks) > _MOST else ks
    # what is undefined there was not asked for, and is left out
    rule = "skip" if one.convention.undefined == "raise" else one.convention.undefined
    one = one.under(undefined=rule)
    return [replace(one, metric=replace(one.metric, k=n), short_below=n) for n in ks]


def _check_scored(audited: Audit, names: list[str]) -> None:
    """Refuse to plot what no user has."""
    scored = dict(zip(audited.scores.names, audited.scores.n_scored, strict=True))
    if not any(scored[name] for name in names):
        msg = f"Nobody has a score in {', '.join(names)}: there is nothing to plot."
        raise InvalidInputError(msg)
