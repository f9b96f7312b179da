"""A metric of torchmetrics with the numbers of evaluate, from two sums."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg import integrations
from tests.integrations.ranking_data import Queries

torch = pytest.importorskip("torch")
pytest.importorskip("torchmetrics")
DATA = Queries.draw(0)
ESTIMATED = DATA.features[:, 0].astype(np.float32)
BOTH: dict[str, Any] = {"metrics": ["ndcg@5", "recall@5"], "threshold": 2}
#: Whole users: the first has no relevant item, the second one item.
BATCHES = np.split(np.arange(len(ESTIMATED)), np.cumsum(DATA.sizes)[[0, 1, 8, 12]])


def rows_of(batch: Any) -> tuple[Any, Any, Any]:
    """Return the tensors of a batch."""
    columns = ESTIMATED[batch], DATA.grades[batch], DATA.users[batch]
    return tuple(torch.from_numpy(one) for one in columns)


def fill(batches: Any, **options: Any) -> Any:
    """Return a metric with some batches."""
    metric = integrations.torchmetric(**(BOTH | options))
    for batch in batches:
        metric.update(*rows_of(batch))
    return metric


def read(metric: Any) -> dict[str, float]:
    """Return its values as numbers."""
    return {name: value.item() for name, value in metric.compute().items()}


def test_the_value_is_the_mean_of_evaluate() -> None:
    """A batch of which no user has a score counts nothing."""
    expected = pytest.approx(dict(DATA.evaluate(ESTIMATED, **BOTH).mean), rel=1e-12)
    metric = fill(BATCHES)
    assert read(metric) == expected
    metric.reset()
    for batch in BATCHES[::-1]:
        metric.update(*rows_of(batch))
    assert read(metric) == expected
    assert read(pickle.loads(pickle.dumps(metric))) == expected  # noqa: S301 - our own
    metric.update(torch.ones(4), torch.zeros(4), torch.tensor([90, 90, 91, 91]))  # no grade above 0
    assert read(metric) == expected
    half = torch.nn.ModuleList([metric]).half()[0]
    assert read(half) == expected


def test_forward_returns_the_value_of_the_batch() -> None:
    """And adds it, as Lightning's training steps do."""
    metric = integrations.torchmetric("ndcg@5")
    for batch in BATCHES[1:]:
        value = metric(*rows_of(batch))
        lists = DATA.users[batch], None, ESTIMATED[batch], DATA.grades[batch]
        own = rn.Accumulator("ndcg@5").update(lists[0], *lists[2:]).report()
        assert value.item() == pytest.approx(own["ndcg@5"], rel=1e-12)
    assert metric.compute().item() == pytest.approx(DATA.evaluate(ESTIMATED)["ndcg@10"], abs=0.2)
    gradient, *others = rows_of(BATCHES[2])
    value = integrations.torchmetric("ndcg@5")(gradient.requires_grad_().bfloat16(), *others)
    assert value.item() > 0.1


def test_processes_are_merged_by_sums() -> None:
    """Their users too, so a sampler that repeats users is found out."""
    one, other = fill(BATCHES[:3]), fill(BATCHES[3:])
    one.merge_state(other)
    assert read(one) == pytest.approx(dict(DATA.evaluate(ESTIMATED, **BOTH).mean), rel=1e-12)
    other.merge_state(fill(BATCHES[3:4]))
    with pytest.raises(rn.InvalidInputError, match=r"4 users came .* such as 9.*repeated='count'"):
        other.compute()


def test_processes_gather_their_users() -> None:
    """Torchmetrics joins them to one tensor before it computes the value."""
    one, other = fill(BATCHES[:3]), fill(BATCHES[3:])
    theirs = iter([other.totals, other.counts, torch.cat(other.users)])
    one.distributed_available_fn = lambda: True
    one.dist_sync_fn = lambda own, group: [own, next(theirs)]  # noqa: ARG005 - torchmetrics' names
    assert read(one) == pytest.approx(dict(DATA.evaluate(ESTIMATED, **BOTH).mean), rel=1e-12)


def test_only_two_sums_are_kept_if_users_may_come_again() -> None:
    """A metric of torchmetrics keeps every row."""
    metric = fill([*BATCHES, *BATCHES], repeated="count")
    assert metric.users == []
    assert [one.shape for one in (metric.totals, metric.counts)] == [(2,), (2,)]
    assert read(metric) == pytest.approx(read(fill(BATCHES)), rel=1e-12)
    with pytest.raises(rn.InvalidInputError, match="repeated"):
        integrations.torchmetric("ndcg", repeated="ignore")


@pytest.mark.filterwarnings("ignore")  # Lightning's own
def test_lightning_logs_and_stops_by_it() -> None:
    """A module that logs the metric itself, as it does with metrics of torchmetrics."""
    lightning = pytest.importorskip("lightning")
    from torch.utils.data import DataLoader, TensorDataset  # noqa: PLC0415 - an extra

    columns = DATA.features.astype(np.float32), DATA.grades, DATA.users
    batches = TensorDataset(*map(torch.from_numpy, columns))

    class Model(lightning.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.metric = torch.nn.Linear(4, 1), integrations.torchmetric("ndcg@5")

        def training_step(self, batch: Any, _number: int) -> Any:
            x, y, _ = batch
            return ((self.layer(x)[:, 0] - y) ** 2).mean()

        def validation_step(self, batch: Any, _number: int) -> None:
            x, y, users = batch
            self.metric.update(self.layer(x)[:, 0], y, users)
            self.log("val_ndcg", self.metric, prog_bar=False, on_epoch=True)

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.05)

    loader = DataLoader(batches, batch_sampler=[one.tolist() for one in BATCHES])
    stop = lightning.pytorch.callbacks.EarlyStopping("val_ndcg", mode="max", patience=2)
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    trainer = lightning.Trainer(
        max_epochs=4, accelerator="cpu", callbacks=[stop], enable_model_summary=False, **quiet
    )
    model = Model()
    trainer.fit(model, loader, loader)
    estimated = model.layer(batches.tensors[0])[:, 0].detach().numpy()
    logged = trainer.callback_metrics["val_ndcg"].item()
    assert logged == pytest.approx(DATA.evaluate(estimated, metrics="ndcg@5")["ndcg@5"], rel=1e-6)
    assert stop.best_score >= logged
