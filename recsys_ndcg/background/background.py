"""Background: what is known besides the lists, by item and by user."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, TypedDict, Unpack
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import (
    Flags,
    Floats,
    Ids,
    Positions,
    ReadOnlyArrays,
    are_equal,
    compute_offsets,
    concat_ids,
    count_offsets,
)
from recsys_ndcg.background.features import Feature, combine_features, number_labels, read_features
from recsys_ndcg.errors import (
    InvalidInputError,
    as_float,
    format_count,
    is_number,
    label_messages,
    quote,
)
from recsys_ndcg.input import (
    EncodedIds,
    Rows,
    check_id_types,
    encode_ids,
    has_values_by_id,
    join_encoded,
    read_indexed_table,
    read_rows,
    read_values_by_id,
    reject_text_lists,
    to_floats,
)
from recsys_ndcg.lazy import Cache, lazy_property
from recsys_ndcg.ratings import GroupedRows, is_table_by_item, read_interactions

#: The names of what can be known, and how to give it in Python and at the command line.
SOURCES = {
    "train": "`train=ratings`, the rows that the model was trained on",
    "catalogue": "`catalogue=items`, all items that can be recommended",
    "features": "`features=table`, a table indexed by item",
    "base": "`base=lists`, the lists of the model to compare with",
    "groups": "`groups=series`, the group of each user",
    "weights": "`weights=propensity(train, gamma=...)`, the weight of each item's labels",
}


class BackgroundOptions(TypedDict, total=False):
    """What is given to `evaluate` besides the lists.

    Parameters
    ----------
    train : table, rows or trainset, optional
        The rows that the model was trained on: popularity, novelty and what a user had before.
        Only the users and items are read, not the ratings.
    catalogue : ids, table, interactions or number, optional
        All items that can be recommended. Chance is then a list drawn from them. For chance alone
        their number is enough, or for each user the number of items that could be recommended.
    features : table, optional
        Indexed by item, or with a column ``item``; numbers, categories, sets or vectors.
    base : lists, optional
        The recommendations of another model, as results in ``{"labels": ..., "results": ...}``.
    groups : Series, mapping or table, optional
        The group of each user; a table has a column ``user`` and one more.
    weights : Propensity, Series or table, optional
        The weight of each item's labels: `propensity`, a Series by item, or a table with a column
        ``item`` and one more. Or give the labels a column ``weight``. Gains and relevance are
        multiplied by it, in the numerator and, if it is a sum over labels, in the denominator.
    """

    train: Any
    catalogue: Any
    features: Any
    base: Any
    groups: Any
    weights: Any


@dataclass(frozen=True, eq=False, repr=False)
class Background(ReadOnlyArrays):
    """What is known besides the lists: training rows, the catalogue, features, base lists, groups.

    Parameters
    ----------
    items, users : arrays
        The distinct ids in ascending order.
    history : GroupedRows, optional
        The distinct training items of each user, in ascending order, with the number of rows of
        each.
    in_catalogue : bool array, shape (n_items,), optional
        Whether each item is in the catalogue.
    is_candidate : bool array, shape (n_items,), optional
        Whether each item could be recommended: `in_catalogue`, if lists are drawn from it.
    features : mapping of str to Feature
        The columns of the features table.
    base : GroupedRows, optional
        The lists of the base model, best first, tied items in the order of their ids, and whether
        each item is tied with the one before it.
    group_of : int64 array, shape (n_users,), optional
        The group of each user, -1 for none.
    groups : tuple
        The names of the groups.
    weights : float64 array, shape (n_items,), optional
        The weight of each item's labels, NaN if it is unknown.
    propensity : Propensity, optional
        What the weights were computed from.
    """

    items: Ids
    users: Ids
    history: GroupedRows | None = None
    in_catalogue: Flags | None = None
    is_candidate: Flags | None = None
    features: Mapping[str, Feature] = field(default_factory=dict)
    base: GroupedRows | None = None
    group_of: Positions | None = None
    groups: tuple[Any, ...] = ()
    weights: Floats | None = None
    propensity: Propensity | None = field(default=None, compare=False)
    paths: Mapping[str, str] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, **given: Unpack[BackgroundOptions]) -> Self | None:  # noqa: C901 - six sources
        """Read what is given to `evaluate` besides the lists; None if nothing is.

        Raises
        ------
        InvalidInputError
            Something cannot be read, or ids have different types.

        Examples
        --------
        >>> train = [("ann", "a"), ("bob", "a"), ("bob", "b")]
        >>> known = Background.of(train=train, catalogue=["a", "b", "c"])
        >>> known.items.tolist(), known.n_users_of.tolist()
        (['a', 'b', 'c'], [2.0, 1.0, 0.0])
        """
        sources = [given.get(name) for name in SOURCES]
        train, catalogue, features, base, groups, weights = sources
        if all(one is None for one in sources):
            return None
        item_parts: dict[str, Ids | EncodedIds] = {}
        user_parts: dict[str, Ids | EncodedIds] = {}
        base_lists: Any = None if base is None else _read_base(base)
        rows: Any = None if train is None else read_interactions(train, "`train=`")
        for name, one in (("train", rows), ("base", base_lists)):
            if one is not None:
                user_parts[name], item_parts[name] = one.user, one.item
        if catalogue is not None:
            item_parts["catalogue"] = read_catalogue(catalogue)
        columns: dict[str, Feature] = {}
        if features is not None:
            item_parts["features"], columns = read_features(features)
        group_names: list[Any] = []
        if groups is not None:
            user_parts["groups"], group_names = _read_groups(groups)
        if weights is not None:
            item_parts["weights"], weight_of = _read_weights(weights)
        items, item_codes = _encode_parts(item_parts, "item")
        users, user_codes = _encode_parts(user_parts, "user")
        options: dict[str, Any] = {}
        if rows is not None:
            codes = user_codes["train"], item_codes["train"]
            options["history"] = _count_rows(*codes, len(users), len(items))
        if catalogue is not None:
            in_catalogue = np.zeros(len(items), dtype=bool)
            in_catalogue[item_codes["catalogue"]] = True
            options["in_catalogue"] = in_catalogue
        if base_lists is not None:
            codes = user_codes["base"], item_codes["base"]
            options |= _rank_base(base_lists.estimated, *codes, users, items)
        if groups is not None:
            labels, code_of = number_labels(group_names)
            group_of = np.full(len(users), -1)
            group_of[user_codes["groups"]] = [code_of[one] for one in group_names]
            options |= {"group_of": group_of, "groups": labels}
        if weights is not None:
            source = weights if isinstance(weights, Propensity) else None
            by_item = np.full(len(items), _find_unknown_weight(source))
            by_item[item_codes["weights"]] = weight_of
            options |= {"weights": by_item, "propensity": source}
        options["features"] = {
            name: one.reindex(item_codes["features"], len(items)) for name, one in columns.items()
        }
        options["paths"] = {
            name: os.fspath(one)
            for name, one in zip(SOURCES, sources, strict=True)
            if isinstance(one, str | os.PathLike)
        }
        return cls(items, users, **options)

    def __eq__(self, other: object) -> bool:
        """Return whether the same is known, so that sums of two processes can be merged.

        Where it was read from does not matter.
        """
        return are_equal(self, other)

    def __hash__(self) -> int:
        """Return equal numbers for equal ones."""
        return hash(repr(self))

    def __repr__(self) -> str:
        """Return a sentence with the numbers of items, users and training rows."""
        text = f"Background of {format_count(len(self.items), 'item')}"
        parts = [name for name in SOURCES if name in self.known]
        n_rows = None if self.history is None else int(self.history.values.sum())  # noqa: PD011 - not of pandas
        rows = "" if n_rows is None else f", {n_rows} training rows"
        return f"{text} and {format_count(len(self.users), 'user')}{rows}: {', '.join(parts)}."

    @property
    def known(self) -> frozenset[str]:
        """The names in `SOURCES` of what is known."""
        values = {
            "train": self.history,
            "catalogue": self.in_catalogue,
            "features": self.features or None,
            "base": self.base,
            "groups": self.group_of,
            "weights": self.weights,
        }
        return frozenset(name for name, value in values.items() if value is not None)

    def align(self, items: Ids) -> tuple[Background, Positions]:
        """Return the background of more items, and the new position of each of `items`.

        Raises
        ------
        InvalidInputError
            The ids have different types, or two ids have the same text.
        """
        check_id_types(self.items, items, "item", self._name_ids("item"))
        union, codes = encode_ids(concat_ids([items, self.items]), "item")
        theirs, own = codes[: len(items)].astype(np.int64), codes[len(items) :].astype(np.int64)
        return self._reindex(union, own), theirs

    def _name_ids(self, column: str) -> tuple[str, str]:
        """Return what the ids belong to, and the lists, for the message of different types."""
        others = ("groups",) if column == "item" else ("catalogue", "features", "weights")
        names = [f"{name}=" for name in SOURCES if name in self.known and name not in others]
        return f"the {column}s of {' and '.join(names)}", "the lists"

    def _reindex(self, items: Ids, positions: Positions) -> Background:
        if len(items) == len(self.items):
            return self

        def move(value: Any, unknown: float = 0) -> Any:
            if value is None:
                return None
            if isinstance(value, GroupedRows):
                return replace(value, codes=positions[value.codes])
            moved = np.full(len(items), unknown, dtype=value.dtype)
            moved[positions] = value
            return moved

        features = {name: one.reindex(positions, len(items)) for name, one in self.features.items()}
        return replace(
            self,
            items=items,
            in_catalogue=move(self.in_catalogue),
            is_candidate=move(self.is_candidate),
            weights=move(self.weights, _find_unknown_weight(self.propensity)),
            history=move(self.history),
            base=move(self.base),
            features=features,
        )

    def find_users(self, users: Ids) -> Positions:
        """Return the position of each user, -1 if unknown.

        Raises
        ------
        InvalidInputError
            The ids have different types, or two ids have the same text.
        """
        if not len(self.users):
            return np.full(len(users), -1)
        check_id_types(self.users, users, "user", self._name_ids("user"))
        return EncodedIds(self.users, np.zeros(0, np.int32)).find(users)

    @property
    def train(self) -> GroupedRows:
        """The history; the caller knows that there is one."""
        assert self.history is not None, "checked by the caller"  # noqa: S101
        return self.history

    @lazy_property
    def history_rows(self) -> GroupedRows:
        """The training items of each user, repeated ones as often as they have rows."""
        counts = self.train.values.astype(np.int64)  # noqa: PD011 - not of pandas
        ends = compute_offsets(counts)
        return GroupedRows(ends[self.train.offsets], np.repeat(self.train.codes, counts))

    @lazy_property
    def n_rows(self) -> Floats:
        """The number of training rows of each item."""
        return np.bincount(self.train.codes, self.train.values, len(self.items)).astype(np.float64)

    @lazy_property
    def n_users_of(self) -> Floats:
        """The number of training users of each item."""
        return np.bincount(self.train.codes, minlength=len(self.items)).astype(np.float64)

    @lazy_property
    def n_train_users(self) -> int:
        """The number of users of training."""
        return int((self.train.sizes > 0).sum())

    @lazy_property
    def n_known_users(self) -> int:
        """The number of users in ``train=`` or ``groups=``."""
        in_group = False if self.group_of is None else np.asarray(self.group_of) >= 0
        return int(((self.train.sizes > 0) | in_group).sum())

    @lazy_property
    def in_train(self) -> Flags:
        """Whether each item is in training."""
        return self.n_users_of > 0

    def digest(self, source: str, column: str = "") -> str:
        """Return the number of rows of one of `SOURCES`, and a digest, equal for equal contents.

        Parameters
        ----------
        source : str
            Its name, one of `known`.
        column : str
            The column of the features; "" for all.

        Examples
        --------
        >>> Background.of(catalogue=["a", "b"]).digest("catalogue")
        '2#e8fc1bac'
        """
        key = source, column if source == "features" else ""
        return self._digests.get_or_compute(key, lambda: self._find_digest(*key))

    @lazy_property
    def _digests(self) -> Cache:
        return Cache()

    def _find_digest(self, source: str, column: str) -> str:
        if source == "train" and self.history is not None:
            return self._digest_lists(self.history, int(self.history.values.sum()))  # noqa: PD011 - not of pandas
        if source == "base" and self.base is not None:
            return self._digest_lists(self.base, len(self.base.codes))
        if source == "catalogue":
            inside = np.asarray(self.in_catalogue)
            return _digest_columns(int(inside.sum()), self.items[inside])
        if source == "weights":
            weights = np.asarray(self.weights)
            is_known = ~np.isnan(weights)
            columns = self.items[is_known], weights[is_known]
            own = self.propensity  # which the lists cannot change
            return own.digest() if own else _digest_columns(int(is_known.sum()), *columns)
        if source == "groups":
            codes = np.asarray(self.group_of)
            names = np.array([str(one) for one in self.groups], dtype=object)
            has_group = codes >= 0
            users = self.users[has_group]
            return _digest_columns(len(users), users, codes[has_group], names)
        parts, is_known = list[NDArray[Any]](), np.zeros(len(self.items), dtype=bool)
        for name in [column] if column in self.features else sorted(self.features):
            one = self.features[name]
            known, labels = np.asarray(one.is_known), [name, *map(str, one.labels)]
            entries = np.asarray(one.values)[known]
            parts += [np.array(labels, dtype=object), self.items[known], entries]
            is_known |= known
        return _digest_columns(int(is_known.sum()), *parts)

    def _digest_lists(self, lists: GroupedRows, n_rows: int) -> str:
        # other sources and the lists add items and users, which must not change the digest
        sizes, is_used = lists.sizes, np.zeros(len(self.items), dtype=bool)
        is_used[lists.codes] = True
        items = np.cumsum(is_used, dtype=np.int32)[lists.codes]
        ids = self.users[sizes > 0], self.items[is_used]
        return _digest_columns(n_rows, *ids, sizes[sizes > 0], items, lists.values)

    def get_feature(self, name: str) -> Feature:
        """Return a column of the features, or all columns together for ""."""
        return combine_features(self.features, name)


def _read_base(data: Any) -> Rows:
    """Return the lists of a base model, as results."""
    try:
        rows = read_rows(data, table="results")
        rows.check_not_empty()
        reject_text_lists(rows)
    except InvalidInputError as error:
        msg = f"`base=`: {error.args[0]}"
        raise InvalidInputError(msg) from None
    return rows


def read_catalogue(data: Any) -> Ids:
    """Return ids: a column, those of a table by item, or the items of interactions."""
    if is_table_by_item(data):
        return read_indexed_table(data, "catalogue")[0]
    return read_interactions(data, "`catalogue=`", kind="items").item.ids


def _read_groups(groups: Any) -> tuple[Ids, list[Any]]:
    """Return the users and their groups."""
    if not has_values_by_id(groups):
        msg = (
            "`groups` must be a mapping of users to their groups, such as {'ann': 'new'}, or a "
            f"table with the columns user and group, not {quote(groups)}."
        )
        raise InvalidInputError(msg)
    users, values = read_values_by_id(groups, "groups", "user")
    names = values.tolist()
    wrong = [name for name in names if not isinstance(name, Hashable)]
    if wrong:
        msg = f"groups: a group must be a name or a number, not {quote(wrong[0])}."
        raise InvalidInputError(msg)
    return users, names


def _read_weights(data: Any) -> tuple[Ids, Floats]:
    """Return items and the weights of their labels.

    Parameters
    ----------
    data : Propensity, mapping, Series, table, or path of a file
        A weight by item; a table has a column ``item`` and one more.

    Raises
    ------
    InvalidInputError
        The data has another form, an item twice, or a weight that is not a finite number of at
        least 0.
    """
    if isinstance(data, Propensity):
        data = data.weights
    if not has_values_by_id(data):
        msg = (
            "`weights` must be propensity(train, gamma=...), a Series of weights by item, or a "
            f"table with the columns item and weight, not {quote(data)}."
        )
        raise InvalidInputError(msg)
    items, given = read_values_by_id(data, "weights")
    values = to_floats(given, "weights")
    wrong = np.flatnonzero(~((values >= 0) & np.isfinite(values)))
    if len(wrong):
        msg = (
            f"weights: the item {quote(items[wrong[0]])} has the weight {values[wrong[0]]:g} "
            f"({len(wrong)} such items). A weight is a finite number of at least 0."
        )
        raise InvalidInputError(msg)
    return items, values


def _find_unknown_weight(source: Propensity | None) -> float:
    """Return the weight of labels of items without a weight of their own, NaN if there is none."""
    return np.nan if source is None else float(source.compute_weights(np.zeros(1))[0])


@dataclass(frozen=True, eq=False, repr=False)
class Propensity:
    """How likely each item's labels are observed: a power of its popularity (`propensity`).

    Parameters
    ----------
    train : Background
        The training rows.
    gamma : float
        The exponent, from -1 to `MAX_GAMMA`.
    """

    #: With larger exponents the weights of rare items would overflow.
    MAX_GAMMA: ClassVar[float] = 20.0

    train: Background
    gamma: float

    def __repr__(self) -> str:
        """Return a sentence with the exponent and the number of items."""
        return f"Propensity with gamma={self.gamma:g} of {len(self.train.items)} items."

    @property
    def values(self) -> pd.Series[float]:
        """The propensity of each item, in (0, 1]; 1 for the most popular one."""
        return (1 / self.weights).rename("propensity")

    @property
    def weights(self) -> pd.Series[float]:
        """The weight of each item's labels, one over its propensity."""
        values = self.compute_weights(np.asarray(self.train.n_rows))
        return pd.Series(values, pd.Index(self.train.items, name="item"), name="weight")

    def compute_weights(self, n_rows: Floats) -> Floats:
        """Return the weights of items, given their numbers of training rows; 0 counts as 1."""
        most = np.asarray(self.train.n_rows).max()
        weights: Floats = (most / np.maximum(n_rows, 1.0)) ** ((self.gamma + 1) / 2)
        return weights

    def find_training_rows(self, users: Ids, user: Positions, items: Ids, item: Positions) -> Flags:
        """Return whether each pair of user and item is a training row.

        Parameters
        ----------
        users, items : arrays
            The distinct ids.
        user, item : int arrays, shape (n_pairs,)
            The positions of each pair's ids.
        """
        place, (aligned, code) = self.train.find_users(users)[user], self.train.align(items)
        assert aligned.history is not None, "made from training rows"  # noqa: S101
        n_items = len(aligned.items)
        keys = aligned.history.owners * n_items + aligned.history.codes
        return np.isin(place * n_items + code[item], keys)

    def digest(self) -> str:
        """Return the number of items, and a digest of their training rows and the exponent."""
        items, n_rows = self.train.items, np.asarray(self.train.n_rows)
        return f"{_digest_columns(len(items), items, n_rows)}(gamma={self.gamma:g})"


def propensity(train: Any, *, gamma: float) -> Propensity:
    r"""Estimate from training popularity how likely the labels of each item are observed.

    .. math:: P_i = \left(\frac{n_i}{\max_j n_j}\right)^{(\gamma + 1) / 2}

    with n_i the number of training rows of item i; an item without any counts as one with 1 row.
    ``evaluate(..., weights=propensity(...))`` weights each label by 1/P, so that rare items count
    more.

    Parameters
    ----------
    train : table, rows or trainset
        The rows that the model was trained on; only users and items are read.
    gamma : float
        From -1 to 20, no unit. At -1 all weights are 1, at 1 propensity is popularity. Yang et al.
        fit it to the distribution of popularity. Steck's exponent, beta, is (gamma + 1) / 2.

    Returns
    -------
    Propensity
        Its ``weights`` and ``values`` are Series by item.

    Raises
    ------
    InvalidInputError
        The rows cannot be read, or gamma is out of range. `recsys_ndcg.evaluate` raises if the
        rows are the very labels to weight.

    References
    ----------
    Yang et al. (2018), doi:10.1145/3240323.3240355; Steck (2011), doi:10.1145/2043932.2043957

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("ann", "a"), ("bob", "a"), ("cid", "a"), ("dan", "a"), ("ann", "b")]
    >>> rn.propensity(train, gamma=0).weights.to_dict()
    {'a': 1.0, 'b': 2.0}
    """
    if not (is_number(gamma) and -1 <= gamma <= Propensity.MAX_GAMMA):
        most = f"{Propensity.MAX_GAMMA:g}"
        msg = f"`gamma` must be a number from -1 to {most}, not {quote(gamma)}; 1.5 is usual."
        raise InvalidInputError(msg)
    known = Background.of(train=train)
    if known is None:
        msg = "train is None. Give the rows that the model was trained on."
        raise InvalidInputError(msg)
    return Propensity(known, as_float(gamma))


def _encode_parts(
    parts: Mapping[str, Ids | EncodedIds], column: str
) -> tuple[Ids, dict[str, Positions]]:
    """Return the distinct ids of several tables, and the position of each table's ids."""
    if not parts:
        return np.zeros(0, dtype=np.int64), {}
    encoded: dict[str, EncodedIds] = {}
    for name, part in parts.items():
        with label_messages(f"{name}="):
            encoded[name] = EncodedIds(*encode_ids(part, column))
    first = next(iter(parts))
    for name, one in encoded.items():
        given = (f"the {column}s of {first}=", f"the {column}s of {name}=")
        check_id_types(encoded[first], one, column, given)
    ids, codes = join_encoded([*encoded.values()], column)
    return ids, {name: one.astype(np.int64) for name, one in zip(encoded, codes, strict=True)}


def _count_rows(user: Positions, item: Positions, n_users: int, n_items: int) -> GroupedRows:
    """Return the distinct items of each user, with the number of rows of each."""
    keys, counts = np.unique(user * n_items + item, return_counts=True)
    users, items = np.divmod(keys, n_items)
    return GroupedRows(count_offsets(users, n_users), items, counts.astype(np.float64))


def _rank_base(
    estimated: Floats, user: Positions, item: Positions, users: Ids, items: Ids
) -> dict[str, Any]:
    """Return the fields that come from the lists of a base model."""
    keys, first, counts = np.unique(user * len(items) + item, return_index=True, return_counts=True)
    if len(keys) < len(user):
        row = first[counts > 1][0]
        one = f"user {quote(users[user[row]])} has the item {quote(items[item[row]])}"
        msg = f"`base=`: {one} twice or more. Give each item of a list once."
        raise InvalidInputError(msg)
    order = np.lexsort((item, -estimated, user))
    user, item, estimated = user[order], item[order], estimated[order]
    is_tied = np.append(False, (user[1:] == user[:-1]) & (estimated[1:] == estimated[:-1]))
    return {"base": GroupedRows(count_offsets(user, len(users)), item, is_tied)}


def _digest_columns(size: int, *columns: NDArray[Any]) -> str:
    """Return a size and an eight-digit digest of columns of numbers or ids."""
    total = 0
    for column in columns:
        kind, numbers = column.dtype.kind, column
        if kind == "f" and (column == np.floor(column)).all():
            numbers = column.astype(np.int64)  # an id of the lists can make all ids floats
        is_text = kind not in "biuf"
        data = "\0".join(map(repr, column.tolist())).encode() if is_text else numbers.tobytes()
        total = crc32(data, total)  # a longer digest would take longer than the metric
    return f"{size}#{total:08x}"
