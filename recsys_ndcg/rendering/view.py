"""What a rendering needs of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pandas as pd


class Signed(Protocol):
    """A signature, as far as it is shown."""

    @property
    def text(self) -> str:
        """All of it."""

    @property
    def short(self) -> str:
        """What differs from the defaults."""


class Signing(Protocol):
    """What has metrics, and knows how each was computed."""

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics."""

    def signature(self, metric: str) -> Signed:
        """Return how a metric was computed."""


class Shown(Signing, Protocol):
    """A report, as far as it is shown."""

    @property
    def bounded(self) -> pd.Series[bool]:
        """Whether each metric lies between 0 and 1."""

    @property
    def counts(self) -> dict[str, int]:
        """Users, rows, and how many need a second look."""

    @property
    def mean(self) -> pd.Series[float]:
        """The mean by metric."""

    @property
    def summary(self) -> pd.DataFrame:
        """One row per metric."""

    @property
    def baselines(self) -> pd.DataFrame:
        """The means of what needs no model, a row each."""

    @property
    def audit(self) -> pd.DataFrame:
        """What each score is to be read against, one row per metric."""

    @property
    def remarks(self) -> list[str]:
        """What a reader should know before trusting the numbers, a sentence each."""
