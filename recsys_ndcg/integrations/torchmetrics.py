"""The Metric of torchmetrics that `recsys_ndcg.torchmetric` makes."""

from __future__ import annotations

from typing import Any

import torch
from torchmetrics import Metric as TorchMetric

from recsys_ndcg.errors import InvalidInputError, check_choice, format_count
from recsys_ndcg.integrations.group_scorer import GroupScorer
from recsys_ndcg.metrics import Metric
from recsys_ndcg.scoring import LabelledGroups, Metrics, Totals


class RankingMetric(TorchMetric):  # type: ignore[misc] # torchmetrics may be missing
    """A metric of torchmetrics, made by `recsys_ndcg.torchmetric`."""

    full_state_update = False
    is_differentiable = False

    def __init__(self, metrics: Metrics, repeated: str, **options: Any) -> None:
        super().__init__()
        check_choice("repeated", repeated, ("raise", "count"))
        self.plan = GroupScorer(metrics, **options).plan
        # torchmetrics forbids to set it, as it is usually the same for all metrics of a class
        self.__dict__["higher_is_better"] = all(one.greater_is_better for one in self.plan.metrics)
        self._is_single = isinstance(metrics, str | Metric) and len(self.plan.names) == 1
        self._repeated = repeated
        zeros = torch.zeros(len(self.plan.names), dtype=torch.float64)
        self.add_state("totals", zeros, dist_reduce_fx="sum")
        self.add_state("counts", zeros.clone(), dist_reduce_fx="sum")
        self.add_state("users", [], dist_reduce_fx="cat")

    def update(self, preds: Any, target: Any, indexes: Any) -> None:
        """Add the lists of some users.

        Parameters
        ----------
        preds, target, indexes : tensors of equal shape
            The estimate, the grade and the user's number of each row.

        Raises
        ------
        InvalidInputError
            The tensors cannot be read or measured.
        """
        columns = [one.detach().cpu().flatten() for one in (preds, target, indexes)]
        estimated, true, users = (
            (one.float() if one.dtype == torch.bfloat16 else one).numpy() for one in columns
        )
        groups = LabelledGroups.of(self.plan, users, true, part=True)
        moments = Totals.of(groups.score(estimated)).score_moments
        self.totals += torch.from_numpy(moments.sum_y).to(self.totals.device)
        self.counts += torch.from_numpy(moments.count).to(self.counts.device)
        if self._repeated == "raise":
            self.users.append(torch.unique(indexes.detach()))

    def compute(self) -> Any:
        """Return the mean of the metric, or a dict of several; NaN if no user has a score.

        Raises
        ------
        InvalidInputError
            A user came in two batches.
        """
        if self._repeated == "raise":
            parts = self.users if isinstance(self.users, list) else [self.users]
            distinct, counts = torch.unique(torch.cat(parts), return_counts=True)
            if (counts > 1).any():
                first = distinct[counts > 1][0].item()
                msg = (
                    f"{format_count(int((counts > 1).sum()), 'user')} came in several batches or "
                    f"processes, such as {first}. Give all rows of a user in one update. To count "
                    "each time as another user: torchmetric(..., repeated='count')."
                )
                raise InvalidInputError(msg)
        means = self.totals / self.counts
        return means[0] if self._is_single else dict(zip(self.plan.names, means, strict=True))
