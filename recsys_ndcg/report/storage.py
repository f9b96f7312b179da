"""Reports as files: what people read as plain JSON, what every user scored as packed columns."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.convention.convention import Convention
from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, shown
from recsys_ndcg.input.ids import as_numbers
from recsys_ndcg.input.rows import floats, objects
from recsys_ndcg.metrics import Metric, parse
from recsys_ndcg.metrics.recorded import Recorded
from recsys_ndcg.parallel import in_threads
from recsys_ndcg.report.audit import FROM_LISTS, Audit
from recsys_ndcg.report.levels import NAMES, Levels, Orders
from recsys_ndcg.report.packing import pack, unpack
from recsys_ndcg.report.plain import plain
from recsys_ndcg.report.signatures import Signature
from recsys_ndcg.scoring.measurement import Measurement
from recsys_ndcg.scoring.scores import PARTS, ListCounts, Scores
from recsys_ndcg.version import __version__
from recsys_ndcg.writing import write_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Ids, Positions

_FORMAT = 3
_LISTS = tuple(one.name for one in fields(ListCounts))


class StoredAudit(Audit):
    """What stands beside scores that were read from a file, or taken from such.

    Parameters
    ----------
    scores : Scores
        Of every user.
    orders : Orders
        Of the same users.
    from_lists : pandas.DataFrame
        What the file has of the columns `FROM_LISTS`.
    signatures : dict of Signature
        By the names of the metrics.
    truth : uint32 array, shape (n_users,)
        The digests of what is known of them.
    """

    def __init__(
        self,
        scores: Scores,
        orders: Orders,
        from_lists: pd.DataFrame,
        signatures: dict[str, Signature],
        truth: NDArray[np.uint32],
    ) -> None:
        super().__init__(scores, signatures)
        self._levels = Levels(scores, orders)
        self._from_lists = from_lists
        self._truth = truth

    @property
    def levels(self) -> Levels:
        """What other orders of the same lists score, user by user."""
        return self._levels

    @property
    def from_lists(self) -> pd.DataFrame:
        """The columns `FROM_LISTS`, a row per metric."""
        return self._from_lists

    @property
    def truth(self) -> NDArray[np.uint32]:
        """A digest of what is known of each user."""
        return self._truth

    def take(self, users: Positions) -> StoredAudit:
        """Return that of some users: what took a look at their lists is not known of them."""
        scores, unknown = self.scores.take(users), self._from_lists * np.nan
        counted = (~np.isnan(scores.per_user)).sum(axis=0).tolist()
        signed = zip(self.signatures.items(), counted, strict=True)
        return StoredAudit(
            scores,
            self._levels.orders.take(users),
            unknown,
            {name: one.over(count) for (name, one), count in signed},
            self._truth[users],
        )


def write(told: dict[str, Any], audit: Audit, path: str | Path) -> None:
    """Write a report.

    Parameters
    ----------
    told : dict
        What `head` returns.
    audit : Audit
        With the scores of every user.

    Raises
    ------
    InvalidInputError
        A user id is neither text nor a number, or the file cannot be written.
    """
    scores, orders = audit.scores, audit.levels.orders
    wanted = [
        *((("lists", name), getattr(scores.counts, name)) for name in _LISTS),
        (("lists", "truth"), audit.truth),
        *(
            ((kind, name, metric), getattr(source, name)[:, place])
            for kind, names, source in (("scores", PARTS, scores), ("orders", NAMES, orders))
            for name in names
            for place, metric in enumerate(scores.names)
        ),
    ]
    packed = in_threads(lambda one: pack(one[1]), wanted)
    stored: dict[str, Any] = {
        "format": f"recsys_ndcg report {_FORMAT}",
        "written_by": __version__,
        **told,
        "metrics": {str(one): _described(one) for one in scores.measurements},
        "n_users": len(scores.users),
        "users": _packed_ids(scores.users),
    }
    for ((*keys, last), _), column in zip(wanted, packed, strict=True):
        place = stored
        for key in keys:
            place = place.setdefault(key, {})
        place[last] = column
    try:
        text = json.dumps(stored, indent=1, allow_nan=False)
    except (TypeError, ValueError) as error:
        msg = f"A report with such user ids cannot be saved ({error}); use text or numbers."
        raise InvalidInputError(msg) from None
    write_whole(path, f"{text}\n")


def _packed_ids(users: Ids) -> Any:
    """Return ids as JSON gives them back: whole numbers as a column, all others one by one."""
    if users.dtype.kind in "iu":
        return pack(users)
    ids = users.tolist()
    for user in ids:
        if not isinstance(user, str | int | float):
            msg = f"A report with the user id {shown(user)} cannot be saved; use text or numbers."
            raise InvalidInputError(msg)
    return ids


def _described(one: Measurement) -> dict[str, Any]:
    """Return what must be known of a metric to show its scores."""
    metric = one.metric
    return {
        "k": metric.k,
        "bounded": metric.bounded,
        "orders": metric.orders,
        "a_ratio": type(metric).score is Metric.score,
        "undefined": plain(one.undefined),
    }


Parts = tuple[Audit, pd.DataFrame | None]


def read(path: str | Path) -> Parts:
    """Return the parts of the report in a file, as `Report` takes them.

    Raises
    ------
    InvalidInputError
        The file cannot be read, is no report, or of another format.
    """
    try:
        stored = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        msg = f"{path}: cannot be read ({error.strerror})."
        raise InvalidInputError(msg) from None
    except (ValueError, RecursionError) as error:
        msg = f"{path}: not JSON ({error})."
        raise InvalidInputError(msg) from None
    _check_format(stored, path)
    try:
        return _parts(stored)
    except InvalidInputError as error:
        msg = f"{path}: {error}"
        raise InvalidInputError(msg) from None
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, LookupError):
        msg = f"{path}: parts of the report are missing or of another form. Save it again."
        raise InvalidInputError(msg) from None


def _check_format(stored: Any, path: str | Path) -> None:
    text = stored.get("format") if isinstance(stored, dict) else None
    found = re.fullmatch(r"recsys_ndcg report ([0-9]{1,18})", str(text))
    if found is None:
        msg = f"{path}: not a report that recsys_ndcg saved."
        raise InvalidInputError(msg)
    number = int(found[1])
    if number == _FORMAT:
        return
    what, to_do = (
        ("an older", "Evaluate the data again, and save that.")
        if number < _FORMAT
        else ("a newer", "Install it: pip install -U recsys-ndcg.")
    )
    msg = (
        f"{path}: a report of format {number}, which {what} recsys_ndcg saved; version "
        f"{__version__} reads format {_FORMAT}. {to_do}"
    )
    raise InvalidInputError(msg)


def _parts(stored: dict[str, Any]) -> Parts:
    signatures = {str(name): Signature(text) for name, text in stored["signatures"].items()}
    names = list(signatures)
    size, users = int(stored["n_users"]), _ids(stored["users"], stored["n_users"])
    if len(set(users.tolist())) != size:
        raise ValueError(size)
    counts = {name: unpack(stored["lists"][name], size) for name in _LISTS}
    table = {
        name: np.column_stack([unpack(stored[kind][name][metric], size) for metric in names])
        for kind, kinds in (("scores", PARTS), ("orders", NAMES))
        for name in kinds
    }
    scores = Scores(
        tuple(_measurement(name, stored["metrics"][name]) for name in names),
        users,
        counts=ListCounts(**counts),
        **{name: table[name] for name in PARTS},
    )
    from_lists = {
        column: floats([stored["audit"][name][column] for name in names], column)
        for column in FROM_LISTS
    }
    others = {
        model: [floats([stored["baselines"][name][model]], model)[0] for name in names]
        for model in stored["baselines"][names[0]]
        if model != "chance"
    }
    baselines = pd.DataFrame.from_dict(others, orient="index", columns=names) if others else None
    orders = Orders(*(table[name] for name in NAMES))
    truth = unpack(stored["lists"]["truth"], size)
    looked = pd.DataFrame(from_lists, index=names)
    return StoredAudit(scores, orders, looked, signatures, truth), baselines


def _ids(stored: Any, size: int) -> Ids:
    if not isinstance(stored, list):
        return unpack(stored, size)
    if not all(isinstance(one, str | int | float) for one in stored):
        raise TypeError(stored)
    return as_numbers(objects(stored, "user"))


def _measurement(name: str, described: dict[str, Any]) -> Measurement:
    """Return the measurement of that name; one whose metric is not known here shows its scores."""
    rule = described["undefined"]
    convention = Convention(undefined="skip" if rule is None else rule)
    try:
        metric = parse(name)[0]
    except RecsysNdcgError:
        if not described["a_ratio"]:
            msg = (
                f"{name} makes its score in a way that is not known here: import its module first."
            )
            raise InvalidInputError(msg) from None
        metric = Recorded(
            described["k"],
            text=name,
            is_bounded=described["bounded"],
            ranks=described["orders"],
        )
    return Measurement(metric, convention)
