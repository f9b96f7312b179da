"""TREC qrels and runs, as files or as dicts of dicts."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.files import Place, content_of, is_place, named
from recsys_ndcg.input.rows import Rows, floats, objects
from recsys_ndcg.input.text_format import TextFormat
from recsys_ndcg.input.text_tables import ODD_NUMBER

Judgements = Place | Mapping[Any, Mapping[Any, float]]
_QRELS, _RUN = ("topic", "iteration", "document", "grade"), (
    "topic", "Q0", "document", "rank", "score", "tag",
)  # fmt: skip


def read_trec(qrels: Judgements, run: Judgements) -> tuple[Rows, Rows]:
    """Read labels and results.

    A negative grade means unlabelled, and the rank column is ignored, both as in trec_eval.
    """
    return _read_qrels(qrels), _read_run(run)


def _read_qrels(qrels: Judgements) -> Rows:
    user, item, grade = _columns(qrels, _QRELS, value="grade")
    true = floats(grade, "qrels")
    true = np.where(true < 0, np.nan, true)
    return Rows({"user": user, "item": item, "true": true}, "labels")


def _read_run(run: Judgements) -> Rows:
    user, item, score = _columns(run, _RUN, value="score")
    columns = {"user": user, "item": item, "estimated": floats(score, "run")}
    return Rows(columns, "results", score="score")


def _columns(source: Judgements, fields: tuple[str, ...], value: str) -> tuple[Any, Any, Any]:
    if not (isinstance(source, Mapping) or is_place(source)):
        msg = f"Give a TREC file or a dict {{topic: {{document: {value}}}}}, not {shown(source)}."
        raise InvalidInputError(msg)
    if isinstance(source, Mapping):
        for user, one in source.items():
            if not isinstance(one, Mapping):
                msg = f"Topic {user!r} has {shown(one)}; give a dict {{document: {value}}}."
                raise InvalidInputError(msg)
        flat = [(user, item, x) for user, one in source.items() for item, x in one.items()]
    else:
        flat = _lines(source, fields, fields.index(value))
    if not flat:
        msg = (
            f"{'The dict' if isinstance(source, Mapping) else named(source)}: there are no entries."
        )
        raise InvalidInputError(msg)
    user, item, values = zip(*flat, strict=True)
    return objects(user, "topic"), objects(item, "document"), list(values)


def _lines(place: Place, fields: tuple[str, ...], at: int) -> list[tuple[str, str, float]]:
    rows = []
    content = content_of(place)
    for number, line in enumerate(
        io.StringIO(TextFormat().decoded(content), newline=None), start=1
    ):
        parts = line.split()
        if not parts:
            continue
        try:
            if len(parts) != len(fields) or ODD_NUMBER.search(parts[at]):
                raise ValueError  # noqa: TRY301 - the same fault as a bad number
            rows.append((parts[0], parts[2], float(parts[at])))
        except ValueError:
            form = " ".join(fields)
            msg = f"{content.name}, line {number}: {shown(line.strip())} is not '{form}'."
            raise InvalidInputError(msg) from None
    return rows
