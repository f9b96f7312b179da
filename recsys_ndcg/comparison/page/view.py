"""What a page needs of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from recsys_ndcg.rendering.compared.view import Compared

if TYPE_CHECKING:
    from recsys_ndcg.comparison.models import Field


class Contested(Compared, Protocol):
    """A comparison, as far as a page shows it."""

    @property
    def field(self) -> Field:
        """The models that meet, and how they are compared."""
