"""check-split: whether a split can be trusted."""

from __future__ import annotations

from pathlib import Path

from recsys_ndcg.cli.comparison import exit_if_failed
from recsys_ndcg.cli.options import REQUIRED, argument, option, parse_pairs
from recsys_ndcg.cli.output import OutputOptions, PageOptions
from recsys_ndcg.cli.sources import add_format, check_files_exist


def check_split(  # noqa: PLR0913 - one parameter per option
    *,
    train: Path = argument(
        "Training rows: user, item and, if known, rating and timestamp.", "TRAIN", REQUIRED
    ),
    test: Path = argument("Test rows.", "TEST", REQUIRED),
    validation: Path | None = option("Validation rows, on which parameters are chosen."),
    lists: Path | None = option(
        "Recommendations or candidates: user, item, and rank or estimated."
    ),
    threshold: float | None = option("Ratings at or above it are relevant.", metavar="NUMBER"),
    k: int = option("The cutoff of the metrics.", "-k", default=10, metavar="K"),
    columns: str = option(
        "Map columns to the files': user=uid,item=iid,rating=stars,timestamp=date.",
        default="",
        metavar="OURS=THEIRS,...",
    ),
    memory_limit: str | None = option(
        "Memory limit, such as 2GB: the training rows are then sorted on disk.", metavar="SIZE"
    ),
    fail_on: str | None = option(
        "Exit with 1 if there is an 'error', or also if there is a 'warning'.", metavar="VERDICT"
    ),
    page: PageOptions,
    output: OutputOptions,
) -> None:
    """Check a split before a model is trained.

    Shows leaks, times, unknown users and items, shifts, and what the split can tell apart.

    Examples
    --------
    recsys-ndcg check-split train.csv test.csv --threshold 4
    recsys-ndcg check-split train.csv test.csv --lists top10.csv --fail-on error
    """
    from recsys_ndcg.errors import check_choice
    from recsys_ndcg.split_checks import VERDICTS
    from recsys_ndcg.split_checks import check_split as check

    if fail_on is not None:
        check_choice("fail_on", fail_on, VERDICTS[:2])
    files = {"train": train, "test": test, "validation": validation, "lists": lists}
    given = {name: path for name, path in files.items() if path is not None}
    check_files_exist(*given.values())
    page.check(given)
    found = check(
        **{name: add_format(path) for name, path in given.items()},
        threshold=threshold,
        k=k,
        columns=parse_pairs(columns, "--columns"),
        memory_limit=memory_limit,
    )
    if not page.write(found):
        table = found.checks.reset_index()
        table["rows"] = table["rows"].map("; ".join)
        output.show(found, found.to_dict() if output.form == "json" else table)
    if fail_on is not None:
        exit_if_failed([found.gate(fail_on)], quiet=output.quiet)
