"""compare: from several models to a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recsys_ndcg.comparison.aligning import aligned
from recsys_ndcg.comparison.chance import CHANCE, with_chance
from recsys_ndcg.comparison.comparison import Comparison
from recsys_ndcg.comparison.entering import Asked, contenders_of, is_measured
from recsys_ndcg.comparison.field import Field
from recsys_ndcg.comparison.gate import check_margin
from recsys_ndcg.errors import InvalidInputError, nearest, shown, warn
from recsys_ndcg.files.archive import is_saved
from recsys_ndcg.report.segments import segments_of
from recsys_ndcg.report.segments.user_columns import is_table
from recsys_ndcg.significance.testing import AGREEING, Testing

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.comparison.contender import Contender
    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.scoring.plan import Cutoffs, Metrics


def compare(  # noqa: PLR0913 - the contract
    models: Any,
    *,
    metrics: Metrics = None,
    k: Cutoffs = 10,
    threshold: float | None = None,
    convention: Convention | str | None = None,
    baseline: str | None = None,
    by: Any = None,
    margin: float | None = None,
    users: str = "all",
    test: str = "t",
    correction: str | None = None,
    alpha: float = 0.05,
    draws: int = 10_000,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    train: Any = None,
    progress: bool = True,
) -> Comparison:
    """Compare models user by user: which is better, for whom, and how sure that is.

    Parameters
    ----------
    models : mapping of str to predictions, reports, saved reports or cross-validations
        By name, two or more; each is whatever `recsys_ndcg.evaluate` takes, a `Report`, the path of
        a saved one, what `recsys_ndcg.surprise.cross_validate` returns, a fitted search (a model
        for each combination), or a list of reports (seeds). A search may stand alone.
    metrics, k, threshold, convention, columns
        As in `recsys_ndcg.evaluate`, for predictions. Of reports, `metrics` chooses some; the
        first metric decides.
    baseline : str, optional
        Against which model users are won and lost: the first by default; ``"chance"`` is random
        order of the same lists, and joins the comparison.
    by : optional
        Segments of users: what `Report.by` takes.
    margin : float, optional
        Up to which a difference does not matter: whether models are not worse than each other by
        it, or equivalent, is tested (two one-sided t tests).
    users : {'all', 'common'}
        Whether different users are refused, or those that all models have are compared; how many
        were left out is said.
    test : {'t', 'randomisation', 'bootstrap', 'wilcoxon', 'sign'}
        Of the users' differences: Student's paired t test, random signs, resampled users.
    correction : {'max-T', 'holm', 'bonferroni', 'bh', 'none'}, optional
        For the number of pairs in a metric: max-T by default, Holm for tests that have none.
    alpha : float
        How often equal models may be called different, at least 1e-12; intervals are at
        1 - alpha.
    draws, seed : int
        Of signs, resamples, and what max-T needs.
    train : optional
        The users of the training data, or the data, for ``by="cold"`` and ``by="activity"``.
    progress : bool
        Whether a bar shows how far it is, where a person watches.

    Returns
    -------
    Comparison
        Leaderboard with tiers, pairs, segments, verdict, movers.

    Raises
    ------
    InvalidInputError
        The models were not measured on the same ratings, users and choices; or an option cannot
        be used.

    Warns
    -----
    DataWarning
        As for `recsys_ndcg.evaluate`; and of tests that are disputed.

    Notes
    -----
    The unit is the user: scores of one user in several folds or seeds are averaged first. A model's
    rank is in [1 + models significantly better, models - models significantly worse], and its tier
    is the lower end: models that the test cannot tell apart share one.

    References
    ----------
    Westfall & Young (1993), Resampling-based multiple testing; Mogstad, Romano, Shaikh & Wilhelm
    (2024), Inference for ranks, doi:10.1093/restud/rdad006; Piepho (2004),
    doi:10.1198/1061860043515

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> good = {user: [(4, 5), (3, 2), (2, 4)] for user in range(30)}
    >>> bad = {user: [(user % 3, 5), (1.5, 2), (1.2, 4)] for user in range(30)}
    >>> comparison = rn.compare({"good": good, "bad": bad}, metrics=["ndcg@3"])
    >>> comparison.leaderboard[["mean", "rank_low", "rank_high", "tier"]].round(3)
            mean  rank_low  rank_high  tier
    model
    good   0.963         1          1     1
    bad    0.765         2          2     2
    """
    how = _how(test, correction, alpha=alpha, draws=draws, seed=seed)
    if margin is not None:
        check_margin(margin)
    asked = Asked(metrics, k, threshold, convention, columns, progress)
    least = 1 if baseline == CHANCE else 2  # for random order joins them
    together = aligned(contenders_of(models, asked, least), users)
    entered = _with_baseline(together.contenders, baseline)
    how.check_pairs(len(entered) * (len(entered) - 1) // 2)
    first = next(iter(entered))
    field = Field(
        entered,
        how,
        first if baseline is None else baseline,
        margin=margin,
        groups=None if by is None else _groups(by, entered[first], models, train, columns),
        left_out=together.left_out,
        other_metrics=tuple(together.other_metrics),
        progress=progress,
    )
    return Comparison(field)


def _how(test: str, correction: str | None, **choices: Any) -> Testing:
    """Return the test; max-T is the correction of those that have it."""
    how = Testing.of(test, correction, **choices)
    if test not in AGREEING:
        msg = (
            f"test={test!r} is disputed. Against Wilcoxon and sign tests: their question is not "
            "about the mean, and on skewed differences they reject too often, the more so the more "
            "users there are (Urbano, Lima & Hanjalic, SIGIR 2019; Ihemelandu & Ekstrand, SIGIR "
            "2023). For Wilcoxon: corrected by Benjamini-Hochberg it kept its level and had the "
            "most power on TREC data (Otero, Parapar & Barreiro, ECIR 2025). 't', 'randomisation' "
            "and 'bootstrap' are about the mean."
        )
        warn(msg)
    return how


def _with_baseline(found: Mapping[str, Contender], baseline: str | None) -> Mapping[str, Contender]:
    """Return the models with random order among them, if that is the baseline."""
    if baseline == CHANCE and CHANCE not in found:
        return with_chance(found)
    if baseline is not None and (not isinstance(baseline, str) or baseline not in found):
        msg = f"baseline={shown(baseline)} is none of the models. {nearest(str(baseline), found)}"
        raise InvalidInputError(msg)
    return found


def _groups(
    by: Any,
    first: Contender,
    models: Any,
    train: Any,
    columns: Mapping[str, str] | None,
) -> pd.Series[Any]:
    """Return the segment of each user; a column is looked up in the predictions given first."""
    given = models.values() if isinstance(models, Mapping) else ()
    tables = (one for one in given if not is_measured(one) and is_table(one, columns))
    tables = (one for one in tables if not (isinstance(one, str | Path) and is_saved(one)))
    data = next(tables, None)
    return segments_of(
        by, first.users, first.counts, first.per_user, data=data, train=train, columns=columns
    )
