"""Reports from files: everything is checked while it is read, nothing when it is looked at."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.convention.convention import Convention
from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, shown
from recsys_ndcg.input.ids import as_numbers
from recsys_ndcg.input.rows import objects
from recsys_ndcg.input.unpickling import Collisions
from recsys_ndcg.metrics import Metric, parse
from recsys_ndcg.metrics.metric import Recorded, checked_k
from recsys_ndcg.metrics.registry import names_known
from recsys_ndcg.parallel import in_threads
from recsys_ndcg.report.possible import objection
from recsys_ndcg.report.saved_files import read_saved
from recsys_ndcg.report.storage import FORMAT, is_id, least_size, no_ids
from recsys_ndcg.scoring.audit import Audit
from recsys_ndcg.scoring.measurement import Measurement
from recsys_ndcg.scoring.scores import LISTS, ORDERS, PARTS, ListCounts, Scores
from recsys_ndcg.scoring.signatures import Signature
from recsys_ndcg.scoring.totals import Means, Totals

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Ids
    from recsys_ndcg.report.parts import Part

_FLAGS = ("tied", "missing", "left_out")
_FLOATS = ("n_relevant", "unlabelled", "impossible")
_SHARES = ("decided_by_ties", "judged")
#: The columns of the audit that take a look at the lists, and the roles that they are means of.
_FROM_LISTS = {
    "tie_low": "lowest",
    "tie_high": "highest",
    "decided_by_ties": "moved",
    "judged": "judged",
    "unlabelled_zero": "zero",
    "unlabelled_top": "top",
}
_LONGEST_NAME = 1000

Loaded = tuple[Audit, pd.DataFrame | None]


def read(path: str | Path) -> Loaded:
    """Return the parts of the report in a file, as `Report` takes them.

    Raises
    ------
    InvalidInputError
        The file cannot be read, is no report, of another format, or was changed: the part that
        is wrong is named.
    """
    return read_saved(path, "report", FORMAT, loaded)


def loaded(stored: Part, n_bytes: int) -> Loaded:
    """Return the parts of a report from those of a file of so many bytes."""
    signed = stored["signatures"]
    signatures = {name: signature(name, signed[name]) for name in signed.names()}
    names = list(signatures)
    if not names:
        signed.refuse("is empty")
    size = stored["n_users"].whole(least=1)
    if n_bytes < least_size(size, len(names)):
        stored["n_users"].refuse(f"is {size}, which is more than a file of this size holds")
    users = ids(stored["users"], size)
    known = names_known()
    table = _tables(stored, size, names)
    stored_truth = stored["lists"]["truth"]
    truth = stored_truth.column(size, "u")
    if truth.dtype != np.uint32:
        stored_truth.refuse(f"is packed as {truth.dtype.name}, not uint32")
    scores = Scores(
        tuple(measurement(name, stored["metrics"][name], known) for name in names),
        users,
        counts=counts(stored["lists"], size),
        **{name: table[name] for name in PARTS},
        roles={name: table[name] for name in ORDERS},
        truth=truth,
    )
    means = _from_lists(stored["audit"], names)
    wrong = objection(scores, signatures)
    if wrong:
        raise InvalidInputError(wrong)
    totals = Totals.of(scores)
    audit = Audit(signatures, scores, replace(totals, roles={**totals.roles, **means}))
    return audit, _baselines(stored["baselines"], names)


def _tables(stored: Part, size: int, metrics: list[str]) -> dict[str, NDArray[Any]]:
    """Return what every user has in every metric, by what it is."""
    parts = {
        name: [stored[kind][name][metric] for metric in metrics]
        for kind, names in (("scores", PARTS), ("orders", ORDERS))
        for name in names
    }

    def filled(name: str) -> NDArray[Any]:
        return np.column_stack([one.column(size, _kinds(name)) for one in parts[name]])

    return dict(zip(parts, in_threads(filled, [*parts]), strict=True))


def signature(name: str, part: Part) -> Signature:
    """Return the signature of a metric; half a character could be shown nowhere."""
    text = part.value
    if not isinstance(text, str) or not name.isprintable() or len(name) > _LONGEST_NAME:
        part.refuse(f"is {shown(text)}, not the signature of a metric")
    try:
        text.encode()
        found = Signature(text)
        told = found.fields
    except (InvalidInputError, UnicodeEncodeError) as error:
        part.refuse(f"is none: {error}".rstrip("."))
    threshold = told.get("threshold")
    whole = "".join(name.split()) == found.metric
    if not whole or not (threshold is None or math.isfinite(threshold)):
        part.refuse(f"is {shown(text)}, which is that of another metric or threshold")
    return found


def counts(lists: Part, size: int) -> ListCounts:
    """Return what there is to count in the lists of so many users."""
    columns = in_threads(lambda name: lists[name].column(size, _kinds(name)), LISTS)
    return ListCounts(**dict(zip(LISTS, columns, strict=True)))


def _kinds(name: str) -> str:
    """Return which of NumPy's kinds of number a column holds."""
    if name in _FLAGS:
        return "b"
    if name in LISTS:
        return "iuf" if name in _FLOATS else "iu"
    return "f"


def ids(stored: Part, size: int) -> Ids:
    """Return so many different ids."""
    if isinstance(stored.value, list):
        listed = listed_ids(stored)
        if len(listed) != size:
            stored.refuse(f"holds {len(listed)} ids, but n_users is {size}")
        users = objects(listed, "users")
        return users if _all_text(listed) else as_numbers(users)
    users = stored.column(size, "iu")
    in_order = users if (users[1:] > users[:-1]).all() else np.sort(users)
    if (in_order[1:] == in_order[:-1]).any():
        stored.refuse("holds an id twice")
    return users


def listed_ids(stored: Part) -> list[Any]:
    """Return different ids, or labels of segments, each of the type that it was saved with."""
    listed = stored.values()
    for one in no_ids(listed):
        stored.refuse(f"holds {shown(one)}, which is no id")
    if not _all_text(listed):
        long_numbers = Collisions()
        longer = (one for one in listed if isinstance(one, int) and one.bit_length() > 64)
        if any(map(long_numbers.crowded, longer)):
            stored.refuse("holds whole numbers that are chosen to have the same hash")
    if len(set(listed)) < len(listed):
        stored.refuse("holds an id twice")
    return listed


def _all_text(listed: list[Any]) -> bool:
    return set(map(type, listed)) == {str}


def measurement(name: str, described: Part, known: frozenset[str]) -> Measurement:
    """Return the measurement of that name; one whose metric is not known here shows its scores."""
    k = described["k"].value
    undefined = described["undefined"].number(0.0, 1.0)
    try:
        k = checked_k(k)
        rule = Convention(undefined="skip" if math.isnan(undefined) else undefined)
    except InvalidInputError as error:
        described.refuse(f"holds what no metric has: {error}".rstrip("."))
    metric = _metric(name, k, described, known)
    if (str(metric), metric.k) != (name, k):
        described.refuse(f"has k={k}, but the name stands for {metric}")
    return Measurement(metric, rule)


def _metric(name: str, k: int | None, described: Part, known: frozenset[str]) -> Metric:
    bounded, ranks, is_ratio = (described[one].flag() for one in ("bounded", "orders", "a_ratio"))
    if re.split(r"\W", name, maxsplit=1)[0].lower() in known:
        with suppress(RecsysNdcgError):
            return parse(name)[0]
    if not is_ratio:
        msg = f"{name} makes its score in a way that is not known here: import its module first"
        raise InvalidInputError(msg)
    told = "greater_is_better" in described.names()  # the first files of format 4 lack it
    better = described["greater_is_better"].flag() if told else True
    return Recorded(k, text=name, is_bounded=bounded, ranks=ranks, more_is_better=better)


def _from_lists(stored: Part, names: list[str]) -> dict[str, Means]:
    return {
        role: Means.known(
            np.array(
                [
                    stored[name][column].number(*((0, 1 + 1e-9) if column in _SHARES else ()))
                    for name in names
                ],
                dtype=np.float64,
            )
        )
        for column, role in _FROM_LISTS.items()
    }


def _baselines(stored: Part, names: list[str]) -> pd.DataFrame | None:
    models = [one for one in stored[names[0]].names() if one != "chance"]
    rows = {}
    for model in models:
        if not is_id(model):
            stored.refuse(f"holds {shown(model)}, which is no name of a model")
        rows[model] = [stored[name][model].number() for name in names]
    if not rows:
        return None
    return pd.DataFrame.from_dict(rows, orient="index", columns=names, dtype=np.float64)
