"""The glossary: one list of terms for its page in docs/, the tooltips of pages and the legend.

columns.toml says which columns of tables a term explains. docs/terms.py writes the pages.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any


def read_table(path: str) -> dict[str, Any]:
    """Return a table of this package in TOML, also from the zip that Spark sends to its workers."""
    return tomllib.loads(files("recsys_ndcg").joinpath(path).read_text(encoding="utf-8"))


@cache
def read_terms() -> dict[str, dict[str, Any]]:
    """Return the terms in alphabetical order, each with its meaning."""
    return read_table("glossary.toml")


@cache
def read_columns() -> dict[str, dict[str, Any]]:
    """Return the columns of all tables by name, each with its heading."""
    columns = read_table("columns.toml").items()
    return {name: {"heading": name, "shown": "always", **column} for name, column in columns}


def meanings_of(headings: Iterable[str]) -> dict[str, str]:
    """Return the meaning, in one line, of each heading of a table that is a term.

    Examples
    --------
    >>> meanings_of(["SVD", "[90%]"])
    {'[90%]': 'the 90 % confidence interval of the mean over users'}
    """
    found = {one: _find_term(one) for one in headings}
    return {
        one: _fit_level(read_terms()[name]["short"], one) for one, name in found.items() if name
    }


def explain(headings: Iterable[str], *, key: bool | None = None) -> dict[str, str]:
    """Return the meaning of each term among the headings of a table, except plain ones.

    Headings of one term are one key of the result. `key`: only key terms, which are explained below
    the first table, or only the others.
    """
    meanings = meanings_of(headings)
    shown: dict[str, list[str]] = {}
    for heading in meanings:
        name = _find_term(heading)
        term = read_terms()[name]
        if not term.get("is_plain") and key in {None, term.get("is_key", False)}:
            shown.setdefault(name, []).append(heading)
    return {
        ", ".join(dict.fromkeys(_SHOWN.sub("", one) for one in each)): meanings[each[0]]
        for each in shown.values()
    }


def format_legend(headings: Iterable[str], *, key: bool | None = None) -> list[str]:
    """Return a line for each term among the headings of a table, as `explain`."""
    return [f"{names}: {meaning}" for names, meaning in explain(headings, key=key).items()]


_LEVEL = re.compile(r"\[([\d.]+)%\]")
_SHOWN = re.compile(r" (\[.*\]|against .*)$")
#: The level of intervals, the other model, and how a number is computed.
_ADDITION = re.compile(r" (\[.*\]|\(.*\)|against .*)$")


def _find_term(heading: str) -> str:
    """Return the term of a heading, empty if there is none."""
    names, plain = _terms_by_column(), _LEVEL.sub("[95%]", heading)
    tried = (plain, _ADDITION.sub("", plain))
    return next((names[one] for one in tried if one in names), "")


def _fit_level(meaning: str, heading: str) -> str:
    """Return a meaning with the level of the intervals of a heading."""
    found = _LEVEL.search(heading)
    return meaning.replace("95", found[1]) if found else meaning


@cache
def _terms_by_column() -> dict[str, str]:
    """Return the term of each column that has one, by its heading and by its name."""
    return {
        name: column["term"]
        for key, column in read_columns().items()
        if "term" in column
        for name in (key, column["heading"].format(level="95%"))
    }
