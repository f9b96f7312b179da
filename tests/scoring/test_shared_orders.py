"""Models whose lists differ only in the estimates share the scores of other orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.arrays import Floats, are_equal
from recsys_ndcg.ranking import Ranking
from recsys_ndcg.scoring import Audit
from recsys_ndcg.scoring.audit import MeasuredLists
from tests.accuracy import METRICS

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
NAMES = [name if kind.cutoff == "none" else f"{name}@3" for name, kind in METRICS.items()]
#: Conventions in which other users are left out, or other items are ranked or recommended.
CHOICES: list[Any] = [
    *({"ties": ties} for ties in ("expected", "worst", "item_asc", "input")),
    {"gain": "linear", "ideal": "local"}, {"unlabelled": "filter"}, {"short_list": "drop"},
    {"undefined": 0.0, "recall_over": "capped"}, {"mean_over": "relevant"}, {"tie_tolerance": 1.0},
]  # fmt: skip


def _draw(seed: int) -> pd.DataFrame:
    """Return the same lists for each seed, with other estimates, most of them tied."""
    labels, model = np.random.default_rng(0), np.random.default_rng(seed)
    user = np.repeat(np.arange(40), labels.integers(1, 12, 40))
    item = np.concatenate([labels.permutation(50)[:n] for n in np.bincount(user)])
    true = labels.choice([np.nan, 1.0, 2.0, 3.0, 4.0, 5.0], len(user))
    true[user % 7 == 0] = 1.0
    estimated = model.integers(1, 6, len(user)) / 1.0
    return pd.DataFrame({"user": user, "item": item, "estimated": estimated, "true": true})


@dataclass(frozen=True)
class Promise(rn.metrics.Metric):
    """A metric that reads estimates: the largest of each list."""

    name: ClassVar[str] = "promise"
    same_denominator: ClassVar[bool] = True
    bounded: ClassVar[bool] = False

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the sum of the estimates."""
        return ranking.lists.sum_by_user(ranking.lists.estimated)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1."""
        return np.ones(len(ranking.n_items))


def _evaluate(data: Any, **options: Any) -> Audit:
    options = {"metrics": ["ndcg@3", "precision@3", "recall@3"], "threshold": 3.0, **options}
    return rn.evaluate(data, **options)._data.audit


def _get_shared(audit: Audit) -> dict[str, Any]:
    return {"roles": dict(audit.scores_with_orders.roles), "digests": audit.label_digests}


@pytest.mark.parametrize("choices", CHOICES, ids=str)
def test_what_is_shared_is_what_would_be_measured(choices: Any) -> None:
    """Of every metric, to the last bit."""
    options: Any = {"metrics": NAMES, "convention": rn.Convention(**choices)}
    one, other, fresh = (_evaluate(_draw(seed), **options) for seed in (1, 2, 2))
    assert other.take_orders_from(one)
    assert are_equal(_get_shared(other), _get_shared(fresh))
    for role, table in one.scores_with_orders.roles.items():
        assert other.scores_with_orders.roles[role] is table


def _change(column: str, value: Any) -> pd.DataFrame:
    """Return a model's lists with another value in the first row."""
    return _draw(2).assign(**{column: lambda rows: rows[column].where(rows.index > 0, value)})


def _recommend(seed: int, grade: float = 1.0) -> dict[str, Any]:
    """Return the same items for each seed, with other estimates; one more has this grade."""
    rows = _draw(seed)
    unlisted = pd.DataFrame({"user": [1], "item": [99], "true": [grade]})
    labels = pd.concat([rows[["user", "item", "true"]].dropna(), unlisted])
    return {"labels": labels, "results": rows[["user", "item", "estimated"]]}


#: Models that differ in more than the estimates, or whose estimates matter if all are tied.
DIFFERENT: dict[str, Any] = {
    "grade": (_draw(1), _change("true", 4.5)),
    "label": (_draw(1), _change("true", np.nan)),
    "item": (_draw(1), _change("item", 51)),
    "user": (_draw(1), _change("user", 41)),
    "users": (_draw(1), _draw(2).assign(user=_draw(2)["user"] + 1)),
    "items": (_draw(1), _draw(2).assign(item=_draw(2)["item"] + 1)),
    "sizes": (
        _draw(1).assign(item=_draw(1).index),
        _draw(2).assign(item=_draw(2).index, user=[0, *_draw(2)["user"][:-1]]),
    ),
    "weight": (_draw(1).assign(weight=1.0), _draw(2).assign(weight=_draw(3)["estimated"])),
    "length": (_draw(1), _draw(2)[1:]),
    "order": (_draw(1), _draw(2)[::-1]),
    "threshold": (_draw(1), _draw(2), {}, {"threshold": 2.0}),
    "metric": (_draw(1), _draw(2), {}, {"metrics": ["ndcg@2", "precision@3", "recall@3"]}),
    "gain": (_draw(1), _draw(2), {}, {"convention": {"gain": "linear"}}),
    "limit": (_draw(1), _draw(2), *[{"convention": {"recommend_from": 3.0}}] * 2),
    "own metric": (_draw(1), _draw(2), *[{"metrics": [Promise()]}] * 2),
    "estimates": (_recommend(1), _recommend(2), *[{"metrics": ["score@3"]}] * 2),
    "unlisted": (_recommend(1), _recommend(2, 5.0)),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_what_would_be_measured_differently_is_not_shared(case: str) -> None:
    """Each difference matters: sharing would change a number, or the digest of the labels."""
    first, second, *options = DIFFERENT[case]
    how = options or [{}, {}]
    one, other = (_evaluate(data, **each) for data, each in zip((first, second), how, strict=True))
    assert not other.take_orders_from(one)
    is_order = case == "order"  # of the rows, which changes nothing here but could elsewhere
    assert are_equal(_get_shared(one), _get_shared(other)) == is_order


def test_random_and_extreme_orders_of_the_same_lists_are_measured_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also if models are reports."""
    measured, measure = [], MeasuredLists.measure_order_roles

    def count(lists: MeasuredLists, *tables: Any) -> Any:
        measured.append(len(lists.lists))
        return measure(lists, *tables)

    monkeypatch.setattr(MeasuredLists, "measure_order_roles", count)
    # so many users that an evaluation measures only some of them
    models: dict[str, Any] = {
        f"model {seed}": pd.concat([_draw(seed).assign(part=part) for part in range(30)])
        for seed in range(3)
    }
    models = {  # and that are better than random order
        name: one.assign(
            user=one["user"] + 40 * one["part"], estimated=one["estimated"] + one["true"].fillna(0)
        )
        for name, one in models.items()
    }
    models["report"] = rn.evaluate(models.pop("model 2"), metrics="ndcg@3")
    str(rn.compare(models, metrics="ndcg@3", progress=False))
    assert measured.count(1200) == 1
