"""Reports drawn at random, of every kind that has findings of its own."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pandas as pd

import recsys_ndcg as rn
from tests.comparison.scenarios import split_report

ITEMS = [f"i{n}" for n in range(30)]
RATED = ["ndcg@3", "precision@3", "recall@3", "hit@1", "rr", "ap@3", "dcg@2", "rmse"]
OF_ITEMS = ["coverage@3", "gini@3", "personalization@1"]


def draw_report(seed: int) -> rn.Report:
    """Return a report of ratings, lists or sampled lists, or one with baselines."""
    draw = random.Random(seed)
    while True:
        try:
            return [draw_ratings, draw_lists, draw_ratings, draw_lists, draw_sample][seed % 5](draw)
        except rn.InvalidInputError as error:  # a catalogue that has too few items, or the like
            if "threshold" in str(error):
                raise


def draw_segments(seed: int) -> Any:
    """Return a report by segments."""
    return split_report(random.Random(seed))


def draw_ratings(draw: random.Random) -> rn.Report:
    """Return a report of users' own ratings."""
    users, noise = draw.choice([1, 2, 9, 40, 120, 300]), draw.choice([0, 1, 3, 30])
    sign, digits = draw.choice([1, 1, 1, -1]), draw.choice([0, 9, 9])
    grades = draw.choice([(1, 5), (1, 1, 1, 5), (3, 3), (1, 2, 3, 4, 5)])
    is_alike = draw.random() < 0.15
    rows: list[Any] = []
    for user in range(users):
        drawn = random.Random(7) if is_alike else draw
        for item in ITEMS[: drawn.randint(1, 8)]:
            grade = drawn.choice(grades)
            estimate = round(sign * grade + drawn.gauss(0, noise), digits)
            rows.append((f"u{user}", item, grade, estimate))
    if draw.random() < 0.2:  # one user's estimates are far off
        rows[0] = (*rows[0][:3], 1e4)
    if draw.random() < 0.1:  # few users have a hit
        rows = [(u, i, 5 if i == "i1" and u in {"u1", "u3"} else 1, e) for u, i, _, e in rows]
    if draw.random() < 0.2:
        rows.append(rows[0])
    if draw.random() < 0.2:
        rows = [(*row, {"was_impossible": draw.random() < 0.1}) for row in rows]
    choices: Any = draw.choice([{}, {"ties": "input"}, {"short_list": "drop"}, {"gain": "linear"}])
    convention = rn.Convention(duplicates="last", **choices)
    how: Any = {"threshold": draw.choice([3, 4, 4, 9]), "convention": convention}
    report = rn.evaluate(rows, metrics=draw.sample(RATED, draw.randint(1, 6)), **how)
    return add_baselines(report, draw) if draw.random() < 0.2 else report


def add_baselines(report: rn.Report, draw: random.Random) -> rn.Report:
    """Return a report with the means of another model, some of them better."""
    means = {name: value + draw.choice([-0.1, 0.1]) for name, value in report.items()}
    table = pd.DataFrame(means, index=["MostPopular"])
    return replace(report, _data=replace(report._data, baselines=table))


def draw_lists(draw: random.Random) -> rn.Report:
    """Return a report of recommended lists."""
    users, length = draw.choice([1, 9, 40, 120]), draw.choice([1, 3, 10])
    lists = {f"u{user}": draw.sample(ITEMS, length) for user in range(users)}
    labels = {
        user: {item: draw.choice([1, 5]) for item in (*items[:3], *draw.sample(ITEMS, 3))}
        for user, items in lists.items()
    }
    if draw.random() < 0.3:  # the relevant items are last
        labels = {user: {items[0]: 1, items[-1]: 5} for user, items in lists.items()}
    if draw.random() < 0.3 and users > 1:
        del lists["u0"]
    train = [(f"u{user}", item) for user in range(users) for item in draw.sample(ITEMS[:20], 4)]
    extra: Any = {"train": train} if draw.random() < 0.6 else {}
    if draw.random() < 0.5:
        extra["catalogue"] = ITEMS[: draw.choice([25, 30])]
    if draw.random() < 0.4:
        heaviest = draw.choice([0, 1, 5])
        extra["weights"] = {item: heaviest * draw.choice([1, 2, 9]) for item in ITEMS}
    pool = RATED[:-1] if "weights" in extra else [*RATED[:-1], *OF_ITEMS]
    pool += ["novelty@3", "seen@3"] * ("train" in extra)
    how: Any = {"metrics": draw.sample(pool, draw.randint(1, 5)), "threshold": 4, **extra}
    return rn.evaluate(labels=labels, results=lists, **how)


def draw_sample(draw: random.Random) -> rn.Report:
    """Return a report of one or two relevant items among a few others."""
    users, size, hits = draw.choice([1, 5, 60]), draw.choice([20, 51]), draw.choice([1, 1, 2])
    rows = [
        (f"u{user}", f"i{item}", draw.random(), float(item < hits))
        for user in range(users)
        for item in range(size)
    ]
    table = pd.DataFrame(rows, columns=["user", "item", "estimated", "true"])
    lists = rn.RankedLists.from_frame(table)
    named = lists.as_sampled() if draw.random() < 0.5 else lists
    return rn.evaluate(named, metrics=["ndcg@10", "rr"], threshold=1)
