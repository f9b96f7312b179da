"""evaluate: from predictions in any form to a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.convention.convention import Convention
from recsys_ndcg.convention.gains import BY_THRESHOLD
from recsys_ndcg.errors import InvalidInputError, is_number, shown, warn
from recsys_ndcg.lists.ranked_lists import RankedLists
from recsys_ndcg.metrics import Metric, parse
from recsys_ndcg.report.audit import Audit
from recsys_ndcg.report.report import Report
from recsys_ndcg.scoring.source import Source

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats

_DEFAULT_METRICS = ("ndcg", "precision", "recall")
_MOST = 0.5
_FEW_ROWS = 10


def evaluate(  # noqa: PLR0913 - the contract
    data: Any,
    *,
    metrics: Iterable[str | Metric] | str | Metric | None = None,
    k: int | Iterable[int | None] | None = 10,
    threshold: float | None = None,
    convention: Convention | None = None,
    columns: Mapping[str, str] | None = None,
) -> Report:
    """Rank each user's items by their estimates and score the lists.

    Parameters
    ----------
    data : predictions
        A pandas, polars or pyarrow table with the columns user, item, estimated and true; rows
        ``(user, item, estimated, true)``; Surprise predictions; ``{user: [(estimated, true)]}``;
        a dict of columns; the path of a CSV or Parquet file, or of pickled Surprise predictions,
        which is read without executing it; or `RankedLists`.
    metrics : names or metric objects, optional
        ``"ndcg@10"``, ``"precision@5"``, ``"rr"`` …; a name without ``@k`` takes every `k`.
        By default ndcg, precision and recall; without a threshold ndcg alone.
    k : int or several, optional
        The cutoffs of names without their own; None cuts nowhere.
    threshold : float, optional
        From which true value an item is relevant. Not needed where all are 0 or 1.
    convention : Convention, optional
        Every other choice that moves a number.
    columns : mapping, optional
        Our column names to the table's: ``{"estimated": "est", "true": "r_ui"}``.

    Returns
    -------
    Report
        Scores per user, averaged and pooled, with how they were computed.

    Raises
    ------
    InvalidInputError
        The data or an option cannot be used; the message says where and what to do.
    UnknownMetricError
        No metric has that name.

    Warns
    -----
    DataWarning
        The data is legal, but the score says little: most lists have one item, most estimates
        stand at a bound of the scale, or tied estimates leave the third decimal open.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> ann = [("ann", "a", 4.5, 5), ("ann", "b", 3.0, 2)]
    >>> bob = [("bob", "a", 2.0, 4), ("bob", "b", 3.5, 3)]
    >>> report = rn.evaluate(ann + bob, k=2, threshold=4)
    >>> report.per_user.round(3)
          n_items  n_relevant  ndcg@2  precision@2  recall@2
    user
    ann         2           1   1.000          0.5       1.0
    bob         2           1   0.848          0.5       1.0
    >>> report.mean["ndcg@2"].round(3), report.pooled["ndcg@2"].round(3)
    (np.float64(0.924), np.float64(0.944))
    """
    source = source_of(data, metrics, k, threshold, convention, columns)
    measured = source.measured()
    audit = Audit(source, measured)
    _warn_of_data(source.lists)
    _warn_of_ties(audit, len(source.lists))
    return Report.of(source, measured, audit)


def source_of(  # noqa: PLR0913, PLR0917 - those of evaluate
    data: Any,
    metrics: Iterable[str | Metric] | str | Metric | None,
    k: int | Iterable[int | None] | None,
    threshold: float | None,
    convention: Convention | None,
    columns: Mapping[str, str] | None = None,
) -> Source:
    """Read the data and settle the choices of `evaluate`, whose parameters these are."""
    convention = convention_or_default(convention)
    lists = RankedLists.of(data, columns=columns, duplicates=convention.duplicates)
    chosen = chosen_metrics(metrics, k, has_threshold=threshold is not None)
    true = np.concatenate([lists.true, lists.unlisted_true])
    threshold = threshold_for(true, chosen, convention, threshold)
    _refuse_senseless(lists, chosen, convention)
    return Source.of(lists, chosen, convention, threshold)


def default_metrics(*, has_threshold: bool) -> Sequence[str]:
    """Return what is measured where nothing is asked for."""
    return _DEFAULT_METRICS if has_threshold else _DEFAULT_METRICS[:1]


def convention_or_default(convention: Convention | None) -> Convention:
    """Return the convention, the default one for None.

    Raises
    ------
    InvalidInputError
        It is something else.
    """
    if convention is None:
        return Convention()
    if not isinstance(convention, Convention):
        msg = (
            f"convention must be a Convention(...), not {shown(convention)}. "
            "That of a library is Convention.preset('sklearn'), for instance."
        )
        raise InvalidInputError(msg)
    return convention


def chosen_metrics(
    metrics: Iterable[str | Metric] | str | Metric | None,
    k: int | Iterable[int | None] | None,
    *,
    has_threshold: bool,
) -> list[Metric]:
    """Return the metrics once each, in the order they were asked for."""
    if metrics is None:
        metrics = default_metrics(has_threshold=has_threshold)
    elif isinstance(metrics, str | Metric) or not isinstance(metrics, Iterable):
        metrics = [metrics]
    single = isinstance(k, str | bytes) or not hasattr(k, "__iter__") or getattr(k, "ndim", 1) == 0
    ks: list[Any] = [k] if single else list(k)  # type: ignore[arg-type]
    found: dict[Metric, None] = {}
    for one in metrics:
        if not isinstance(one, str | Metric):
            msg = f"A metric is a name such as 'ndcg@10' or a metric object, not {shown(one)}."
            raise InvalidInputError(msg)
        found.update(dict.fromkeys([one] if isinstance(one, Metric) else parse(one, ks)))
    if not found:
        msg = "Name at least one metric and one k, such as 'ndcg@10'."
        raise InvalidInputError(msg)
    return list(found)


def threshold_for(
    true: Floats, metrics: Sequence[Metric], convention: Convention, threshold: float | None
) -> float | None:
    """Return the threshold; 1 without one, where all grades are 0 or 1 and it is needed.

    Raises
    ------
    InvalidInputError
        It is needed, and there is none.
    """
    if threshold is not None:
        if not is_number(threshold):
            msg = f"threshold must be a finite number, not {shown(threshold)}."
            raise InvalidInputError(msg)
        return float(threshold)
    needing = [str(metric) for metric in metrics if metric.needs_threshold]
    if any(metric.uses_gains for metric in metrics) and convention.gain in BY_THRESHOLD:
        needing.append(f"gain={convention.gain!r}")
    if convention.mean_over == "relevant":
        needing.append("mean_over='relevant'")
    if not needing:
        return None
    if np.isin(true[~np.isnan(true)], (0.0, 1.0)).all():
        return 1.0
    msg = (
        f"{', '.join(needing)} needs to know which items are relevant: pass threshold=4.0, for "
        "instance, so that items with a true value of at least 4.0 are."
    )
    raise InvalidInputError(msg)


def _refuse_senseless(lists: RankedLists, metrics: list[Metric], convention: Convention) -> None:
    """Refuse data on which no score means anything."""
    true, unlabelled = lists.true, np.isnan(lists.true)
    if unlabelled.all() and not len(lists.unlisted_true):
        msg = (
            "No item has a true value, so there is nothing to compare the estimates with. "
            "Give the users' own ratings as 'true' (Surprise: r_ui)."
        )
        raise InvalidInputError(msg)
    rated = lists.protocol == "rated"
    constant = rated and not unlabelled.any() and bool((true == true[0]).all())
    if constant and len(lists) > 1 and len(true) > 2:
        msg = (
            f"Every true value is {true[0]} ({len(true)} rows, {len(lists)} users), so every order "
            "scores the same. If they come from Surprise's build_anti_testset(), which fills in "
            "the mean, give the real ratings: RankedLists.from_labels(test_ratings, predictions), "
            "or rank all items by the plug-in's evaluate_catalogue(algo, trainset, testset)."
        )
        raise InvalidInputError(msg)
    errors = [str(metric) for metric in metrics if not metric.orders]
    if errors and convention.impossible == "last" and lists.n_impossible:
        msg = (
            f"impossible='last' moves estimates, which {', '.join(errors)} compares with ratings. "
            "Ask for it under impossible='rank' or 'drop'."
        )
        raise InvalidInputError(msg)
    if errors and (lists.order_only or not rated):
        msg = (
            f"{', '.join(errors)} compares estimates with ratings, but these lists hold ranks, or "
            "scores that may be on another scale. Ask for it on predictions of ratings."
        )
        raise InvalidInputError(msg)


def _warn_of_data(lists: RankedLists) -> None:
    estimated, ones = lists.estimated, int((lists.n_items == 1).sum())
    if lists.protocol == "rated" and len(lists) > 1 and ones / len(lists) > _MOST:
        msg = (
            f"{ones} of {len(lists)} users have one item: any order of it is perfect, so these "
            "users say nothing about the model."
        )
        warn(msg)
    if len(estimated) < _FEW_ROWS or lists.protocol != "rated":
        return
    for bound in (estimated.max(), estimated.min()):
        share = float((estimated == bound).mean())
        if share > _MOST:
            msg = (
                f"{share:.1%} of the estimates are exactly {bound}, while the true values run "
                f"from {np.nanmin(lists.true)} to {np.nanmax(lists.true)}: was the model given the "
                "wrong rating_scale? Those items are tied."
            )
            warn(msg)
            return


def _warn_of_ties(audit: Audit, n_users: int) -> None:
    found = audit.widest_tie_range()
    if found:
        metric, low, high = found
        msg = (
            f"Tied estimates ({audit.n_tied} of {n_users} users) leave {metric} open between "
            f"{low:.4f} and {high:.4f}."
        )
        warn(msg)
