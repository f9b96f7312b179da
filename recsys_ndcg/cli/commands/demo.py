"""demo: what the program does, on ratings that come with it or on somebody's own."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recsys_ndcg.cli.commands.evaluate import show_report
from recsys_ndcg.cli.options import Style
from recsys_ndcg.cli.output import Html, check_page, write_page
from recsys_ndcg.cli.process import out, say
from recsys_ndcg.errors import InvalidInputError, about, warn_of_some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from recsys_ndcg.comparison import Comparison
    from recsys_ndcg.report import Report

_FEWEST = 50
_HIGHEST_SEED = 2**32 - 1  # that NumPy takes


def demo(
    *,
    ratings: Annotated[
        Path | None,
        typer.Option(help="A file of user, item, rating[, timestamp], CSV or '::'-separated."),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="From which rating an item is relevant.  [default: 4/5 of the top]"),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Cutoff.")] = 10,
    seed: Annotated[int, typer.Option(help="For the sample, the split and the models.")] = 0,
    html: Html = None,
) -> None:
    """Train four Surprise models, and compare them.

    By their rankings, user by user.
    """
    from recsys_ndcg.comparison import compare
    from recsys_ndcg.datasets import sample_ratings
    from recsys_ndcg.evaluation import evaluate
    from recsys_ndcg.input import read_ratings
    from recsys_ndcg.metrics import parse
    from recsys_ndcg.progress import followed
    from recsys_ndcg.surprise import import_library

    if seed < 0:
        msg = f"--seed must be at least 0, not {seed}."
        raise InvalidInputError(msg)
    check_page(html)
    table = sample_ratings(seed=seed) if ratings is None else read_ratings(ratings)
    _check_enough(table, seed)
    surprise = import_library("The demo")
    train, test = _split(table, seed)
    scale = float(table["rating"].min()), float(table["rating"].max())
    limit = scale[1] * 0.8 if threshold is None else threshold
    data = surprise.Dataset.load_from_df(train, surprise.Reader(rating_scale=scale))
    names = [str(parse(name, [k])[0]) for name in ("ndcg", "precision", "recall", "rmse")]
    models = _models(surprise, seed)
    runs = _predictions(models, data.build_full_trainset(), test, seed)
    reports, said = {}, {}
    with closing(followed(runs, "Training", len(models), wanted=True)) as running:
        for model, predictions in running:
            with about(model) as said[model]:
                reports[model] = evaluate(predictions, metrics=names, threshold=limit)
    warn_of_some(said)
    comparison = compare(reports)
    if write_page(html, comparison):
        return
    source = "sample ratings" if ratings is None else str(ratings)
    say(
        f"{len(table)} {source}: {len(train)} to train on, {len(test)} to "
        f"rank; relevant from {limit:g}.",
        wrap=True,
    )
    _show_models(comparison, reports, names)


def _check_enough(ratings: pd.DataFrame, seed: int) -> None:
    """Refuse ratings that nothing can be learnt from, and a seed that NumPy does not take."""
    if seed > _HIGHEST_SEED:
        msg = f"seed must be from 0 to {_HIGHEST_SEED}, not {seed}."
        raise InvalidInputError(msg)
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


def _split(ratings: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, list[Any]]:
    """Return 80 % of the ratings, to train on, and the others, to predict."""
    import numpy as np

    shuffled = np.random.default_rng(seed).permutation(len(ratings))
    n_test = len(ratings) // 5
    columns = ratings[["user", "item", "rating"]]
    test = columns.iloc[shuffled[:n_test]].itertuples(index=False, name=None)
    return columns.iloc[shuffled[n_test:]], list(test)


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


def _predictions(
    models: Mapping[str, Any], train: Any, test: list[Any], seed: int
) -> Iterator[tuple[str, list[Any]]]:
    """Train one model after the other, and give its predictions."""
    import numpy as np

    for name, model in models.items():
        np.random.seed(seed)  # noqa: NPY002 - what NormalPredictor draws from
        yield name, model.fit(train).test(test)


def _show_models(comparison: Comparison, reports: dict[str, Report], names: list[str]) -> None:
    from recsys_ndcg.comparison import comparison_document
    from recsys_ndcg.rendering import print_document
    from recsys_ndcg.report import leaderboard_document

    best = comparison.leaderboard.index[0]
    say()
    print_document(comparison_document(comparison, names[0]), out, quiet=True)
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
