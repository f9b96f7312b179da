"""The leaderboard of an experiment while it fills, where somebody watches."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING

import pandas as pd
from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from recsys_ndcg.cli.process import err
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.progress import Steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from recsys_ndcg.experiments import Result


_WIDTH = 30  # of the bar


class LiveLeaderboard:
    """The means of what each model has so far.

    Parameters
    ----------
    models : sequence of str
        All that there are.
    """

    def __init__(self, models: Sequence[str]) -> None:
        self._models = models
        self._results: list[Result] = []
        self._steps = Steps()

    @contextmanager
    def shown(self) -> Iterator[LiveLeaderboard]:
        """Show it on the terminal, and take it away in the end; nothing is shown in a pipe."""
        if not err.is_terminal:
            yield self
            return
        with Live(console=err, transient=True, get_renderable=self._drawn):
            yield self

    def add(self, result: Result) -> None:
        """Take the result of a fold."""
        self._results.append(result)

    def resume(self, folder: Path | None) -> None:
        """Take what a folder has of the models; what is wrong with it, the experiment says."""
        from recsys_ndcg.experiments import RunFolder

        if folder is None or not RunFolder.is_one(folder):
            return
        with suppress(InvalidInputError):
            run = RunFolder.read(folder)
            self._results += [run.result(cell) for one in self._models for cell in run.cells(one)]

    def progress(self, what: str, share: float) -> None:
        """Take how much is done."""
        self._steps.set(what, share)

    def table(self) -> pd.DataFrame:
        """Return a row per model: the folds that are done, and the means over them."""
        rows = [
            {"model": one.model, "folds": 1, **one.scores, "fit s": one.costs["fit_time"]}
            for one in self._results
        ]
        empty = pd.DataFrame(index=pd.Index(self._models, name="model"))
        if not rows:
            return empty.assign(folds=0)
        found = pd.DataFrame(rows).groupby("model")
        from recsys_ndcg.experiments import lower_is_better

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
        return Group(Grid(cells.astype(str)), self._bar())

    def _bar(self) -> Table:
        bar = Table.grid(padding=(0, 1))
        for line in self._steps.lines(monotonic()):
            total = None if line.share is None else 1.0
            share = "" if line.share is None else f"{line.share:.0%}"
            drawn = ProgressBar(total=total, completed=line.share or 0.0, width=_WIDTH)
            bar.add_row(line.what, drawn, share, line.times)
        return bar
