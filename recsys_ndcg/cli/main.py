"""The commands, and their options."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from recsys_ndcg.errors import (
    InvalidInputError,
    MissingExtraError,
    needing,
)

try:
    with needing("typer", "rich", job="The command line", extra="cli"):
        import typer
        from rich.progress import track
except MissingExtraError as error:
    sys.exit(str(error))

from recsys_ndcg.cli import demo as experiments
from recsys_ndcg.cli import options
from recsys_ndcg.cli.process import ended, err, prepared, say, show, told
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.evaluation import measured
from recsys_ndcg.input.ratings import read_ratings
from recsys_ndcg.metrics import parse
from recsys_ndcg.reconciliation import reconciled
from recsys_ndcg.rendering import signature_lines, terminal
from recsys_ndcg.rendering.per_user import per_user_csv
from recsys_ndcg.rendering.reconciled import notes
from recsys_ndcg.writing import write_whole

if TYPE_CHECKING:
    from recsys_ndcg.report.report import Report

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Ranking evaluation for recommenders: NDCG@k and its kin, and how they were computed.",
)

File = Annotated[
    Path,
    typer.Argument(
        help="CSV with a heading, Parquet, or pickled Surprise predictions.", show_default=False
    ),
]
Columns = Annotated[
    str, typer.Option(help="Our column names to the file's: estimated=est,true=r_ui")
]
Choices = Annotated[
    list[str] | None,
    typer.Option("--convention", help="A choice such as gain=linear; may be repeated."),
]
Preset = Annotated[
    str | None, typer.Option(help="As this library computes it, such as trec_eval or sklearn.")
]
Threshold = Annotated[float | None, typer.Option(help="From which true value an item is relevant.")]


@app.command()
def evaluate(  # noqa: PLR0913, PLR0917 - one parameter per option
    file: File,
    k: Annotated[str, typer.Option("-k", help="Cutoffs: 10, or 5,10.")] = "10",
    threshold: Threshold = None,
    metrics: Annotated[
        list[str] | None, typer.Option(help="Such as ndcg,precision@5,rr; may be repeated.")
    ] = None,
    preset: Preset = None,
    convention: Choices = None,
    columns: Columns = "",
    per_user: Annotated[
        Path | None, typer.Option(help="Write the scores of every user to this CSV file.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the report to this file.")] = None,
) -> None:
    """Score the lists in a file of user, item, estimated, true."""
    with told():
        options.check_apart({"the data": file, "--per-user": per_user, "--json": json})
        names = options.names_of(metrics) if metrics else None
        plan = options.plan_from(names, options.cutoffs(k), threshold, preset, convention or [])
        report = measured(file, plan, options.pairs_from(columns, "--columns"))
        _show(report)
        if per_user is not None:
            write_whole(per_user, per_user_csv(report.per_user))
        if json is not None:
            report.save(json)


@app.command()
def explain(  # noqa: PLR0913, PLR0917 - one parameter per option
    file: File,
    user: Annotated[str, typer.Option(help="The user's id.", show_default=False)],
    k: Annotated[int, typer.Option("-k", help="How many ranks.")] = 10,
    threshold: Threshold = None,
    preset: Preset = None,
    convention: Choices = None,
    columns: Columns = "",
) -> None:
    """Show rank by rank where a user's NDCG comes from."""
    with told():
        plan = options.plan_from([f"ndcg@{k}"], [k], threshold, preset, convention or [])
        report = measured(file, plan, options.pairs_from(columns, "--columns"))
        table = report.explain(_id_as_in(report, user), k)
        show(terminal.grid(terminal.explained(table), left=2))
        say(report.signature(f"ndcg@{k}").text, "dim")


@app.command()
def reconcile(  # noqa: PLR0913, PLR0917 - one parameter per option
    file: File,
    metric: Annotated[
        list[str], typer.Option(help="Such as precision@10; may be repeated.", show_default=False)
    ],
    threshold: Threshold = None,
    reported: Annotated[
        float | None, typer.Option(help="A number somebody published, to be explained.")
    ] = None,
    preset: Preset = None,
    convention: Choices = None,
    columns: Columns = "",
) -> None:
    """Compute a metric as every library does, and tell what makes the difference."""
    with told():
        names = options.names_of(metric)
        plan = options.plan_from(names, [10], threshold, preset, convention or [])
        with err.status("Computing it as every library does"):
            table = reconciled(file, plan, options.pairs_from(columns, "--columns"), reported)
        for name in table["metric"].unique():
            rows = table[table["metric"] == name]
            show(terminal.reconciled(rows, reported))
            for line in notes(rows):
                say(f"- {line}", wrap=True)
        for signature in dict.fromkeys(one.convention.signature for one in plan.measurements):
            say(f"yours: {signature}", "dim")


@app.command()
def demo(
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
) -> None:
    """Train four Surprise models and compare their rankings, user by user."""
    with told():
        if seed < 0:
            msg = f"--seed must be at least 0, not {seed}."
            raise InvalidInputError(msg)
        table = sample_ratings(seed=seed) if ratings is None else read_ratings(ratings)
        experiment = experiments.Experiment(table, seed)
        limit = experiment.scale[1] * 0.8 if threshold is None else threshold
        names = [str(parse(name, [k])[0]) for name in ("ndcg", "precision", "recall", "rmse")]
        running = track(
            experiment.run(),
            "Training",
            total=len(experiments.MODELS),
            console=err,
            transient=True,
            disable=not err.is_terminal,
        )
        reports = experiments.reports(running, names, limit)
        source = "sample ratings" if ratings is None else str(ratings)
        say(
            f"{len(table)} {source}: {experiment.n_train} to train on, {experiment.n_test} to "
            f"rank; relevant from {limit:g}."
        )
        _show_models(reports, names)


def main() -> None:
    """Run the command line."""
    prepared()
    words = sys.argv[1:] or ["--help"]
    sys.exit(ended(lambda: app(options.spread(words), standalone_mode=False)))


def _show_models(reports: dict[str, Report], names: list[str]) -> None:
    best = max(reports, key=lambda name: reports[name].mean[names[0]])
    say()
    show(terminal.models(reports))
    report = reports[best]
    say()
    say(f"{best}, {names[0]}, in detail", "bold")
    _show(report)
    for title, ascending in (("Best users", False), ("Worst users", True)):
        users = report.leaderboard(names[0], n=5, by="z", ascending=ascending)
        say()
        shown = terminal.written(users.reset_index().set_index("rank"))
        show(terminal.grid(shown, f"{title} by z", left=2))
    say(f"{users.attrs['trivial']} users for whom every order is the same are left out.")


def _show(report: Report) -> None:
    show(terminal.summary(report))
    for line in report.remarks:
        say(f"- {line}")
    for line in signature_lines(report):
        say(line, "dim")


def _id_as_in(report: Report, user: str) -> Any:
    """Return the id that is written like this; the command line knows only text."""
    ids = {str(one): one for one in report.users.tolist()}
    # where the locale knows ASCII alone, Python could not read what was typed
    typed = os.fsencode(user).decode(errors="surrogateescape")
    return ids.get(user, ids.get(typed, user))
