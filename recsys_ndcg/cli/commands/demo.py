"""demo: what the program does, on ratings that come with it or on somebody's own."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recsys_ndcg.cli.commands.evaluate import show_report
from recsys_ndcg.cli.options import Style
from recsys_ndcg.cli.output import Html, check_page, write_page
from recsys_ndcg.cli.process import out, say
from recsys_ndcg.errors import InvalidInputError

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.comparison import Comparison
    from recsys_ndcg.lists import RankedLists
    from recsys_ndcg.report import Report

    Run = tuple[str, RankedLists]


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
    from recsys_ndcg.cli import demo as experiments
    from recsys_ndcg.comparison import compare
    from recsys_ndcg.metrics import parse
    from recsys_ndcg.progress import followed

    _check_seed(seed)
    check_page(html)
    table = _ratings(ratings, seed)
    experiment = experiments.Experiment(table, seed)
    limit = experiment.scale[1] * 0.8 if threshold is None else threshold
    names = [str(parse(name, [k])[0]) for name in ("ndcg", "precision", "recall", "rmse")]
    models = len(experiments.MODELS)
    with closing(followed(experiment.run(), "Training", models, wanted=True)) as running:
        reports = experiments.reports(running, names, limit)
    comparison = compare(reports)
    if write_page(html, comparison):
        return
    source = "sample ratings" if ratings is None else str(ratings)
    say(
        f"{len(table)} {source}: {experiment.n_train} to train on, {experiment.n_test} to "
        f"rank; relevant from {limit:g}.",
        wrap=True,
    )
    _show_models(comparison, reports, names)


def _check_seed(seed: int) -> None:
    if seed < 0:
        msg = f"--seed must be at least 0, not {seed}."
        raise InvalidInputError(msg)


def _ratings(path: Path | None, seed: int) -> pd.DataFrame:
    """Return the ratings of a file, or the sample."""
    from recsys_ndcg.datasets import sample_ratings
    from recsys_ndcg.input import read_ratings

    return sample_ratings(seed=seed) if path is None else read_ratings(path)


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
