"""The option that writes a page."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recsys_ndcg.cli.data import is_dash
from recsys_ndcg.cli.process import emit
from recsys_ndcg.errors import needing

if TYPE_CHECKING:
    from recsys_ndcg.comparison.comparison import Comparison
    from recsys_ndcg.report.report import Report

#: Where a page goes.
Html = Annotated[
    Path | None,
    typer.Option(
        "--html",
        help="Write a page: one file that needs no network, with charts and all users; '-' is "
        "standard output.",
    ),
]


def check_page(path: Path | None) -> None:
    """Refuse a page that cannot be made, before anything is measured.

    Raises
    ------
    MissingExtraError
        What the extra `report` brings is not installed.
    """
    if path is not None:
        with needing("jinja2", "altair", "vl_convert", job="A page", extra="report"):
            return


def write_page(path: Path | None, found: Report | Comparison) -> bool:
    """Write a page that says what was typed to make it, and tell if it is the output itself.

    To be called before anything is printed: a pipe that is closed early leaves the file whole.
    """
    if path is None:
        return False
    from recsys_ndcg.comparison.page import page as of_comparison
    from recsys_ndcg.report.page import page as of_report
    from recsys_ndcg.report.report import Report

    command = shlex.join(["recsys-ndcg", *sys.argv[1:]])
    place = None if is_dash(path) else path
    if isinstance(found, Report):
        text = of_report.write(found, place, command)
    else:
        text = of_comparison.write(found, place, command)
    if place is None:
        emit(text)
    return place is None
