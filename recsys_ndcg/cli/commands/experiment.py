"""experiment: models trained and evaluated over folds, as a file of TOML says."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group
from rich.live import Live

from recsys_ndcg.cli.commands.compare import show_comparison
from recsys_ndcg.cli.options import Style, option
from recsys_ndcg.cli.output import Html, check_apart, check_page, err, say, write_page
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.progress import Steps, drawn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from recsys_ndcg.comparison import Comparison
    from recsys_ndcg.experiments import Result


def experiment(
    config: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIG",
            help="TOML: ratings, metrics, splits, folder, and a table [models.NAME] each.",
            show_default=False,
        ),
    ],
    *,
    folder: str | None = option(
        "Folder to keep results in and to resume from.", metavar="PATH"
    ),  # not Path: an empty one would be the current folder
    n_jobs: int | None = option("How many processes train at once.", "--n-jobs"),
    html: Html = None,
    style: Style,
) -> None:
    """Train and evaluate models over folds and seeds.

    What CONFIG asks for. With a folder, the same command goes on where it was stopped.
    """
    check_apart({"CONFIG": config}, {"--html": html})
    check_page(html)
    options = {"folder": folder, "n_jobs": n_jobs}
    given = {name: value for name, value in options.items() if value is not None}
    found = _run(config, given, quiet=style.quiet)
    if not write_page(html, found):
        show_comparison(found, style)
        if style.form == "text" and not style.quiet:
            _say_costs(found)


def _run(config: Path, options: dict[str, Any], *, quiet: bool) -> Comparison:
    """Run the experiment, with its leaderboard where somebody watches."""
    from recsys_ndcg.experiments import experiment as run
    from recsys_ndcg.experiments import from_toml

    with _printing_aside():
        asked = from_toml(config) | options
        if quiet or not err.is_terminal:
            return run(**asked, progress=False)
        live = LiveLeaderboard(list(asked["models"]))
        live.resume(asked.get("folder"))
        with live.shown():
            return run(**asked, progress=live.progress, on_result=live.add)


class LiveLeaderboard:
    """The means of what each model has so far, while an experiment runs.

    Parameters
    ----------
    models : sequence of str
        All that there are.
    """

    def __init__(self, models: Sequence[str]) -> None:
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

        empty = pd.DataFrame(index=pd.Index(self._models, name="model"))
        if not self._results:
            return empty.assign(folds=0)
        rows = [
            {"model": one.model, "folds": 1, **one.scores, "fit s": one.costs["fit_time"]}
            for one in self._results
        ]
        found = pd.DataFrame(rows).groupby("model")
        means = found.mean().assign(folds=found.size())
        first = next(iter(self._results[0].scores))
        joined = empty.join(means).fillna({"folds": 0}).astype({"folds": int})
        return joined.sort_values(first, ascending=lower_is_better(first))

    def _drawn(self) -> Group:
        from recsys_ndcg.rendering import Grid, number

        table = self.table().reset_index()
        cells = table.astype(object)
        for name in table.columns[2:]:
            cells[name] = [number(value) for value in table[name]]
        return Group(Grid(cells.astype(str)), drawn(self._steps.lines(monotonic())))


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
    costs = found.runs.groupby(level="model", sort=False)
    for model, rows in costs:
        say(
            f"- {model}: fit {rows['fit_time'].mean():.2f} s, test {rows['test_time'].mean():.2f} "
            f"s, {rows['peak_memory_mb'].max():.0f} MB at most ({len(rows)} folds)."
        )
