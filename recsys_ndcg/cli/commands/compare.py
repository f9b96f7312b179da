"""compare: several models on the same users."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recsys_ndcg.cli.gates import Gates, Limits, close, gated_plan
from recsys_ndcg.cli.options import (
    MARGIN,
    REQUIRED,
    USERS,
    Choices,
    MetricOptions,
    Style,
    argument,
    complete,
    given_options,
    option,
)
from recsys_ndcg.cli.output import Page, show_comparison
from recsys_ndcg.cli.reading import (
    DataOptions,
    Written,
    check_there,
    evaluate_models,
    is_dash,
    with_baseline,
)
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.significance import CORRECTIONS, TESTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from recsys_ndcg.cli.gates import Limit
    from recsys_ndcg.comparison import Comparison, Gate
    from recsys_ndcg.metrics import Metric


@dataclass(frozen=True)
class Models:
    """The files of the models, and what is known apart from them."""

    models: list[str] = argument(
        "One per model: predictions, of any kind that 'evaluate' reads, or a saved report. "
        "NAME=FILE gives it a name.",
        "FILES...",
        REQUIRED,
    )
    labels: Path | None = option("What is known (user, item, true): every file then holds results.")
    qrels: Path | None = option("Judgements of TREC: every file is then a run.")
    n_items: int | None = option("The size of the catalogue that results were chosen from.")

    @property
    def source(self) -> DataOptions:
        """What is known, in each model's place of FILE."""
        return DataOptions(labels=self.labels, qrels=self.qrels, n_items=self.n_items)


@dataclass(frozen=True)
class Statistics:
    """The options of a comparison."""

    baseline: str | None = option(
        "Against which model users are won and lost, or chance.  [default: the first]"
    )
    by: str | None = option(
        "Also for segments of the users: a file of user, segment, or activity, "
        "list_length, relevant, cold.",
        autocompletion=complete("segments"),
    )
    train: Path | None = option("What the models were trained on, for --by activity and --by cold.")
    users: str = option(USERS, default="all", autocompletion=complete("users"))
    test: str = option(f"{', '.join(TESTS)}.", default="t", autocompletion=complete("test"))
    correction: str | None = option(
        f"For many pairs: {', '.join(CORRECTIONS)}.  [default: max-T, or holm]",
        autocompletion=complete("correction"),
    )
    alpha: float = option("How often equal models may be called different.", default=0.05)
    margin: float | None = option(MARGIN)
    draws: int = option("Of signs, of users, and of what max-T needs.", default=10_000)
    seed: int = option("Of the draws.", default=0)

    def check(self, models: Collection[str]) -> None:
        """Refuse what cannot be used, before anything is measured."""
        from recsys_ndcg.comparison import check_options
        from recsys_ndcg.report import BUILT_IN

        options = asdict(self)
        by, train = options.pop("by"), options.pop("train")
        check_options(models, **options)
        for path in (None if by in BUILT_IN else by, train):
            if path is not None:
                check_there(Path(path))


@dataclass(frozen=True)
class TableOptions:
    """What else is shown, and written."""

    pairs: bool = option("The pairs of models, too.", "--pairs", default=False)
    save: Path | None = option("Write the comparison to this file, as JSON.")

    def kinds(self, form: str, *, segments: bool) -> list[str]:
        """Return which tables are shown; CSV holds one.

        Raises
        ------
        InvalidInputError
            It would hold two.
        """
        more = ["pairs"] * self.pairs + ["segments"] * segments
        if form == "csv" and len(more) > 1:
            msg = "--format csv holds one table: the one of --pairs, or that of --by. Leave one."
            raise InvalidInputError(msg)
        return more if form == "csv" and more else ["leaderboard", *more]


def compare(  # noqa: PLR0913 - one parameter per option
    *,
    models: Models,
    written: Written,
    measured: MetricOptions,
    choices: Choices,
    statistics: Statistics,
    limits: Limits,
    gate: Gates,
    tables: TableOptions,
    page: Page,
    style: Style,
) -> None:
    """Compare models user by user.

    Which is better, for whom, and how sure that is.

    Examples
    --------
    recsys-ndcg compare svd.csv knn.csv --threshold 4 --by activity
    recsys-ndcg compare --labels clicks.csv old=a.csv new=b.csv --metrics p@5
    recsys-ndcg compare old.json new.csv --fail-if-worse old --margin 0.005
    recsys-ndcg compare svd.csv knn.csv --html page.html
    """
    from recsys_ndcg.comparison import compare as comparison_of

    ks, names, source = measured.ks, measured.names, models.source
    kinds = tables.kinds(style.form, segments=statistics.by is not None)
    files, other = with_baseline(models.models, gate.fail_if_worse)
    means, worse = limits.read(ks), gate.read(statistics.margin, ks)
    statistics.check(files)
    _check_read(files, source, choices, written)
    page.check(files, save=tables.save)
    gated = [*(one.metric for one in means), *worse]
    plan = gated_plan(choices, names, ks, gated)
    progress = not style.quiet
    reports = evaluate_models(files, source, written, plan, gated, progress=progress)
    how = asdict(statistics) | {"baseline": statistics.baseline or other, "progress": progress}
    found = comparison_of(reports, metrics=names and [*names, *gated], k=ks, **how)
    if tables.save is not None:
        found.save(tables.save)
    if not page.write(found):
        show_comparison(found, style, kinds)
    judged = [name for name in files if name != other]
    close(_gates(found, judged, means, other, worse), quiet=style.quiet)


def _check_read(
    files: Mapping[str, Path], source: DataOptions, choices: Choices, written: Written
) -> None:
    """Refuse files that are not there, and options that come too late for what is in them."""
    from recsys_ndcg.files import is_saved

    for name, path in source.files.items():
        if is_dash(path):
            msg = f"{name}: every model needs it, and standard input is read once."
            raise InvalidInputError(msg)
    for path in (*files.values(), *source.files.values()):
        check_there(path)
    late = given_options(choices, source, written)
    if late and all(map(is_saved, files.values())):
        msg = (
            f"Every model is a saved report, so that {' and '.join(late)} would change nothing. "
            "Leave it, or give the predictions."
        )
        raise InvalidInputError(msg)


def _gates(
    found: Comparison,
    models: list[str],
    limits: list[Limit],
    other: str | None,
    metric: list[Metric],
) -> Iterator[Gate]:
    """Say of each model whether its means are good enough, and it is not worse than another."""
    for limit in limits:
        board = found.leaderboards[str(limit.metric)]
        for model in models:
            yield limit.gate(board.loc[model], f" of {model}")
    for model in models if other is not None else ():
        yield found.not_worse(model, other, metric=next(iter(metric), None))
