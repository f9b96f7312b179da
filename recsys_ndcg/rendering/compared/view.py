"""What a rendering needs of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from recsys_ndcg.rendering.view import Signing

if TYPE_CHECKING:
    from collections.abc import Sized

    import pandas as pd


class Leveled(Protocol):
    """A way of testing, as far as it is shown."""

    @property
    def alpha(self) -> float:
        """How often equal models may be called different."""


class Compared(Signing, Protocol):
    """A comparison, as far as it is shown."""

    @property
    def models(self) -> list[str]:
        """The names of the models."""

    @property
    def users(self) -> Sized:
        """The users who are compared."""

    @property
    def baseline(self) -> str:
        """Against which model users are won and lost."""

    @property
    def how(self) -> Leveled:
        """The test."""

    @property
    def tested_by(self) -> str:
        """The test, the correction and the level, in words."""

    @property
    def leaderboards(self) -> dict[str, pd.DataFrame]:
        """For each metric, a row per model."""

    @property
    def pairwise(self) -> pd.DataFrame:
        """A row per metric and pair of models."""

    @property
    def segments(self) -> pd.DataFrame:
        """A row per metric, segment and model."""

    @property
    def remarks(self) -> list[str]:
        """What a reader should know before trusting the numbers, a sentence each."""

    def verdict_in(self, metric: str) -> str:
        """Return the answer in two sentences."""
