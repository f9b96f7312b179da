"""The optimism of a search: chance helped to choose the best of many means, so it is too good."""

from __future__ import annotations

import numpy as np

from recsys_ndcg.arrays import Floats, divide
from recsys_ndcg.significance.exact_sums import draw_sums, to_whole_numbers


def estimate_optimism(values: Floats, draws: int = 1000, seed: int = 0) -> float:
    r"""Return by how much the best model's mean is too high because it was chosen for its mean.

    The users are split into two halves at random, again and again. The model that is best for one
    half is scored on the other, whose users had no part in the choice:

    .. math:: \max_j \bar x_j - \frac{1}{B} \sum_b \frac{1}{n} \Big(\sum_{u \in H_b} x_{u, j(H_b')}
              + \sum_{u \in H_b'} x_{u, j(H_b)}\Big)

    with j(H) the model with the highest mean over the users in H.

    Parameters
    ----------
    values : float64 array, shape (n_users, n_models)
        Higher is better; NaN if there is no score.
    draws : int
        Number of splits.
    seed : int
        Their seed. A split is drawn for the users in their order.

    Returns
    -------
    float
        In the unit of the values, at least 0; NaN if no model has two scores, or no split leaves
        scores in both halves.

    Notes
    -----
    The chosen model's lead over a model that was not chosen for its mean is too large by as much.
    A half chooses less well than all users, so the estimate is right if no model is truly better
    than another, and too large if one is: ``benchmarks/error_rates.py`` counts by how much. Users
    left out of bootstrap samples, as Tsamardinos et al. take them, gave the same means and varied
    more.

    References
    ----------
    Tsamardinos, Greasidou & Borboudakis (2018), doi:10.1007/s10994-018-5714-4; Cawley & Talbot
    (2010), JMLR 11

    Examples
    --------
    >>> scores = np.random.default_rng(0).normal(size=(100, 24))
    >>> optimism = estimate_optimism(scores)
    >>> round(scores.mean(axis=0).max(), 2), round(optimism, 2)
    (np.float64(0.24), 0.17)
    """
    is_known = ~np.isnan(values)
    if is_known.sum(axis=0).max(initial=0) < 2:
        return np.nan
    whole, unit = to_whole_numbers(np.where(is_known, values, 0.0).T, alike=True)
    table = np.concatenate([whole, is_known.T])
    total = table.sum(axis=1)
    half = (total + draw_sums(table, draws, seed, signs=True)) / 2
    fair = _score_choice(half, total - half) + _score_choice(total - half, half)
    top, count = fair.T
    mean = divide(top, count)
    if np.isnan(mean).all():
        return np.nan
    sums, counts = np.split(total, 2)
    best = np.nanmax(divide(sums, counts))
    return max(float((best - np.nanmean(mean)) * unit[0]), 0.0)


def _score_choice(half: Floats, other: Floats) -> Floats:
    """Return the sum and the number of the other half's scores of the model that is best in a half.

    Parameters
    ----------
    half, other : float64 arrays, shape (n_draws, 2 * n_models)
        Each model's sum of scores in a half, then each model's number of scores.
    """
    sums, counts = np.split(half, 2, axis=1)
    mean = np.nan_to_num(divide(sums, counts), nan=-np.inf)
    best = mean.argmax(axis=1)
    columns = np.stack([best, best + mean.shape[1]], axis=1)
    return np.take_along_axis(other, columns, axis=1)
