"""A metric of which a file holds the scores, and that is not known here."""

from __future__ import annotations

from dataclasses import dataclass

from recsys_ndcg.metrics.metric import Metric


@dataclass(frozen=True)
class Recorded(Metric):
    """The name of somebody's own metric, with what is needed to show its scores.

    Parameters
    ----------
    k : int, optional
        Its cutoff.
    text : str
        Its name, with the cutoff.
    is_bounded, ranks, more_is_better : bool
        Its `bounded`, `orders` and `greater_is_better`.
    """

    text: str = ""
    is_bounded: bool = True
    ranks: bool = True
    more_is_better: bool = True

    def __post_init__(self) -> None:
        """Keep the text as it is."""

    def __str__(self) -> str:
        """Return the name."""
        return self.text

    @property
    def bounded(self) -> bool:  # type: ignore[override] # of each one, where a metric has it of all
        """Whether the score lies between 0 and 1."""
        return self.is_bounded

    @property
    def orders(self) -> bool:  # type: ignore[override]
        """Whether the score depends on the order of a list."""
        return self.ranks

    @property
    def greater_is_better(self) -> bool:  # type: ignore[override]
        """Whether more of it is better."""
        return self.more_is_better
