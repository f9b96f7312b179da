"""The callback of Keras that `recsys_ndcg.keras_callback` makes."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.callbacks import Callback

from recsys_ndcg.integrations.group_scorer import GroupScorer
from recsys_ndcg.scoring import Metrics


class RankingCallback(Callback):  # type: ignore[misc] # keras may be missing
    """A callback of Keras, made by `recsys_ndcg.keras_callback`."""

    def __init__(self, metrics: Metrics, x: Any, true: Any, users: Any, **options: Any) -> None:
        super().__init__()
        self._scorer = GroupScorer(metrics, **options)
        self._x, self._true, self._users = x, true, users

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        """Predict the validation rows, and add the means to the logs of the epoch.

        Raises
        ------
        InvalidInputError
            As for `GroupScorer.compute_means`.
        """
        estimated = np.asarray(self.model.predict(self._x, verbose=0))
        if estimated.ndim == 2 and estimated.shape[1] == 1:
            estimated = estimated[:, 0]
        means = self._scorer.compute_means(self._users, self._true, estimated)
        if logs is not None:
            logs.update({f"val_{name}": mean for name, mean in means.items()})
