"""What a metric needs, as data. `recsys_ndcg.scoring` says why lists do not have it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias


class Source(NamedTuple):
    """An argument of `recsys_ndcg.evaluate` besides the lists."""

    name: str


class Column(NamedTuple):
    """The metric's column of the features, of one of some kinds."""

    kinds: tuple[str, ...]


class Distance(NamedTuple):
    """Entries in the metric's column that the convention's distance can compare."""


class Entries(NamedTuple):
    """An entry in the metric's column for some items, unless `missing_feature` has another rule.

    Parameters
    ----------
    of : str
        The items: recommended ones, labelled ones that are not listed, the users' training items,
        those that lists are drawn from, those of the catalogue, relevant ones, or both.
    """

    of: Literal["rows", "unlisted", "history", "candidates", "catalogue", "relevant", "both"]


class Group(NamedTuple):
    """A group of items, or of users, that exists."""

    name: str
    of: Literal["items", "users"] = "items"


class Estimates(NamedTuple):
    """Estimates, not only ranks: what the metric does with them, and what else to measure."""

    use: str
    instead: str


class Inside(NamedTuple):
    """Recommended items that are all in the catalogue, or in training."""

    source: str


class Weights(NamedTuple):
    """Usable weights of the ranks that are read; the function returns what is wrong with them."""

    find_fault: Callable[[int], str]


class NoTies(NamedTuple):
    """No items that are tied, and why: the score depends on their order, which is not known."""

    why: str


class NoChance(NamedTuple):
    """No random order to compare with, and why.

    Parameters
    ----------
    why : str
        The reason.
    unless : {'', 'listed', 'catalogue', 'few'}
        There is one nevertheless if lists are not drawn from candidates, also if these are known,
        or if they have few pairs.
    """

    why: str
    unless: Literal["", "listed", "catalogue", "few"] = ""


class Never(NamedTuple):
    """What the metric cannot have under a convention, and why."""

    why: str


Requirement: TypeAlias = (
    Source | Column | Distance | Entries | Group | Estimates | Inside | Weights | NoTies | NoChance
    | Never
)  # fmt: skip
