"""What a metric needs, as data. `recsys_ndcg.scoring` says why lists do not have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from recsys_ndcg.background import SOURCES
from recsys_ndcg.errors import InvalidInputError, check_choice

_Kind: TypeAlias = Literal[
    "source", "column", "distance", "entries", "group", "user group", "estimates", "inside",
    "weights", "no ties", "no chance", "never",
]  # fmt: skip


@dataclass(frozen=True)
class Requirement:
    """Something that a metric needs under a convention.

    Parameters
    ----------
    kind : str
        ``"source"``: an argument of `recsys_ndcg.evaluate` besides the lists, `of` is its name.
        ``"column"``: the metric's column of the features, of one of the kinds in `of`.
        ``"distance"``: entries in that column that the convention's distance can compare.
        ``"entries"``: an entry there for some items, unless `missing_feature` has another rule.
        `of`: ``"rows"``, the recommended items; ``"unlisted"``, labelled ones that are not listed;
        ``"history"``, the users' training items; ``"candidates"``, those that lists are drawn from;
        ``"catalogue"``; ``"relevant"``; or ``"both"``.
        ``"group"``, ``"user group"``: a group of items or users that exists, `of` is its name.
        ``"estimates"``: not only ranks; `of` is what the metric does with them, and `why` what else
        to measure.
        ``"inside"``: all recommended items are in the catalogue or in training, as `of` says.
        ``"weights"``: usable weights of the ranks; `of` is a function of a number of ranks that
        returns what is wrong with them.
        ``"no ties"``: tied items have no order that gives the score.
        ``"no chance"``: there is no mean over random orders; `of` is the exception: ``"listed"``,
        if lists are not drawn from candidates; ``"catalogue"``, also if these are known; ``"few"``,
        also if they have few pairs.
        ``"never"``: the choices exclude each other.
    of : object
        What of this kind.
    why : str
        The reason, for kinds that only the metric can explain.

    Raises
    ------
    InvalidInputError
        There is no such kind or source, or ``"no ties"``, ``"no chance"`` or ``"never"`` has no
        reason.
    """

    kind: _Kind
    of: Any = ""
    why: str = ""

    def __post_init__(self) -> None:
        """Check the kind and what belongs to it."""
        check_choice("Requirement: kind", self.kind, get_args(_Kind))
        if self.kind == "source":
            check_choice("Requirement('source'): of", self.of, ("items", *SOURCES))
        if self.kind in ("no ties", "no chance", "never") and not self.why:
            msg = f"Requirement({self.kind!r}) needs why=, the reason as a sentence."
            raise InvalidInputError(msg)
