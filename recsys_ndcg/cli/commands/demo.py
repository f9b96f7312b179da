"""demo: what the program does, on ratings that come with it or on somebody's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from recsys_ndcg.cli.commands.evaluate import show_report
from recsys_ndcg.cli.options import Style, option
from recsys_ndcg.cli.output import Html, check_page, out, say, write_page
from recsys_ndcg.errors import InvalidInputError, check_whole

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.comparison import Comparison
    from recsys_ndcg.report import Report

_FEWEST = 50
_HIGHEST_SEED = 2**32 - 1  # that NumPy takes


def demo(
    *,
    ratings: Path | None = option(
        "A file of user, item, rating[, timestamp], CSV or '::'-separated."
    ),
    threshold: float | None = option(
        "From which rating an item is relevant.  [default: 4/5 of the top]"
    ),
    k: int = option("Cutoff.", "-k", default=10),
    seed: int = option("For the sample, the split and the models.", default=0),
    html: Html = None,
) -> None:
    """Train four Surprise models, and compare them.

    By their rankings, user by user.
    """
    import numpy as np

    from recsys_ndcg.comparison import compare, of_each_model
    from recsys_ndcg.datasets import sample_ratings
    from recsys_ndcg.evaluation import evaluate
    from recsys_ndcg.input import read_ratings
    from recsys_ndcg.metrics import parse
    from recsys_ndcg.surprise import import_library

    check_whole("seed", seed, 0, _HIGHEST_SEED)
    check_page(html)
    table = sample_ratings(seed=seed) if ratings is None else read_ratings(ratings)
    _check_enough(table)
    surprise = import_library("The demo")
    shuffled = table[["user", "item", "rating"]].iloc[
        np.random.default_rng(seed).permutation(len(table))
    ]
    n_test = len(table) // 5
    test = list(shuffled[:n_test].itertuples(index=False, name=None))
    scale = float(table["rating"].min()), float(table["rating"].max())
    reader = surprise.Reader(rating_scale=scale)
    train = surprise.Dataset.load_from_df(shuffled[n_test:], reader).build_full_trainset()
    limit = scale[1] * 0.8 if threshold is None else threshold
    names = [str(parse(name, [k])[0]) for name in ("ndcg", "precision", "recall", "rmse")]

    def train_and_evaluate(_: str, model: Any) -> Report:
        np.random.seed(seed)  # noqa: NPY002 - what NormalPredictor draws from
        return evaluate(model.fit(train).test(test), metrics=names, threshold=limit)

    reports = of_each_model(_models(surprise, seed), train_and_evaluate, progress=True)
    comparison = compare(reports)
    if write_page(html, comparison):
        return
    source = "sample ratings" if ratings is None else str(ratings)
    say(
        f"{len(table)} {source}: {len(table) - n_test} to train on, {n_test} to "
        f"rank; relevant from {limit:g}.",
        wrap=True,
    )
    _show_models(comparison, reports, names)


def _check_enough(ratings: pd.DataFrame) -> None:
    """Refuse ratings that nothing can be learnt from."""
    grades = ratings["rating"].nunique()
    if len(ratings) < _FEWEST or grades < 2:
        msg = (
            f"{len(ratings)} ratings with {grades} different values are too few to train on; "
            f"give at least {_FEWEST}."
        )
        raise InvalidInputError(msg)
    repeats = ratings.duplicated(["user", "item"])
    if repeats.any():
        row = ratings[repeats].iloc[0]
        msg = (
            f"User {row['user']!r} rates item {row['item']!r} more than once "
            f"({int(repeats.sum())} such rows). Keep one rating of each."
        )
        raise InvalidInputError(msg)


def _models(surprise: Any, seed: int) -> dict[str, Any]:
    """Return the models by their names, yet to be trained."""
    similarity = {"name": "pearson_baseline", "user_based": False}
    return {
        "SVD": surprise.SVD(random_state=seed),
        "KNNBaseline": surprise.KNNBaseline(
            sim_options=similarity, bsl_options={"method": "als"}, verbose=False
        ),
        "BaselineOnly": surprise.BaselineOnly(verbose=False),
        "NormalPredictor": surprise.NormalPredictor(),
    }


def _show_models(comparison: Comparison, reports: dict[str, Report], names: list[str]) -> None:
    from recsys_ndcg.rendering import print_document
    from recsys_ndcg.report import leaderboard_document

    best = comparison.leaderboard.index[0]
    say()
    print_document(comparison.document(names[0]), out, quiet=True)
    say(comparison.verdict, wrap=True)
    report = reports[best]
    say()
    say(f"{best}, {names[0]}, in detail", "bold")
    show_report(report, Style())
    for title, ascending in (("Best users", False), ("Worst users", True)):
        users = report.leaderboard(names[0], n=5, by="z", ascending=ascending)
        say()
        document = leaderboard_document(users, f"{title} by z", report.signature(names[0]))
        print_document(document, out, quiet=True)
    say(f"{users.attrs['trivial']} users for whom every order is the same are left out.", wrap=True)
