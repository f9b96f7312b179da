"""Comparisons drawn at random, of every kind that has sentences of its own."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd

import recsys_ndcg as rn
from recsys_ndcg.comparison import ModelScores
from tests.comparison.models import Rows, ratings

NAMES = ["svd", "knn", "als", "pop", "bpr", "ease"]
METRICS = ["ndcg@3", "precision@3", "recall@3", "hit@3", "rr", "rmse"]
LISTS = ["ndcg@3", "coverage@3", "gini@3", "novelty@3"]
MISSING = -1e6
ITEMS = [f"i{n}" for n in range(40)]
FAMILIES = ["pairs", "pairs", "baseline", "metrics"]
GROUPS = ["old", "new", "rare", "ads", "web", "app"]


def register_metrics() -> list[str]:
    """Register a metric for each item, whose scores are the item's estimates; c's are losses."""

    def make(item: str) -> Callable[..., float]:
        def read(estimated: Any, true: Any, items: Any) -> float:  # noqa: ARG001 - the signature
            score = float(estimated[items == item].sum())
            return score if score > MISSING else np.nan

        return read

    own = {one: rn.metric(make(one), name=f"of_{one}", ties="item_asc") for one in "abcdef"}
    own["c"].greater_is_better = False
    return [str(one(None)) for one in own.values()]


def _rank(true: Any, noise: float, draw: random.Random) -> Rows:
    """Return estimates: the ratings and noise; for a noise below 0 the opposite of the ratings."""
    sign, digits = (-1 if noise < 0 else 1), draw.choice([0, 9, 9])
    return [(u, i, round(sign * g + draw.gauss(0, abs(noise)), digits), g) for u, i, g in true]


def _draw_models(draw: random.Random, users: int, count: int) -> dict[str, Rows]:
    """Return models of the same ratings: better and worse ones, copies and near copies."""
    true = ratings(users, draw.randrange(99), longest=draw.choice([3, 8]))
    names = draw.sample(NAMES, count)
    models = {name: _rank(true, draw.choice([0, 0.3, 1, 1, 3, 30, -1]), draw) for name in names}
    for one, other in pairwise(names):
        if draw.random() < 0.2:
            changed = draw.choice([0, 0.02, 0.1])
            models[other] = [
                (u, i, -e if draw.random() < changed else e, g) for u, i, e, g in models[one]
            ]
    return models


def _draw_scores(draw: random.Random, users: int, count: int, groups: Any) -> dict[str, Rows]:
    """Return models whose scores in the own metrics are drawn: skewed, tied, missing, opposite."""
    models: dict[str, Rows] = {}
    tied, missing = draw.choice([0, 0, 0.5, 1]), draw.choice([0, 0, 0, 0.1, 0.97])
    spread = draw.choice([0.0, 0.3, 1, 1])
    turned = {group: draw.choice([1, 1, -1]) for group in GROUPS}
    signs = {item: draw.choice([1, -1]) for item in "abcdef"}
    windows, contrast = draw.random() < 0.2, draw.random() < 0.15
    if contrast:  # the first model is better, but in one group all others are
        turned = dict.fromkeys(GROUPS, 1) | {min(groups.values()): -1}
        tied, missing, spread = 0, 0, 0.1
    for name in draw.sample(NAMES, count):
        shift, skewed = draw.choice([0, 0, 0.2, 1, -1]), draw.choice([0, 0, 1])
        first, last = draw.choice([(0, 1), (0, 1), (0, 0.6), (0.5, 1)])
        if contrast:
            shift, skewed = 2 * (not models), 0
        models[name] = []
        for user in range(users):
            is_out = windows and not first * users <= user <= last * users
            is_tied, size = user < tied * users, turned[groups[f"u{user:04}"]]
            for item, grade in zip("abcdef", (5.0, 3.0, 1.0, 4.0, 2.0, 1.0), strict=True):
                noise = draw.gauss(0, spread) + skewed * draw.paretovariate(1.2)
                score = 5 + (0 if is_tied else signs[item] * size * shift + noise)
                score = MISSING if is_out or draw.random() < missing else score
                models[name].append((f"u{user:04}", item, score, grade))
    return models


def _draw_lists(draw: random.Random, users: int, count: int) -> dict[str, Any]:
    """Return recommendations; some models favour few items, some all, some what users like."""
    labels = ratings(users, draw.randrange(99))
    true = pd.DataFrame(labels, columns=["user", "item", "true"])
    models = {}
    for name in draw.sample(NAMES, count):
        share, few = draw.choice([0, 0, 0.5, 1]), draw.choice([3, 10, 40])
        rows = [
            (user, item, 9 + grade + draw.random() if draw.random() < share else draw.random())
            for user, item, grade in labels
        ] + [(f"u{u:04}", i, 5 * draw.random()) for u in range(users) for i in ITEMS[-few:]]
        table = pd.DataFrame(rows, columns=["user", "item", "estimated"])
        table = table.drop_duplicates(["user", "item"])
        models[name] = {"labels": true, "results": table}
    first, *others = models
    if draw.random() < 0.3:
        for other in draw.choice([others, others[-1:]]):
            models[other] = dict(models[first])
    for name in models:
        if draw.random() < 0.2:  # it was not run for the last users
            table, known = models[name]["results"], f"u{draw.randint(1, users):04}"
            models[name] = {"labels": true, "results": table[table["user"] < known]}
    return models


def _draw_users(draw: random.Random) -> int:
    return draw.choice([1, 2, 3, 9, 25, 40, 40, 70, 120])


def _draw_groups(draw: random.Random, users: int) -> dict[str, str]:
    names, known = draw.sample(GROUPS, draw.randint(1, 6)), draw.choice([1, 1, 0.8])
    return {f"u{n:04}": draw.choice(names) for n in range(users) if not n or draw.random() < known}


def _draw_tests(draw: random.Random, names: list[str], *, of_mean: bool = False) -> dict[str, Any]:
    """Return the options of the tests."""
    tests = ["t"] * 4 + ["randomisation", "bootstrap"] + ([] if of_mean else ["wilcoxon", "sign"])
    test = draw.choice(tests)
    corrections = [None, None, "holm", "bonferroni", "bh", "none"]
    family = draw.choice(FAMILIES)
    return {
        "test": test,
        "correction": draw.choice(corrections),
        "family": "pairs" if of_mean and (test, family) == ("randomisation", "metrics") else family,
        "alpha": draw.choice([0.05, 0.05, 0.01, 0.2]),
        "margin": draw.choice([None, None, 0.001, 0.05, 0.3]),
        "baseline": draw.choice([None, *names]),
        "draws": 1999,
    }


def compare_models(draw: random.Random) -> rn.Comparison:
    """Compare rankings in the usual metrics; some with chance, some with segments."""
    users = _draw_users(draw)
    models = _draw_models(draw, users, draw.choice([2, 2, 3, 4, 6]))
    how = _draw_tests(draw, [*models])
    metrics = draw.sample(METRICS, draw.randint(1, 3))
    if draw.random() < 0.3:
        metrics, how["baseline"] = [*dict.fromkeys(["ndcg@3", *metrics])], "chance"
    by = _draw_groups(draw, users) if draw.random() < 0.3 else None
    threshold = draw.choice([2, 4, 6])
    if threshold == 6:
        metrics = draw.choice([["hit@3", "ndcg@3"], ["precision@3"]])
    return rn.compare(models, metrics=metrics, threshold=threshold, by=by, **how)


def compare_scores(draw: random.Random) -> rn.Comparison:
    """Compare in the own metrics, by segments that matter or do not."""
    users, metrics = _draw_users(draw), register_metrics()
    groups = _draw_groups(draw, users)
    known = {f"u{n:04}": groups.get(f"u{n:04}", "old") for n in range(users)}
    models = _draw_scores(draw, users, draw.choice([2, 3, 6, 6]), known)
    metrics = draw.sample(metrics, draw.choice([1, 2, 3, 6]))
    by = groups if draw.random() < 0.7 else None
    return rn.compare(models, metrics=metrics, threshold=4, by=by, **_draw_tests(draw, [*models]))


def _rate(scores: list[list[float]], draw: random.Random) -> dict[str, Rows]:
    """Return models whose users have these scores in the first own metric."""
    return {
        name: [
            row
            for user, score in enumerate(each)
            for row in ((f"u{user}", "a", score, 5.0), (f"u{user}", "b", 0.0, 1.0))
        ]
        for name, each in zip(draw.sample(NAMES, len(scores)), scores, strict=True)
    }


def compare_votes(draw: random.Random) -> rn.Comparison:
    """Compare models by signs or ranks: one wins a little for many users, and loses for few.

    Or each of three wins against the next; or the first and the last have few users in common.
    """
    metric, kind = register_metrics()[0], draw.choice(["chain", "cycle", "few lose", "few lose"])
    size, loss = draw.choice([10, 15, 30]), draw.choice([1, 10, 30])
    if kind == "chain":
        kept = range(size + 2), range(3 * size), range(2 * size - 2, 3 * size)
        scores = [
            [9 - place + draw.random() / 2 if user in each else MISSING for user in range(3 * size)]
            for place, each in enumerate(kept)
        ]
        return rn.compare(_rate(scores, draw), metrics=metric, threshold=4)
    gains = [50.0 + 1] * 10 * size + [50.0 - loss] * size
    scores = [gains, *[[50.0] * len(gains)] * draw.choice([1, 2])]
    if kind == "cycle":
        scores = [[float((user + place) % 3) for user in range(3 * size)] for place in range(3)]
    how: dict[str, Any] = {"margin": draw.choice([None, 0.5]), "family": draw.choice(FAMILIES)}
    test = draw.choice(["sign", "sign", "wilcoxon"])
    return rn.compare(_rate(scores, draw), metrics=metric, threshold=4, test=test, **how)


def compare_lists(draw: random.Random) -> rn.Comparison:
    """Compare recommendations, also in numbers of all lists together."""
    users = draw.choice([1, 2, 9, 40, 70])
    models = _draw_lists(draw, users, draw.choice([2, 2, 2, 4]))
    first = next(iter(models.values()))["labels"]
    train = first.assign(item=[ITEMS[int(one[1:]) // 2] for one in first["item"]])
    how = _draw_tests(draw, [*models], of_mean=True)
    metrics = draw.choice([LISTS, ["coverage@3", "gini@3"], ["novelty@3", "ndcg@3"]])
    return rn.compare(models, metrics=metrics, train=train, catalogue=ITEMS, threshold=4, **how)


SHORT = rn.Convention(recommend_from=5.0, short_list="n")


def _recommend(users: list[str], hits: int, count: int) -> Rows:
    """Return lists of twenty items, ten of them relevant: some are hits of a recommended number."""
    rows: Rows = []
    for user, n in product(users, range(20)):
        is_in = n < hits or 10 <= n < 10 + count - hits
        rows.append((user, f"i{n}", 8.0 * is_in + 1 - n / 100, 5.0 if n < 10 else 1.0))
    return rows


def compare_weighed(draw: random.Random) -> rn.Comparison:
    """Compare two models: one is better in every segment, the other over all users pooled."""
    users, names = range(draw.choice([30, 60])), draw.sample(NAMES, 2)
    rows: dict[str, Rows] = {name: [] for name in sorted(names)}
    parts = [("old", 0, 9, 10), ("old", 1, 1, 1), ("new", 0, 0, 1), ("new", 1, 2, 12)]
    for segment, place, hits, count in parts:
        rows[names[place]] += _recommend([f"{segment}{user}" for user in users], hits, count)
    how: Any = {"metrics": ["precision@20"], "threshold": 4, "convention": SHORT}
    return rn.compare(rows, by=lambda table: table.index.str[:3], **how)


class Search:
    """What `rn.compare` reads of a fitted search."""

    def __init__(self, reports: dict[str, rn.Report]) -> None:
        """Take the report of each model."""
        self.reports = reports

    @property
    def model_scores(self) -> dict[str, ModelScores]:
        """The scores of each model."""
        return {
            name: replace(ModelScores.from_audit(one._data.audit, report=one), search="")
            for name, one in self.reports.items()
        }


def compare_reports(draw: random.Random) -> rn.Comparison:
    """Compare runs, folds, searches, and reports with other metrics or users."""
    users, names = draw.choice([3, 40, 120]), draw.sample(NAMES, draw.choice([2, 2, 3]))
    true = ratings(users, draw.randrange(99))
    metrics = draw.choice([draw.sample(METRICS, 2), ["rmse", "ndcg@3"]])
    noise = {name: draw.choice([0.3, 1, 1, 4]) for name in names}

    def evaluate(name: str, true: Any = true, metrics: Any = metrics) -> rn.Report:
        size = noise[name] * draw.choice([0.7, 1, 1.4])
        return rn.evaluate(_rank(true, size, draw), metrics=metrics, threshold=4)

    how, kind = _draw_tests(draw, names), draw.choice(["runs", "runs", "folds", "search", "other"])
    if kind == "search":
        reports = {name: evaluate(name) for name in names}
        models = {draw.choice(["grid", "random"]): Search(reports), "base": evaluate(names[0])}
        return rn.compare(models, **how | {"baseline": None})
    models = {name: evaluate(name) for name in names}
    if kind == "runs":
        counts = draw.choice([(2, 2, 2), (4, 4, 4), (2, 3, 4), (1, 3, 1)])
        models = {
            name: [evaluate(name) for _ in range(count)] if count > 1 else models[name]
            for name, count in zip(names, counts, strict=False)
        }
    if kind == "folds":
        halves = [[row for row in true if (int(row[1][1:]) < 20) == side] for side in (True, False)]
        models = {name: [evaluate(name, half) for half in halves] for name in names}
    if kind == "other":
        part = [row for row in true if row[0] != "u0002"]
        models[names[0]] = evaluate(names[0], part, metrics[:1])
        how["users"] = "common"
    return rn.compare(models, **how)


def split_report(draw: random.Random) -> Any:
    """Return a report by segments."""
    users = _draw_users(draw)
    if draw.random() < 0.3:
        lists = [("old", 40, 1, 1), ("old", 20, 2, 12), ("new", 60, 5, 10)]
        rows, how = [], {"metrics": ["precision@20"], "threshold": 4, "convention": SHORT}
        for part, (segment, count, hits, n) in enumerate(lists):
            rows += _recommend([f"{segment}{part}{user}" for user in range(count)], hits, n)
        return rn.evaluate(rows, **how).by({row[0]: row[0][:3] for row in rows})
    groups: Any = _draw_groups(draw, users)
    (rows,) = _draw_models(draw, users, 1).values()
    if draw.random() < 0.5:  # some segments have better lists, or shorter ones
        chosen, short = draw.choice(GROUPS), draw.random() < 0.5
        rows = [
            (user, item, grade if groups.get(user) == chosen else estimated, grade)
            for user, item, estimated, grade in rows
            if not short or groups.get(user) != chosen or item < "i2"
        ]
    metrics = draw.sample(METRICS, draw.randint(1, 6))
    return rn.evaluate(rows, metrics=metrics, threshold=4).by(
        {user: groups[user] for user in dict.fromkeys(row[0] for row in rows) if user in groups}
    )


def compare_data_sets(draw: random.Random) -> Any:
    """Return a meta-analysis of one to five data sets."""
    names, read = draw.sample(NAMES, draw.choice([2, 2, 3, 4])), {}
    noise = {name: draw.choice([0.3, 1, 1, 4]) for name in names}
    how = {
        "alpha": draw.choice([0.05, 0.05, 0.1]),
        "metrics": draw.choice(["ndcg@3", "rmse", "hit@3"]),
    }
    tests, is_equal = draw.choice([["t"], ["t", "randomisation"]]), draw.random() < 0.1
    for place in range(draw.randint(1, 5)):
        true = ratings(draw.choice([20, 60, 120]), 10 * draw.randrange(99) + place)
        kept = names if draw.random() < 0.8 or len(names) < 3 else names[:-1]
        models = {name: _rank(true, noise[name], draw) for name in kept}
        if draw.random() < 0.3:  # one model that is better here is worse there
            models = dict(zip(models, [*models.values()][::-1], strict=True))
        if is_equal:
            models = {name: [*models[names[0]]] for name in models}
        threshold, options = draw.choice([4, 4, 4, 5]), {**how, "test": draw.choice(tests)}
        read[f"set{place}"] = rn.compare(models, threshold=threshold, draws=199, **options)
    return rn.across(read, alpha=draw.choice([0.05, 0.2]))


def decide_gate(draw: random.Random) -> tuple[rn.Comparison, Any, dict[str, Any]]:
    """Return a comparison, a gate of it, and the gate's options."""
    found = draw.choice([compare_models, compare_scores, compare_reports])(draw)
    model, than = draw.sample([one for one in found.models if one != "chance"], 2)
    margin, metric = draw.choice([0.001, 0.02, 0.1]), draw.choice(found.metrics)
    how = {"margin": margin, "metric": metric, "alpha": draw.choice([0.05, 0.01])}
    return found, found.not_worse(model, than, **how), {"model": model, "than": than, **how}


KINDS: list[Callable[[random.Random], Any]] = [
    *(compare_models, compare_scores, compare_reports, decide_gate, compare_lists),
    *(compare_models, compare_scores, compare_data_sets, split_report, compare_reports),
    *(decide_gate, compare_scores, compare_votes, compare_weighed, compare_lists),
]


def draw_result(seed: int) -> Any:
    """Return a comparison, a gate, a meta-analysis or segments."""
    draw = random.Random(seed)
    while True:
        try:
            return KINDS[seed % len(KINDS)](draw)
        except rn.InvalidInputError as error:
            if "No model has a score" not in str(error):
                raise
