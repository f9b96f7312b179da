"""experiment, demo: models are trained, and compared."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.live import Live

from recsys_ndcg.cli.options import REQUIRED, Choices, argument, option
from recsys_ndcg.cli.output import Page, Style, err, out, say
from recsys_ndcg.cli.showing import leaderboard_document
from recsys_ndcg.errors import InvalidInputError, check_integer
from recsys_ndcg.progress import Steps, build_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from recsys_ndcg.comparison import Comparison
    from recsys_ndcg.experiments import Result
    from recsys_ndcg.report import Report

_FEWEST = 50


def experiment(
    *,
    config: Path = argument(
        "TOML: ratings, metrics, splits, folder, and a table [models.NAME] each.",
        "CONFIG",
        REQUIRED,
    ),
    folder: str | None = option(
        "Folder to keep results in and to resume from.", metavar="PATH"
    ),  # not Path: an empty one would be the current folder
    n_jobs: int | None = option("How many processes train at once."),
    page: Page,
    style: Style,
) -> None:
    """Train and evaluate models over folds and seeds.

    What CONFIG asks for. With a folder, the same command goes on where it was stopped.

    Examples
    --------
    recsys-ndcg experiment today.toml --n-jobs 2
    recsys-ndcg experiment today.toml --folder runs/today --format markdown
    """
    from recsys_ndcg.experiments import experiment as run
    from recsys_ndcg.experiments import from_toml

    page.check({"CONFIG": config})
    options = {"folder": folder, "n_jobs": n_jobs}
    with _printing_aside():
        asked = from_toml(config) | {name: one for name, one in options.items() if one is not None}
        if style.quiet or not err.is_terminal:
            found = run(**asked, progress=False)
        else:
            live = LiveLeaderboard(list(asked["models"]))
            live.resume(asked.get("folder"))
            with live.shown():
                found = run(**asked, progress=live.progress, on_result=live.add)
    if page.write(found):
        return
    style.show_comparison(found)
    if style.form == "text" and not style.quiet:
        _say_costs(found)


class LiveLeaderboard:
    """The means of what each model has so far, while an experiment runs.

    Parameters
    ----------
    models : list of str
        All that there are.
    """

    def __init__(self, models: list[str]) -> None:
        self._models = models
        self._results: list[Result] = []
        self._steps = Steps()
        self.add = self._results.append
        self.progress = self._steps.set

    def shown(self) -> Live:
        """Show it on the terminal, and take it away in the end."""
        return Live(console=err, transient=True, get_renderable=self._drawn)

    def resume(self, folder: Path | None) -> None:
        """Take what a folder has of the models; what is wrong with it, the experiment says."""
        from recsys_ndcg.experiments import RunFolder

        if folder is None or not RunFolder.is_one(folder):
            return
        with suppress(InvalidInputError):
            run = RunFolder.read(folder)
            self._results += [run.result(cell) for one in self._models for cell in run.cells(one)]

    def table(self) -> pd.DataFrame:
        """Return a row per model: the folds that are done, and the means over them."""
        import pandas as pd

        from recsys_ndcg.folds import lower_is_better

        rows = [
            {"model": one.model, **one.scores, "fit s": one.costs["fit_time"]}
            for one in self._results
        ]
        found = pd.DataFrame(rows, columns=None if rows else ["model"]).groupby("model")
        table = found.mean().reindex(pd.Index(self._models, name="model"))
        table.insert(0, "folds", found.size().reindex(self._models, fill_value=0))
        if not rows:
            return table
        first = table.columns[1]
        return table.sort_values(first, ascending=lower_is_better(first))

    def _drawn(self) -> Group:
        from recsys_ndcg.cli.terminal import draw_grid
        from recsys_ndcg.rendering import ShownTable
        from recsys_ndcg.report import format_cells

        table = ShownTable("The means so far", format_cells(self.table()))
        return Group(*draw_grid(table, err.width), build_table(self._steps.lines(monotonic())))


@contextmanager
def _printing_aside() -> Iterator[None]:
    """Let what models print, here and in workers, stand with the warnings, not in the output."""
    kept = -1
    with suppress(OSError):  # a stream that is closed
        sys.stdout.flush()
        kept = os.dup(1)
        os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if kept >= 0:
            os.dup2(kept, 1)
            os.close(kept)


def _say_costs(found: Comparison) -> None:
    """Say how long each model takes, and how much memory."""
    for model, rows in found.runs.groupby(level="model", sort=False):
        say(
            f"- {model}: fit {rows['fit_time'].mean():.2f} s, test {rows['test_time'].mean():.2f} "
            f"s, {rows['peak_memory_mb'].max():.0f} MB at most ({len(rows)} folds)."
        )


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
    page: Page,
) -> None:
    """Train four Surprise models, and compare them.

    By their rankings, user by user.

    Examples
    --------
    recsys-ndcg demo --ratings ratings.dat -k 5
    recsys-ndcg demo --html demo.html
    """
    import numpy as np

    from recsys_ndcg.comparison import compare, map_models
    from recsys_ndcg.datasets import sample_ratings
    from recsys_ndcg.evaluation import evaluated
    from recsys_ndcg.input import read_ratings
    from recsys_ndcg.surprise import import_library

    check_integer("seed", seed, 0, 2**32 - 1)  # as NumPy takes it
    page.check({} if ratings is None else {"--ratings": ratings})
    table = sample_ratings(seed=seed) if ratings is None else read_ratings(ratings)
    _check_enough(table)
    scale = float(table["rating"].min()), float(table["rating"].max())
    limit = scale[1] * 0.8 if threshold is None else threshold
    plan = Choices(limit).plan(["ndcg", "precision", "recall", "rmse"], [k])
    surprise = import_library("The demo")
    order = np.random.default_rng(seed).permutation(len(table))
    shuffled = table[["user", "item", "rating"]].iloc[order]
    n_test = len(table) // 5
    test = list(shuffled[:n_test].itertuples(index=False, name=None))
    reader = surprise.Reader(rating_scale=scale)
    train = surprise.Dataset.load_from_df(shuffled[n_test:], reader).build_full_trainset()
    similarity = {"name": "pearson_baseline", "user_based": False}
    models = {
        "SVD": surprise.SVD(random_state=seed),
        "KNNBaseline": surprise.KNNBaseline(
            sim_options=similarity, bsl_options={"method": "als"}, verbose=False
        ),
        "BaselineOnly": surprise.BaselineOnly(verbose=False),
        "NormalPredictor": surprise.NormalPredictor(),
    }

    def train_and_evaluate(_: str, model: Any) -> Report:
        np.random.seed(seed)  # noqa: NPY002 - what NormalPredictor draws from
        return evaluated(model.fit(train).test(test), plan)

    reports = map_models(models, train_and_evaluate, progress=True)
    comparison = compare(reports)
    if page.write(comparison):
        return
    source = "sample ratings" if ratings is None else str(ratings)
    say(
        f"{len(table)} {source}: {len(table) - n_test} to train on, {n_test} to "
        f"rank; relevant from {limit:g}.",
        wrap=True,
    )
    _show_models(comparison, reports)


def _check_enough(ratings: pd.DataFrame) -> None:
    """Refuse ratings that nothing can be learnt from."""
    grades = ratings["rating"].nunique()
    if len(ratings) < _FEWEST or grades < 2:
        msg = (
            f"{len(ratings)} ratings with {grades} different values are too few to train on; "
            f"give at least {_FEWEST}."
        )
        raise InvalidInputError(msg)
    repeats = ratings[ratings.duplicated(["user", "item"])]
    for user, item, *_ in repeats[:1].itertuples(index=False):
        msg = (
            f"User {user!r} rates item {item!r} more than once ({len(repeats)} such rows). Keep "
            "one rating of each."
        )
        raise InvalidInputError(msg)


def _show_models(comparison: Comparison, reports: dict[str, Report]) -> None:
    from recsys_ndcg.cli.terminal import print_document, print_legend

    name, best = comparison.metrics[0], comparison.leaderboard.index[0]
    say()
    models = comparison.document(name)
    print_document(models, out, quiet=True)
    say(comparison.verdict, wrap=True)
    report = reports[best]
    say()
    say(f"{best}, {name}, in detail", "bold")
    scores = report.document()
    print_document(scores, out, legend=False)
    for title, ascending in (("Best users", False), ("Worst users", True)):
        users = report.leaderboard(name, n=5, by="z", ascending=ascending)
        say()
        document = leaderboard_document(users, f"{title} by z", report.signature(name))
        print_document(document, out, quiet=True)
    say(f"{users.attrs['trivial']} users for whom every order is the same are left out.", wrap=True)
    say()
    print_legend([models, scores, document], out)
