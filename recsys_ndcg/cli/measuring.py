"""evaluate, compare, explain, reconcile: what measures lists."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recsys_ndcg.cli.gates import Gates, Replacing, close, gated_plan
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
    names_of,
    option,
    plan_of,
)
from recsys_ndcg.cli.output import (
    Files,
    Page,
    err,
    out,
    show_comparison,
    show_document,
    show_report,
)
from recsys_ndcg.cli.reading import (
    DataOptions,
    Scale,
    Written,
    check_there,
    escape_surrogates,
    evaluate_files,
    evaluate_models,
    is_dash,
    named,
    read_entry,
    with_baseline,
)
from recsys_ndcg.errors import InvalidInputError, about, warn_of_several
from recsys_ndcg.significance import CORRECTIONS, TESTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    import pandas as pd

    from recsys_ndcg.cli.gates import Limit
    from recsys_ndcg.comparison import Comparison, Gate
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.rendering import Document
    from recsys_ndcg.report import Report
    from recsys_ndcg.scoring import Signature

#: What an explanation has in as few digits as it takes.
_BRIEF = ("estimated", "true", "gain", "discounted_gain", "dcg", "ideal_gain", "ideal_dcg")


def evaluate(  # noqa: PLR0913 - one parameter per option
    *,
    source: DataOptions,
    scale: Scale,
    written: Written,
    measured: MetricOptions,
    choices: Choices,
    files: Files,
    replacing: Replacing,
    style: Style,
) -> None:
    """Score the lists in a file of user, item, estimated, true.

    Examples
    --------
    recsys-ndcg evaluate predictions.csv -k 5,10 --threshold 4
    recsys-ndcg evaluate --labels clicks.csv --results top.csv.gz --metrics p@5
    zcat p.csv.gz | recsys-ndcg evaluate - --json - > report.json
    recsys-ndcg evaluate parts/*.parquet --memory-limit 2GB
    recsys-ndcg evaluate new.csv --fail-under ndcg@10=0.8
    recsys-ndcg evaluate new.csv --fail-if-worse old.json --margin 0.005
    """
    ks, progress = measured.ks, not style.quiet
    means, metric = replacing.read(replacing.margin, ks)
    models = _models(source, replacing)
    older = dict([*models.items()][1:])
    gate = zip(["--fail-if-worse"], older.values(), strict=False)
    files.check({**source.files, **scale.files, **dict(gate)}, style.form)
    plan = gated_plan(choices, measured.names, ks, [*(one.metric for one in means), *metric])
    if models:
        metric = metric or plan.metrics[:1]
        part = tuple(one for one in plan.measurements if one.metric in metric)
        gated = replace(plan, measurements=part)
        with about("") as said:
            reports = evaluate_models(older, source, written, gated, metric, progress=progress)
        warn_of_several({"": [], **dict.fromkeys(older, said)})
    report = evaluate_files(source, written, plan, scale, per_user=files.users, progress=progress)
    gates = [one.gate(report.summary.loc[str(one.metric)]) for one in means]
    if models:
        from recsys_ndcg.comparison import compare

        name, other = models
        found = compare(
            reports | {name: report},
            metrics=metric,
            alpha=replacing.alpha,
            users=replacing.users,
            progress=False,
        )
        gates.append(found.not_worse(name, other, margin=replacing.margin))
    show_report(report, style, err if files.pipes else out)
    files.write(report)
    close(gates, quiet=style.quiet)


def _models(source: DataOptions, replacing: Replacing) -> dict[str, Path]:
    """Return what is measured and what was before, by their names; nothing without a gate."""
    if replacing.fail_if_worse is None:
        return {}
    from recsys_ndcg.comparison import check_options

    check_options(users=replacing.users, margin=replacing.margin, alpha=replacing.alpha)
    source.check()
    *_, path = source.files.values()
    models = named([("", path), read_entry(replacing.fail_if_worse)])
    for one in (*source.files.values(), *models.values()):
        check_there(one)
    return models


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
        from recsys_ndcg.report import Report

        options = asdict(self)
        by, train = options.pop("by"), options.pop("train")
        check_options(models, **options)
        for path in (None if by in Report.SEGMENTS else by, train):
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
    means, worse = gate.read(statistics.margin, ks)
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
    from recsys_ndcg.files import Archive

    for name, path in source.files.items():
        if is_dash(path):
            msg = f"{name}: every model needs it, and standard input is read once."
            raise InvalidInputError(msg)
    for path in (*files.values(), *source.files.values()):
        check_there(path)
    late = given_options(choices, source, written)
    if late and all(map(Archive.is_saved, files.values())):
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


def explanation_document(table: pd.DataFrame, signature: Signature) -> Document:
    """Return what `Report.explain` says of a user's list, relevant items marked with a star."""
    from recsys_ndcg.rendering import Document, Section, ShownTable
    from recsys_ndcg.report import signatures_section, text_cells

    cells = text_cells(table.drop(columns="relevant"), brief=_BRIEF)
    stars = table["relevant"].fillna(value=False).map({True: "*", False: ""})
    cells["true"] += stars.to_numpy()
    shown = ShownTable("Rank by rank", cells.rename(columns={"estimated": "est."}), left=2)
    return Document(
        facts=f"{len(table)} ranks",
        sections=[
            Section("ranks", "Rank by rank", "*: relevant items.", [shown]),
            signatures_section([signature]),
        ],
    )


def explain(  # noqa: PLR0913 - one parameter per option
    *,
    source: DataOptions,
    written: Written,
    user: str = option("The user's id.", default=REQUIRED, show_default=False),
    k: int = option("How many ranks.", "-k", default=10),
    choices: Choices,
    style: Style,
) -> None:
    """Show rank by rank where a user's NDCG comes from.

    Examples
    --------
    recsys-ndcg explain predictions.csv --user 42 -k 5
    recsys-ndcg explain --qrels qrels.txt --run run.txt --user 301 --format csv
    """
    plan = plan_of(choices, [f"ndcg@{k}"], [k])
    report = evaluate_files(source, written, plan)
    table = report.explain(_id_as_in(report, user), k)
    for name in ("item", "ideal_item"):
        table[name] = escape_surrogates(table[name])
    (signature,) = report.signatures.values()
    document = explanation_document(table, signature)
    show_document(document, table.reset_index(), style, tables_only=True)


def _id_as_in(report: Report, user: str) -> Any:
    """Return the id that is written like this; the command line knows only text."""
    ids = {str(one): one for one in report.users.tolist()}
    # where the locale knows ASCII alone, Python could not read what was typed
    typed = os.fsencode(user).decode(errors="surrogateescape")
    return ids.get(user, ids.get(typed, user))


def reconcile(  # noqa: PLR0913 - one parameter per option
    *,
    source: DataOptions,
    written: Written,
    metric: list[str] = option(
        "Such as precision@10; may be repeated.",
        default=REQUIRED,
        show_default=False,
        autocompletion=complete("metric"),
    ),
    choices: Choices,
    reported: float | None = option("A number somebody published, to be explained."),
    style: Style,
) -> None:
    """Compute a metric as every library does.

    And tell which choices make the difference.

    Examples
    --------
    recsys-ndcg reconcile predictions.csv --metric precision@10 --threshold 4
    recsys-ndcg reconcile p.parquet --metric ndcg@10 --reported 0.591
    """
    from recsys_ndcg.evaluation import lists_of
    from recsys_ndcg.reconciliation import in_one_table, reconciled, reconciliation_document

    plan = plan_of(choices, names_of(metric), [10])
    lists = lists_of(source.data(), plan, **written.form(), n_items=source.n_items)
    with err.status("Computing it as every library does"):
        table = reconciled(lists, plan, reported)
    if style.form == "text":
        conventions = [one.convention for one in plan.measurements]
        document = reconciliation_document(table, reported, conventions)
    else:
        document = in_one_table(table)
    values = table.drop(columns="causes")
    show_document(document, values, style, tables_only=True)
