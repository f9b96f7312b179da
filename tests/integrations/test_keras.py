"""Keras logs, stops and keeps models by our metrics."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recsys_ndcg import integrations
from tests.integrations.ranking_data import Queries

pytest.importorskip("torch")
os.environ.setdefault("KERAS_BACKEND", "torch")
keras = pytest.importorskip("keras")
TRAIN, VALID = Queries.draw(0), Queries.draw(1)


def make_model() -> Any:
    """Return a linear model."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.SGD(0.05), loss="mse")
    return model


def fit(model: Any, callbacks: list[Any], epochs: int = 4) -> dict[str, list[float]]:
    """Train, and return the history."""
    how = {"epochs": epochs, "verbose": 0, "callbacks": callbacks, "batch_size": 64}
    history: dict[str, list[float]] = model.fit(TRAIN.features, TRAIN.grades, **how).history
    return history


def ranked(**options: Any) -> Any:
    """Return our callback on the validation set."""
    how: dict[str, Any] = {"metrics": ["ndcg@5", "recall@5"], "threshold": 2, **options}
    return integrations.keras_callback(
        x=VALID.features, true=VALID.grades, users=VALID.users, **how
    )


def test_every_epoch_has_the_mean_of_evaluate() -> None:
    """In the history and in the logs of later callbacks."""
    model, logs = make_model(), []
    seen = keras.callbacks.LambdaCallback(on_epoch_end=lambda _, one: logs.append(dict(one)))
    history = fit(model, [ranked(), seen])
    estimated = model.predict(VALID.features, verbose=0)[:, 0]
    means = VALID.evaluate(estimated, metrics=["ndcg@5", "recall@5"], threshold=2).mean
    for name, mean in means.items():
        assert history[f"val_{name}"][-1] == mean == logs[-1][f"val_{name}"]
        assert len(history[f"val_{name}"]) == 4


def test_early_stopping_and_checkpoints_read_it(tmp_path: Path) -> None:
    """If they come later in the list."""
    name = "val_ndcg@5"
    stop = keras.callbacks.EarlyStopping(name, mode="max", patience=3, restore_best_weights=True)
    path = tmp_path / "best.keras"
    keep = keras.callbacks.ModelCheckpoint(path, monitor=name, mode="max", save_best_only=True)
    model = make_model()
    history = fit(model, [ranked(metrics="ndcg@5"), stop, keep], epochs=60)[name]
    assert len(history) < 60
    assert stop.best_epoch == np.argmax(history)
    for best in (model, keras.models.load_model(path)):
        estimated = best.predict(VALID.features, verbose=0)[:, 0]
        assert VALID.evaluate(estimated, metrics="ndcg@5")["ndcg@5"] == max(history)


def test_a_stopping_callback_before_ours_sees_nothing() -> None:
    """Keras warns of it."""
    stop = keras.callbacks.EarlyStopping("val_ndcg@5", mode="max", patience=0)
    with pytest.warns(UserWarning, match="not available"):
        history = fit(make_model(), [stop, ranked(metrics="ndcg@5")])
    assert len(history["val_ndcg@5"]) == 4
