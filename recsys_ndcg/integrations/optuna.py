"""A pruner for Optuna that stops a trial only if it is certainly worse than the best."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError, check_level
from recsys_ndcg.input import to_floats
from recsys_ndcg.metrics import Metric
from recsys_ndcg.report import Report
from recsys_ndcg.scoring import find_metric_name
from recsys_ndcg.significance import Moments, mean_interval

_MOMENTS = ("count", "ratio", "residual", "n_nonzero", "n_below")
_ATTRIBUTE = "recsys_ndcg step {}"  # of a trial: what its interval at a step is computed from


class OptunaPruner:
    """A pruner for Optuna that compares intervals instead of means.

    A mean over users differs from trial to trial by chance. This pruner stops a trial only if its
    interval lies wholly below the interval of the best other trial at the same step; above it, if
    the study minimises. The intervals are those of `recsys_ndcg.Report.summary`, widened for the
    number of trials that are compared (Bonferroni), so trials of equal quality go on.

    Parameters
    ----------
    level : float
        The level of the intervals, between 0 and 1.

    Raises
    ------
    InvalidInputError
        The level is not between 0 and 1.

    Notes
    -----
    Call `report` of the pruner instead of ``trial.report``, with the same users in all trials.

    Examples
    --------
    >>> import numpy as np
    >>> import optuna
    >>> import recsys_ndcg as rn
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> pruner = rn.integrations.OptunaPruner()
    >>> def train(trial):
    ...     quality = trial.suggest_float("quality", 0, 1)
    ...     scores = quality * np.linspace(0.3, 0.5, 8)  # of eight users, after an epoch
    ...     pruner.report(trial, scores, step=0)
    ...     if trial.should_prune():
    ...         raise optuna.TrialPruned
    ...     return scores.mean()
    >>> study = optuna.create_study(direction="maximize", pruner=pruner)
    >>> study.enqueue_trial({"quality": 0.9})
    >>> study.enqueue_trial({"quality": 0.8})
    >>> study.enqueue_trial({"quality": 0.1})
    >>> study.optimize(train, n_trials=3)
    >>> [trial.state.name for trial in study.trials]
    ['COMPLETE', 'COMPLETE', 'PRUNED']
    """

    def __init__(self, *, level: float = 0.95) -> None:
        check_level("level", level, such_as=0.95)
        self._level = level

    def report(
        self, trial: Any, result: Any, step: int, *, metric: str | Metric | None = None
    ) -> None:
        """Report the mean of a step to Optuna, and keep what its interval is computed from.

        Parameters
        ----------
        trial : optuna.Trial
            The trial.
        result : Report, or column of shape (n_users,)
            The report of the step, or one score for each user; NaN if there is none.
        step : int
            The step, such as the epoch.
        metric : str or Metric, optional
            The metric of the report, if it has several.

        Raises
        ------
        InvalidInputError
            The report has no such metric, or the scores are not numbers.
        """
        if isinstance(result, Report):
            totals, names = result._data.audit.totals, result.metrics
            moments = totals.score_moments
            column = names.index(
                find_metric_name(metric, names, "This report", result._data.metrics_of_users)
            )
            kinds = {name: bool(one[column]) for name, one in totals.kinds.items()}
        else:
            scores = to_floats(result, "scores")[:, None]
            moments, column = Moments.of(None, scores, ~np.isnan(scores)), 0
            kinds = {"bounded": bool((np.isnan(scores) | ((scores >= 0) & (scores <= 1))).all())}
        numbers = [getattr(moments, name)[column] for name in _MOMENTS]
        kept = [int(numbers[0]), *map(float, numbers[1:]), kinds]
        trial.set_user_attr(_ATTRIBUTE.format(step), kept)
        trial.report(kept[1], step)

    def prune(self, study: Any, trial: Any) -> bool:
        """Return whether a trial is certainly worse than the best other trial at its last step.

        Optuna calls this in ``trial.should_prune()``.

        Parameters
        ----------
        study : optuna.Study
            The study.
        trial : optuna.trial.FrozenTrial
            The trial.

        Raises
        ------
        InvalidInputError
            The last step was reported by ``trial.report``.
        """
        name = _ATTRIBUTE.format(trial.last_step)
        if trial.last_step is None:
            return False
        if name not in trial.user_attrs:
            msg = (
                f"Step {trial.last_step} of trial {trial.number} has no interval. Write "
                "pruner.report(trial, report, step) instead of trial.report(mean, step)."
            )
            raise InvalidInputError(msg)
        others = [
            one.user_attrs[name]
            for one in study.get_trials(deepcopy=False)
            if one.number != trial.number and one.user_attrs.get(name, (0,))[0] > 1
        ]
        if not others:
            return False
        is_maximised = study.direction.name == "MAXIMIZE"
        best = (max if is_maximised else min)(others, key=itemgetter(1))
        level = 1 - (1 - self._level) / len(others)
        (low, high), (best_low, best_high) = (
            mean_interval(count, mean, length, level, n_nonzero=n_nonzero, n_below=n_below, **kinds)
            for count, mean, length, n_nonzero, n_below, kinds in (trial.user_attrs[name], best)
        )
        return bool(high < best_low if is_maximised else low > best_high)
