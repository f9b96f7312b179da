"""The options that several commands have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recsys_ndcg.cli import options
from recsys_ndcg.errors import InvalidInputError, nearest
from recsys_ndcg.input.file_kinds import describe_kinds

if TYPE_CHECKING:
    from recsys_ndcg.scoring.plan import Plan

#: The last two for programs: they get every digit, and no words around the table.
FORMATS = ("text", "markdown", "latex", "csv", "json")


def beginning(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return what a shell completes a word with: those of the names that begin like it.

    They are looked up when a shell asks, as that takes longer than to show the help.
    """
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


def _metrics() -> Iterable[str]:
    from recsys_ndcg.metrics import METRICS

    return METRICS


def _presets() -> Iterable[str]:
    from recsys_ndcg.convention.presets import PRESETS

    return PRESETS


METRIC_NAMES = beginning(_metrics)
FORMAT_NAMES = beginning(lambda: FORMATS)


@dataclass(frozen=True)
class Source:
    """Where the predictions are."""

    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help=f"Predictions: {describe_kinds()}, made by Surprise. '-' reads text from "
            "standard input.",
            show_default=False,
        ),
    ] = None
    labels: Annotated[
        Path | None,
        typer.Option(help="In place of FILE: what is known (user, item, true); with --results."),
    ] = None
    results: Annotated[
        Path | None,
        typer.Option(help="What was recommended (user, item, rank or estimated)."),
    ] = None
    qrels: Annotated[
        Path | None, typer.Option(help="In place of FILE: judgements of TREC; with --run.")
    ] = None
    run: Annotated[Path | None, typer.Option(help="A run of TREC.")] = None
    n_items: Annotated[
        int | None,
        typer.Option(
            "--n-items",
            help="The size of the catalogue that --results or --run were chosen from: chance is "
            "then that of lists drawn from it.",
        ),
    ] = None


@dataclass(frozen=True)
class Written:
    """How files are written."""

    columns: Annotated[
        str,
        typer.Option(
            help="Our column names to the file's: estimated=est,true=r_ui; without a heading their "
            "places: user=1,item=2,estimated=3,true=4."
        ),
    ] = ""
    no_heading: Annotated[
        bool,
        typer.Option(
            "--no-heading",
            help="The first line is data. Without --columns: user, item, estimated, true.",
        ),
    ] = False
    sep: Annotated[
        str | None,
        typer.Option(help="What separates fields: one sign, tab, or '::'.  [default: found]"),
    ] = None
    decimal: Annotated[str, typer.Option(help="What stands before decimals: '.' or ','.")] = "."
    encoding: Annotated[
        str | None,
        typer.Option(help="Such as latin-1 or utf-16.  [default: UTF-8]"),
    ] = None


@dataclass(frozen=True)
class Choices:
    """Every choice that moves a number."""

    threshold: Annotated[
        float | None,
        typer.Option(
            help="From which true value an item is relevant: metrics such as precision and recall "
            "need it unless every true value is 0 or 1."
        ),
    ] = None
    preset: Annotated[
        str | None,
        typer.Option(
            help="As this library computes it, such as trec_eval or sklearn; 'recsys-ndcg "
            "presets' lists them.",
            autocompletion=beginning(_presets),
        ),
    ] = None
    convention: Annotated[
        list[str] | None,
        typer.Option(help="A choice such as gain=linear; may be repeated."),
    ] = None


@dataclass(frozen=True)
class Style:
    """How what was found is shown."""

    form: Annotated[
        str,
        typer.Option(
            "--format",
            help=f"{', '.join(FORMATS)}; the last two for programs, with every digit.",
            autocompletion=FORMAT_NAMES,
        ),
    ] = "text"
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="The table alone: no remarks, no warnings.")
    ] = False
    full_signature: Annotated[
        bool, typer.Option("--full-signature", help="Every choice, also the usual ones.")
    ] = False


Cutoffs = Annotated[
    list[str] | None,
    typer.Option("-k", help="Cutoffs: 10, or 5,10; may be repeated.  [default: 10]"),
]

Format = Annotated[
    str,
    typer.Option("--format", help=f"{', '.join(FORMATS)}.", autocompletion=FORMAT_NAMES),
]


def checked_form(form: str) -> str:
    """Return the name of a format.

    Raises
    ------
    InvalidInputError
        There is none of that name.
    """
    if form.lower() not in FORMATS:
        msg = f"--format: there is no {form!r}. {nearest(form.lower(), FORMATS)}"
        raise InvalidInputError(msg)
    return form.lower()


def plan_of(choices: Choices, metrics: list[str] | None, k: list[int]) -> Plan:
    """Return the plan that the options ask for."""
    return options.plan_from(
        metrics, k, choices.threshold, choices.preset, choices.convention or []
    )
