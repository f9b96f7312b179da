"""Scores of users in the single folds of an experiment, and the cold-start table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, Ids, Positions, divide
from recsys_ndcg.comparison import CHANCE, Comparison, ModelScores
from recsys_ndcg.input import make_index
from recsys_ndcg.ratings import Interactions
from recsys_ndcg.rendering import (
    Document,
    Section,
    ShownTable,
    format_level,
    format_number,
    pluralise,
    show_columns,
)
from recsys_ndcg.report import bin_training_counts, build_signatures_section

_MAX_MODELS = 4  # columns of models in a table
_COLD_START = (
    "Users by their number of training ratings in the fold that tests them; 0 is an unknown user. "
    "A user with other numbers in other folds counts in each bin, with the mean of its folds. "
    "Items by their number of training ratings: the score if only their labels counted, over the "
    "users who have such labels. There is no interval, as a user counts once for each fold."
)


def count_ratings(train: Interactions, testset: list[Any]) -> tuple[dict[str, int], pd.Series[int]]:
    """Count the ratings of a fold.

    Returns
    -------
    counts : dict of str to int
        Of ratings, and of users and items that are tested; unknown ones have no training rating.
    n_training : pandas.Series
        The number of training ratings of each tested user.
    """
    users, items = ([*dict.fromkeys(map(itemgetter(side), testset))] for side in (0, 1))
    n_training = np.append(train.user.counts, 0)[train.user.find(users)]
    counts = {
        "train_ratings": len(train),
        "test_ratings": len(testset),
        "users": len(users),
        "unknown_users": int((n_training == 0).sum()),
        "items": len(items),
        "unknown_items": int((train.item.find(items) < 0).sum()),
    }
    ids = np.fromiter(users, dtype=object, count=len(users))
    return counts, pd.Series(n_training, make_index(ids))


def tabulate_scores(scores: ModelScores, metrics: Sequence[str]) -> pd.DataFrame:
    """Return a row per user: a model's scores in one fold, and their chance levels."""
    kept = scores.select_metrics(metrics)
    columns = pd.MultiIndex.from_product([("own", "chance"), metrics])
    values = np.hstack([kept.per_user, kept.roles["chance"]])
    return pd.DataFrame(values, make_index(kept.users), columns)


@dataclass(frozen=True, eq=False)
class FoldScores:
    """The users' scores in each fold of an experiment, before they are averaged.

    Parameters
    ----------
    metrics : sequence of str
        The names of the columns.
    models : mapping of str to sequence of pandas.DataFrame
        What `tabulate_scores` returns for each fold and seed, in the same order for all models.
    folds : sequence of int
        The number of each one's fold, from 1.
    counts : sequence of mappings, n_training : sequence of pandas.Series
        What `count_ratings` returns for each one's fold.
    items : mapping of str to sequence of pandas.DataFrame
        By model, the scores of folds and seeds by stratum of items (`Report.by_items`).
    cuts : sequence of float
        The time of each fold's cut; empty if the folds do not follow each other in time.
    """

    metrics: Sequence[str]
    models: Mapping[str, Sequence[pd.DataFrame]]
    folds: Sequence[int]
    counts: Sequence[Mapping[str, int]]
    n_training: Sequence[pd.Series[int]]
    items: Mapping[str, Sequence[pd.DataFrame]] = field(default_factory=dict)
    cuts: Sequence[float] = ()

    def average_in_groups(
        self, users: Ids, metric: str, groups: Sequence[Positions], *, of: str = "own"
    ) -> Floats:
        """Return the mean score of each user over the folds in which the user is in a group.

        Parameters
        ----------
        users : array
            All users.
        metric : str
            The name of the metric.
        groups : sequence of int arrays
            The group of each user of each fold and seed, in the order of `n_training`.
        of : {'own', 'chance'}
            Whether to average the scores, or their chance levels.

        Returns
        -------
        float64 array, shape (n_groups, n_users, n_models)
            NaN if there is no score.
        """
        everyone = make_index(users)
        n_groups = 1 + max(int(one.max(initial=-1)) for one in groups)
        total, count = np.zeros((2, n_groups, len(users), len(self.models)))
        for model, parts in enumerate(self.models.values()):
            for part, n_training, group in zip(parts, self.n_training, groups, strict=True):
                values = part[of, metric].to_numpy()
                places = n_training.index.get_indexer(part.index)
                kept = (places >= 0) & ~np.isnan(values)
                cells = group[places[kept]], everyone.get_indexer(part.index)[kept], model
                total[cells] += values[kept]
                count[cells] += 1
        return divide(total, count)

    @property
    def group_by_fold(self) -> list[Positions]:
        """The fold of each user of each fold and seed, from 0."""
        each = zip(self.folds, self.n_training, strict=True)
        return [np.full(len(one), fold - 1) for fold, one in each]

    @property
    def group_by_training(self) -> tuple[list[Positions], list[str]]:
        """The bin of each one's number of training ratings, and the names of the bins."""
        codes, labels = bin_training_counts(np.concatenate(self.n_training))
        return np.split(codes, np.cumsum([*map(len, self.n_training)])[:-1]), labels


def make_group_table(
    comparison: Comparison,
    folds: FoldScores,
    metric: str,
    groups: Sequence[Positions],
    labels: Sequence[Any],
) -> pd.DataFrame:
    """Return a row per group and model: users, mean, ci_low, ci_high and chance."""
    result = comparison._data.by_metric[metric]
    own, chance = (
        folds.average_in_groups(comparison.users, metric, groups, of=of) for of in ("own", "chance")
    )
    # a column per group and model
    flat = [one.swapaxes(0, 1).reshape(len(comparison.users), -1) for one in (own, chance)]
    wide = replace(result, scores=flat[0], chance=flat[1])
    low, high = wide.intervals(comparison._data.testing.alpha)
    columns = {
        "users": (~np.isnan(flat[0])).sum(axis=0),
        "mean": wide.means(),
        "ci_low": low,
        "ci_high": high,
        "chance": wide.means("chance"),
    }
    index = pd.MultiIndex.from_product([labels, [*folds.models]], names=["group", "model"])
    return pd.DataFrame(columns, index=index)


def make_cold_start_table(comparison: Comparison, folds: FoldScores) -> pd.DataFrame:
    """Return a row per side (user or item), metric, bin of training ratings, and model."""
    tables = _make_cold_start_tables(comparison, folds)
    table = pd.concat(tables, names=["side", "metric", "training_ratings", "model"])
    levels, codes = [], []
    for name in map(str, table.index.names):  # in this order, parts are found without a search
        values = table.index.get_level_values(name)
        order = [*values.unique()]
        order = sorted(order, key=_parse_bin) if name == "training_ratings" else order
        levels.append(order)
        codes.append(pd.Index(order).get_indexer(values))
    return table.set_axis(pd.MultiIndex(levels, codes, names=table.index.names))


def _make_cold_start_tables(
    comparison: Comparison, folds: FoldScores
) -> dict[tuple[str, str], pd.DataFrame]:
    """Return the tables by side and metric."""
    groups, labels = folds.group_by_training
    by_items = _average_parts(folds.items)
    tables = {}
    for name in comparison._data.metrics_of_users:
        tables["user", name] = make_group_table(comparison, folds, name, groups, labels)
    for side, name in [*tables]:
        if name in by_items:
            tables["item", name] = by_items[name].reindex(columns=[*tables[side, name]])
    return tables


def _average_parts(items: Mapping[str, Sequence[pd.DataFrame]]) -> dict[Any, pd.DataFrame]:
    """Return by metric a row per stratum of items and model: users of all folds, and their mean."""
    known = {model: pd.concat(parts) for model, parts in items.items() if parts}
    if not known:
        return {}
    every = pd.concat(known, names=["model"]).dropna(subset="score")
    every["sum"] = every["score"] * every["users"]
    sums = every.groupby(level=["metric", "stratum", "model"], sort=False)[["users", "sum"]].sum()
    sums["mean"] = sums.pop("sum") / sums["users"]
    order = np.argsort([_parse_bin(name) for name in sums.index.get_level_values("stratum")])
    by_metric = sums.iloc[order].astype({"users": int}).groupby(level="metric", sort=False)
    return {name: part.droplevel("metric") for name, part in by_metric}


def _parse_bin(name: str) -> int:
    """Return the first number of a bin, such as "2–4"."""
    return int(name.partition("–")[0].partition(" ")[0])


def build_cold_start_section(
    comparison: Comparison, folds: FoldScores, metrics: Sequence[str]
) -> Section:
    """Return the section of scores by number of training ratings, tables for each metric."""
    tables, shown = _make_cold_start_tables(comparison, folds), []
    for name in metrics:
        for side, column in (("user", "training_ratings"), ("item", "training_ratings_of_item")):
            if (side, name) in tables:
                part = tables[side, name]
                columns = {column: [*part.index.unique(0)]}
                caption = f"Training ratings of the {side}"
                shown.append(show_groups(comparison, name, part, caption, columns))
    return Section("cold-start", "Cold start", _COLD_START, shown)


def build_cold_start_document(comparison: Comparison, folds: FoldScores) -> Document:
    """Return the document of scores by number of training ratings."""
    return Document(
        title="Cold start",
        facts=f"{pluralise(len(comparison.users))} by their number of training ratings",
        sections=[
            build_cold_start_section(comparison, folds, comparison._data.metrics_of_users),
            build_signatures_section(comparison.signatures),
        ],
        names_to_shorten=[*comparison.models, *comparison.metrics],
    )


def show_groups(
    comparison: Comparison,
    metric: str,
    table: pd.DataFrame,
    caption: str,
    labels: Mapping[str, Sequence[str]],
) -> ShownTable:
    """Return a table with a row per group: its labels, users, chance, and each model's mean.

    Parameters
    ----------
    comparison : Comparison
        The models.
    metric : str
        The name of the metric.
    table : pandas.DataFrame
        From `make_group_table`.
    caption : str
        What the groups are.
    labels : mapping of str to sequence of str
        The first columns.
    """
    result = comparison._data.by_metric[metric]
    ordered = [result.models[column] for column in result.columns_by_mean]
    models = [name for name in ordered if name != CHANCE]
    wide = {name: table[name].unstack("model", sort=False) for name in table}  # noqa: PD010
    rows = pd.DataFrame(dict(labels), dtype=object)
    rows["users"] = wide["users"].max(axis=1).to_list()
    if wide["chance"].notna().any(axis=None):
        rows["chance"] = wide["chance"][models[0]].to_list()
    for name in models[:_MAX_MODELS]:
        columns = (wide[one][name] for one in ("mean", "ci_low", "ci_high"))
        rows[name] = [*map(format_number, *columns)]
    level = format_level(1 - comparison._data.testing.alpha)
    note = f"{metric}; mean [{level} % interval over users]"
    if len(models) > _MAX_MODELS:
        note += f"; the best {_MAX_MODELS} of {len(models)} models"
    return ShownTable(
        f"{caption} by {metric}",
        show_columns(rows, plain=models),
        n_left_aligned=len(labels),
        note=note,
        signature=comparison.signature(metric).short,
    )
