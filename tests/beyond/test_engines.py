"""Every measure beyond accuracy is the same number through every way in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.metrics import METRICS
from tests.scale.alike import check_alike

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")

#: How a metric is written; others by their name alone.
OPTIONS = {
    "alpha_dcg": ["(genres)", "(maker,alpha=0.25)"],
    "alpha_ndcg": ["(genres)", "(maker)"],
    "awrf": ["(maker)", "(maker,difference=absolute)"],
    "bias_disparity": [
        f"(maker,user_group={one},item_group=x,which={which})"
        for one, which in (("new", "BD"), ("old", "BS"), ("old", "BR"))
    ],
    "calibration": ["(genres)", "(maker)"],
    "categories": ["(genres)", "(maker)"],
    "category_entropy": ["(genres)", "(maker)"],
    "diversity": ["(genres)", "(maker)", "(vector)", "(price)"],
    "ee_d": ["(maker)"],
    "ee_l": ["(maker)"],
    "ee_r": ["(maker)"],
    "err_ia": ["(genres)"],
    "item": ["(price)"],
    "item_gap": ["(maker)", "(maker,of=score)"],
    "ips_hit": ["", "(cap=3)"],
    "map_ia": ["(genres)", "(maker)"],
    "nerr_ia": ["(genres)"],
    "p_ia": ["(genres)", "(maker)"],
    "popreo": ["", "(group=tail)"],
    "poprsp": ["", "(group=head)"],
    "reo": ["(maker)", "(maker,group=x)"],
    "rsp": ["(maker)", "(maker,group=x)"],
    "serendipity": ["", "(genres)", "(vector)"],
    "subtopic_recall": ["(genres)", "(maker)"],
}
NEEDY = sorted(name for name, kind in METRICS.items() if kind.needs)
NAMES = [f"{name}{options}@4" for name in NEEDY for options in OPTIONS.get(name, [""])]
NAMES += ["ndcg@4", "diversity(genres)@2", "coverage@1", "gini", "popularity", "user_coverage"]

rng = np.random.default_rng(7)
ITEMS = list(range(100, 130))
USERS = [f"u{place:02}" for place in range(40)]
GENRES = ("crime", "drama", "love", "war")


def draw_lists(least: int, most: int, estimates: int) -> pd.DataFrame:
    """Return lists of different lengths, whose estimates are often equal."""
    rows = [
        (user, int(item), float(rng.integers(estimates)) / 4)
        for user in USERS
        for item in rng.choice(ITEMS, rng.integers(least, most + 1), replace=False)
    ]
    return pd.DataFrame(rows, columns=["user", "item", "estimated"])


RESULTS = draw_lists(1, 7, 5)
LABELS = (
    RESULTS.sample(frac=0.6, random_state=1)[["user", "item"]]
    .assign(true=lambda table: rng.integers(1, 6, len(table)).astype(float))
    .reset_index(drop=True)
)
#: Also users without a list, items that nobody had, and repeated rows.
TRAIN = pd.DataFrame(
    {
        "user": rng.choice([*USERS[5:], "eve", "fay"], 260),
        "item": 100 + np.minimum(rng.geometric(0.1, 260), 25),
    }
)
FEATURES = pd.DataFrame(
    {
        "item": ITEMS,
        "genres": [set(rng.choice(GENRES, rng.integers(1, 4))) for _ in ITEMS],
        "maker": rng.choice([*"xyz"], len(ITEMS)),
        "price": rng.integers(1, 100, len(ITEMS)) / 4,
        "vector": [rng.normal(size=3).tolist() for _ in ITEMS],
    }
)
BASE = draw_lists(0, 5, 1000)
KNOWN: dict[str, Any] = {
    "train": TRAIN,
    "catalogue": ITEMS,
    "features": FEATURES,
    "base": BASE,
    "groups": {user: ["new", "old"][place % 3 > 0] for place, user in enumerate([*USERS, "eve"])},
}
DATA = {"labels": LABELS, "results": RESULTS}
SETTINGS: dict[str, Any] = {"metrics": NAMES, "threshold": 4}


def evaluate(**options: Any) -> rn.Report:
    """Evaluate the drawn data."""
    return rn.evaluate(DATA, **{**SETTINGS, **KNOWN, **options})


@pytest.fixture(scope="module", name="whole")
def _whole() -> rn.Report:
    return evaluate()


def test_every_measure_is_in_the_table(whole: rn.Report) -> None:
    """And has a number."""
    assert {name.partition("(")[0].partition("@")[0] for name in NAMES} >= set(NEEDY)
    assert OPTIONS.keys() <= set(NEEDY)
    undefined = whole.mean[whole.mean.isna()]
    assert undefined.empty


JOINED = RESULTS.merge(LABELS, how="left", on=["user", "item"])


@pytest.mark.parametrize("per_user", [False, True])
def test_batches_add_up(whole: rn.Report, *, per_user: bool) -> None:
    """Of users in any order, in two accumulators that are merged."""
    parts = [
        rn.Accumulator(**SETTINGS, **KNOWN, protocol="supplied", per_user=per_user)
        for _ in range(2)
    ]
    order = rng.permutation(USERS)
    for place in range(8):
        some = JOINED[JOINED["user"].isin(order[place::8])].sample(frac=1, random_state=place)
        parts[place % 2].update(some["user"], some["estimated"], some["true"], some["item"])
    report = (parts[0] | parts[1]).report()
    check_alike(report, report.per_user if per_user else None, whole)
