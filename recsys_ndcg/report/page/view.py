"""What a page needs of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from recsys_ndcg.rendering.view import Shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recsys_ndcg.scoring.audit import Audit
    from recsys_ndcg.scoring.signatures import Signature


class Audited(Shown, Protocol):
    """A report, as far as a page shows it."""

    @property
    def audited(self) -> Audit:
        """The scores of every user, and what stands beside them."""

    @property
    def signatures(self) -> Mapping[str, Signature]:
        """How each metric was computed, by name."""
