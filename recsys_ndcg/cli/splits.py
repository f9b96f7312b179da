"""check-split: whether a split can be trusted."""

from __future__ import annotations

from typing import Annotated

from recsys_ndcg.cli.comparison import print_gates
from recsys_ndcg.cli.options import Cutoff, Number, Pairs, option, parse_pairs
from recsys_ndcg.cli.output import OutputOptions, PageOptions
from recsys_ndcg.cli.sources import File, add_format, check_files_exist


def check_split(  # noqa: PLR0913 - one parameter per option
    train: File,
    test: File,
    /,
    *,
    validation: File | None = None,
    lists: File | None = None,
    threshold: Number | None = None,
    k: Annotated[Cutoff, option("K", "-k")] = 10,
    columns: Pairs = "",
    memory_limit: Annotated[str | None, option("SIZE")] = None,
    fail_on: Annotated[str | None, option("VERDICT")] = None,
    page: PageOptions = PageOptions(),
    output: OutputOptions = OutputOptions(),
) -> int:
    """Check a split before a model is trained.

    Shows leaks, times, unknown users and items, shifts, and what the split can tell apart.

    Parameters
    ----------
    train : Path
        Training rows: user, item and, if known, rating and timestamp.
    test : Path
        Test rows.
    validation : Path, optional
        Validation rows, on which parameters are chosen.
    lists : Path, optional
        Recommendations or candidates: user, item, and rank or estimated.
    threshold : float, optional
        Ratings at or above it are relevant.
    k : int
        The cutoff of the metrics.
    columns : str
        Map columns to the files': user=uid,item=iid,rating=stars,timestamp=date.
    memory_limit : str, optional
        Memory limit, such as 2GB: the training rows are then sorted on disk.
    fail_on : str, optional
        Exit with 1 if there is an 'error', or also if there is a 'warning'.

    Examples
    --------
    recsys-ndcg check-split train.csv test.csv --threshold 4
    recsys-ndcg check-split train.csv test.csv --lists top10.csv --fail-on error
    """
    from recsys_ndcg import check_split as check
    from recsys_ndcg.errors import check_choice
    from recsys_ndcg.split_checks import VERDICTS

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
    return 0 if fail_on is None else print_gates([found.gate(fail_on)], quiet=output.quiet)
