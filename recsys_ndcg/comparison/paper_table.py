"""The leaderboards of a comparison as one LaTeX table for a paper."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from recsys_ndcg.comparison.verdict import group_by_outcome
from recsys_ndcg.errors import InvalidInputError, quote, suggest
from recsys_ndcg.glossary import read_columns
from recsys_ndcg.rendering import FORMATS, Code, escape_latex, format_level, format_number
from recsys_ndcg.report import build_signatures_section

if TYPE_CHECKING:
    from recsys_ndcg.comparison.compared_models import ComparedModels

_PREAMBLE = r"% Preamble: \usepackage{booktabs,tabularx}"
_ENDS = {"mean": ("ci_low", "ci_high")}  # other intervals are named after their column
_LONGEST_HEADING = 9  # characters; longer ones are broken before @, ( and :
_LONGEST_NAME = 16  # characters of a name that is not broken
#: A part of a name that is not broken.
_PIECE = re.compile(r"(?s:(?=.))[A-Z]{0,12}[^_\-./A-Z]{0,12}[_\-./]?")


def write_paper_table(  # noqa: PLR0913 - the options of `Comparison.to_latex`
    data: ComparedModels,
    metrics: Sequence[str],
    columns: Sequence[str],
    *,
    digits: int,
    label: str,
    caption: str | None,
) -> str:
    """Return the table; `Comparison.to_latex` explains the parameters."""
    boards = [data.leaderboards[name] for name in metrics]
    models, shown = list(boards[0].index), read_columns()
    known = [str(name) for name in boards[0] if shown[str(name)]["shown"] != "never"]
    known.remove("letters")  # they stand next to the means
    for name in columns:
        if name not in known:
            msg = f"There is no column {quote(name)}. {suggest(str(name), known)}"
            raise InvalidInputError(msg)
    texts = [
        _format_column(data, metric, column, board.loc[models], digits)
        for metric, board in zip(metrics, boards, strict=True)
        for column in columns
    ]
    rows: list[str] = []
    for model, *cells in zip(models, *texts, strict=True):
        rows += [r"\addlinespace[2pt]"] if rows else []
        rows.append(_join_cells([_break_name(model), *(cell for cell, _ in cells)]))
        if any(interval for _, interval in cells):
            rows.append(_join_cells(["", *(interval for _, interval in cells)]))
    sides = "r" * len(texts)
    has_intervals = any(interval for column in texts for _, interval in column)
    if caption is None:
        caption = _write_caption(data, boards, columns, has_intervals=has_intervals)
    return "\n".join(
        [
            _PREAMBLE,
            r"\begin{table}",
            rf"\caption{{{caption}}}",
            *([rf"\label{{{label}}}"] if label else []),
            r"\par\smallskip",
            r"\footnotesize",
            r"\setlength{\tabcolsep}{3pt}",
            rf"\begin{{tabularx}}{{\linewidth}}{{@{{}}>{{\raggedright\arraybackslash}}X{sides}@{{}}}}",
            r"\toprule",
            *_write_heading(metrics, columns),
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabularx}",
            rf"\par\smallskip\raggedright\scriptsize {_write_signatures(data, metrics)}",
            r"\end{table}",
            "",
        ]
    )


def _join_cells(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _format_column(
    data: ComparedModels, metric: str, column: str, board: pd.DataFrame, digits: int
) -> list[tuple[str, str]]:
    """Return each model's cell, and the interval below it."""
    low, high = _ENDS.get(column, (f"{column}_low", f"{column}_high"))
    signs = [""] * len(board)
    if column == "mean":
        signs = _list_signs(data, metric, board)
    found = []
    for row, sign in zip(board.to_dict("records"), signs, strict=True):
        text, interval = _format_number(row[column], digits), ""
        if low in board and not pd.isna(row[low]):
            ends = [_format_number(row[one], digits) for one in (low, high)]
            interval = rf"{{\tiny [{', '.join(ends)}]}}"
        if column == "mean" and data.testing.family != "baseline" and row["tier"] == 1:
            text = rf"\textbf{{{text}}}"
        found.append((f"{text}{sign}", interval))
    return found


def _list_signs(data: ComparedModels, metric: str, board: pd.DataFrame) -> list[str]:
    """Return each model's letters, or + and - against the baseline, as superscripts."""
    signs = dict(board["letters"])
    if data.testing.family == "baseline":
        groups = group_by_outcome(data.by_metric[metric], slice(None), data.baseline)
        signs |= dict.fromkeys(groups["better"], "+") | dict.fromkeys(groups["worse"], "-")
    longest = max(signs.values(), key=len)
    padded = [(signs[model], longest[len(signs[model]) :]) for model in board.index]
    return [
        "".join(
            [
                rf"\textsuperscript{{{sign.replace('-', '$-$')}}}" if sign else "",
                rf"\textsuperscript{{\phantom{{{rest.replace('-', '$-$')}}}}}" if rest else "",
            ]
        )
        for sign, rest in padded
    ]


def _format_number(value: Any, digits: int) -> str:
    if pd.isna(value):
        return "--"
    if isinstance(value, int):
        return str(value)
    return format_number(value, form=f"z.{digits}f").replace("-", "$-$")


def _break_name(name: str) -> str:
    """Return a name; a long one may be broken after _, -, . and /, and before capitals."""
    pieces = _PIECE.findall(name) if len(name) > _LONGEST_NAME else [name]
    return r"\allowbreak ".join(map(escape_latex, pieces))


def _write_heading(metrics: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return the lines of the heading: the metrics, and the columns if there are several."""
    if len(columns) == 1:
        return [_join_cells(["model", *map(_stack_heading, metrics)])]
    size = len(columns)
    spans = [rf"\multicolumn{{{size}}}{{c}}{{{escape_latex(name)}}}" for name in metrics]
    rules = [
        rf"\cmidrule({'l' if place else ''}r){{{2 + place * size}-{1 + (place + 1) * size}}}"
        for place in range(len(metrics))
    ]
    names = [_stack_heading(name.replace("_", " ")) for name in columns] * len(metrics)
    return [_join_cells(["", *spans]), "".join(rules), _join_cells(["model", *names])]


def _stack_heading(name: str) -> str:
    """Return a heading, on several lines if it is long."""
    if len(name) <= _LONGEST_HEADING:
        return escape_latex(name)
    lines = re.split(r"(?<=.)(?=[@(:])| ", name)
    stacked = r"\\".join(map(escape_latex, lines))
    return rf"\shortstack[r]{{{stacked}}}"


def _write_caption(
    data: ComparedModels,
    boards: Sequence[pd.DataFrame],
    columns: Sequence[str],
    *,
    has_intervals: bool,
) -> str:
    """Return what the table shows: users, intervals, and what bold and letters mean."""
    users = [int(one) for board in boards for one in board["users"] if one]
    level = format_level(1 - data.testing.alpha)
    intervals = f", with {level} % intervals" if has_intervals else ""
    what = "Means" if [*columns] == ["mean"] else "Scores"
    lines = [f"{what} over {FORMATS['span'](users or [0])} users{intervals}."]
    if "mean" in columns and data.testing.family == "baseline":
        lines.append(
            f"+ and -: significantly better and worse than {data.baseline} ({data.tested_by})."
        )
    elif "mean" in columns:
        lines.append(
            "Bold: no model is significantly better. Models that share a letter do not differ "
            f"significantly ({data.tested_by})."
        )
    return escape_latex(" ".join(lines)).replace("+ and -:", "$+$ and $-$:")


def _write_signatures(data: ComparedModels, metrics: Sequence[str]) -> str:
    """Return the short signatures, which may be broken after each |."""
    signatures = {name: data.signatures[name] for name in metrics}
    code = build_signatures_section(signatures).parts[0]
    lines = code.brief(full=False) if isinstance(code, Code) else []
    return escape_latex("; ".join(lines)).replace(r"\textbar{}", r"\textbar\allowbreak{}")
