"""experiment: models trained and evaluated over folds, as a file of TOML says."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recsys_ndcg.cli.commands.compare import show_comparison
from recsys_ndcg.cli.options import Style
from recsys_ndcg.cli.output import Html, check_apart, check_page, write_page
from recsys_ndcg.cli.process import err, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recsys_ndcg.comparison import Comparison


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
    folder: Annotated[
        str | None,  # not Path: Path("") would silently be the current folder
        typer.Option(metavar="PATH", help="Folder to keep results in and to resume from."),
    ] = None,
    n_jobs: Annotated[
        int | None, typer.Option("--n-jobs", help="How many processes train at once.")
    ] = None,
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
    from recsys_ndcg.cli.live_leaderboard import LiveLeaderboard
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
