"""Every measure beyond accuracy is the same number through every way in."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.metrics import METRICS, parse_metrics
from recsys_ndcg.scale import spark
from tests.profiles import slow
from tests.scale import sessions
from tests.scale.alike import CLOSE, check_alike

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
SETTINGS: dict[str, Any] = {"metrics": NAMES, "threshold": 4}
#: All labels are of listed items, or some are not, and some users have no list.
LISTED = {"labels": LABELS, "results": RESULTS}
MORE = pd.DataFrame(
    {"user": [*USERS[::3], "zoe"], "item": ITEMS[:1] * (len(USERS[::3]) + 1), "true": 4.0}
)
WIDER = {
    "labels": pd.concat([LABELS, MORE]).drop_duplicates(["user", "item"]),
    "results": RESULTS[RESULTS["user"] != USERS[0]],
}
#: Choices that change what an engine has to sum up.
CHOICES: dict[str, dict[str, Any]] = {
    "as usual": {},
    "items outside": {"catalogue": ITEMS[2:], "convention": rn.Convention(outside="count")},
    "others ignored": {"catalogue": ITEMS[2:], "convention": rn.Convention(outside="ignore")},
    "other ties": {"convention": rn.Convention(ties="item_asc", cold_item="drop")},
    "no features": {
        "features": FEATURES[3:],
        "convention": rn.Convention(missing_feature="zero", undefined=0.0, list_over="k"),
    },
    "other users": {"convention": rn.Convention(mean_over="labelled", short_list="drop")},
    "history": {
        "convention": rn.Convention(distance="cosine"),
        "metrics": [
            *("serendipity(genres,by=history)@3", "serendipity(vector,by=history)@3"),
            "diversity(vector)@3",
        ],
    },
    "all lists": {"metrics": ["coverage@3", "gini@3"]},
    "co-occurrence": {
        "convention": rn.Convention(distance="cooccurrence"),
        "metrics": ["diversity@3", "serendipity@3", "upd@3", "epc(population=known)@3"],
    },
}

#: The others take longer.
CASES = [pytest.param(case, marks=[pytest.mark.slow] * (case != "as usual")) for case in CHOICES]


def evaluate(data: Any = LISTED, **options: Any) -> rn.Report:
    """Evaluate the drawn data."""
    return rn.evaluate(data, **{**SETTINGS, **KNOWN, **options})


@cache
def evaluate_case(case: str, *, is_wider: bool = False) -> rn.Report:
    """Evaluate the drawn data in memory, once for all tests."""
    return evaluate(WIDER if is_wider else LISTED, **CHOICES[case])


def test_every_measure_is_in_the_table() -> None:
    """And has a number."""
    whole = evaluate_case("as usual")
    assert {name.partition("(")[0].partition("@")[0] for name in NAMES} >= set(NEEDY)
    assert OPTIONS.keys() <= set(NEEDY)
    undefined = whole.mean[whole.mean.isna()]
    assert undefined.empty


def accumulate(*, per_user: bool, **options: Any) -> rn.Report:
    """Measure users in any order, in two accumulators that are merged."""
    rows = RESULTS.merge(LABELS, how="left", on=["user", "item"])
    how = {**SETTINGS, **KNOWN, **options}
    parts = [rn.Accumulator(**how, protocol="supplied", per_user=per_user) for _ in range(2)]
    order = np.random.default_rng(2).permutation(USERS)
    for place in range(4):
        some = rows[rows["user"].isin(order[place::4])].sample(frac=1, random_state=place)
        parts[place % 2].update(some["user"], some["estimated"], some["true"], some["item"])
    return (parts[0] | parts[1]).report()


@pytest.mark.parametrize("per_user", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_batches_add_up(case: str, *, per_user: bool) -> None:
    """To the report of all."""
    report = accumulate(per_user=per_user, **CHOICES[case])
    check_alike(report, report.per_user if per_user else None, evaluate_case(case))


def write_parts(folder: Path) -> dict[str, str]:
    """Write the tables to three files each, and return their patterns."""
    for name, table in WIDER.items():
        for place in range(3):
            table.iloc[place::3].to_parquet(folder / f"{name}{place}.parquet")
    return {name: str(folder / f"{name}*.parquet") for name in WIDER}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("parts", ["one", "sums", *slow("several")])
def test_files_give_the_report_of_tables(
    case: str, parts: str, tmp_path: Path, in_parts: Any
) -> None:
    """In one batch of users or in several, kept or summed up."""
    pytest.importorskip("duckdb", reason="DuckDB is not installed: the extra scale has it")
    if parts != "one":
        in_parts(100, keeps=parts == "several")
    path = tmp_path / "users.parquet"
    files = write_parts(tmp_path)
    report = evaluate(files, memory_limit="1GB", per_user=path, **CHOICES[case])
    users = pd.read_parquet(path).set_index("user")
    check_alike(report, users, evaluate_case(case, is_wider=True))


@pytest.mark.slow
@pytest.mark.skipif(bool(sessions.missing()), reason=sessions.missing())
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("case", CHOICES)
def test_spark_gives_the_report_of_tables(case: str, loaded: sessions.Load) -> None:
    """Of three parts of the users."""
    known = {**SETTINGS, **KNOWN, **CHOICES[case]}
    tables = {name: loaded(table) for name, table in WIDER.items()}
    with spark.evaluate(tables, **known, partitions=3) as report:
        table = report.per_user
        rows = [row.asDict() for row in table.collect()]
        users = pd.DataFrame(rows, columns=table.columns).set_index("user")
        check_alike(report, users, evaluate_case(case, is_wider=True))


@pytest.mark.slow
@pytest.mark.skipif(bool(sessions.missing()), reason=sessions.missing())
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")
def test_spark_takes_lists_without_labels(loaded: sessions.Load) -> None:
    """For all measures that need none."""
    names = [name for name in NAMES if not parse_metrics(name)[0].needs_labels]
    known: dict[str, Any] = {"metrics": names, **KNOWN}
    whole = rn.evaluate({"labels": None, "results": RESULTS}, **known)
    tables = {"labels": None, "results": loaded(RESULTS)}
    with spark.evaluate(tables, **known, partitions=3) as report:
        pd.testing.assert_series_equal(report.mean, whole.mean, **CLOSE)


def test_means_over_training_users_need_all_at_once(tmp_path: Path, in_parts: Any) -> None:
    """As some of these users are in no batch."""
    choice: dict[str, Any] = {"convention": rn.Convention(mean_over="train")}
    message = "ndcg@2: mean_over='train' counts users who have no list"
    with pytest.raises(rn.InvalidInputError, match=message):
        rn.Accumulator("ndcg@2", train=TRAIN, **choice)
    files = write_parts(tmp_path)
    whole = evaluate(WIDER, **choice)
    check_alike(evaluate(files, memory_limit="1GB", **choice), whole.per_user, whole)
    in_parts(100)
    with pytest.raises(rn.InvalidInputError, match="mean_over='train' counts users who"):
        evaluate(files, memory_limit="1GB", **choice)


def check_same(report: rn.Report, whole: rn.Report) -> None:
    """Compare a report with one that has its lists."""
    pd.testing.assert_frame_equal(report.summary, whole.summary, **CLOSE)
    pd.testing.assert_frame_equal(report.per_user, whole.per_user, check_exact=True)
    pd.testing.assert_series_equal(report.pooled, whole.pooled, **CLOSE)
    columns = ["chance", "worst", "best", "adjusted", "z", "trivial"]
    pd.testing.assert_frame_equal(report.audit[columns], whole.audit[columns], **CLOSE)


def test_a_saved_report_is_the_same(tmp_path: Path) -> None:
    """And so is a part of its users."""
    whole = evaluate_case("as usual", is_wider=True)
    whole.save(tmp_path / "report.json")
    found = rn.Report.load(tmp_path / "report.json")
    assert found.signatures == whole.signatures
    check_same(found, whole)
    some = [*USERS[4:24:2], "zoe"]
    part, known = found.take(some), whole.take(some)
    pd.testing.assert_frame_equal(part.per_user, known.per_user, check_exact=True)
    # the candidates of random lists are not in the file
    has_chance = np.array([one.metric.per_user for one in known._data.audit.measurements])
    columns = ["mean", "ci_low", "ci_high", "pooled", "chance"]
    expected = known.summary[columns].copy()
    expected.loc[~has_chance, "chance"] = np.nan
    pd.testing.assert_frame_equal(part.summary[columns], expected, **CLOSE)
    columns = ["worst", "best", "z", "trivial"]
    pd.testing.assert_frame_equal(part.audit[columns], known.audit[columns], **CLOSE)


@pytest.mark.parametrize("case", CASES)
def test_a_part_of_the_users_is_measured_alone(case: str) -> None:
    """With the same digits; chance does not depend on the others' lists."""
    whole, some = evaluate_case(case, is_wider=True), USERS[1:20:3]
    tables = {name: table[table["user"].isin(some)] for name, table in WIDER.items()}
    check_same(whole.take(some), evaluate(tables, **CHOICES[case]))


@pytest.mark.parametrize("case", CASES)
def test_neither_threads_nor_the_order_of_rows_change_a_digit(case: str) -> None:
    """Of what is measured, and of what is known."""
    whole = evaluate_case(case, is_wider=True)
    mixed = {name: table.sample(frac=1, random_state=3) for name, table in WIDER.items()}
    known = {**KNOWN, **CHOICES[case]}
    for name in ("train", "features", "base"):
        known[name] = known[name].sample(frac=1, random_state=4)
    known["catalogue"] = known["catalogue"][::-1]
    for n_jobs in (1, 2):
        report = evaluate(mixed, **known, n_jobs=n_jobs)
        check_same(report, whole)


def test_no_interval_reaches_below_0_if_no_score_can() -> None:
    """However wide: of few users, at a level close to 1."""
    of_lists = {name for name, kind in METRICS.items() if not kind.needs} - {"rmse", "mse", "mae"}
    names = [name if METRICS[name].cutoff == "none" else f"{name}@4" for name in sorted(of_lists)]
    can_be_negative = {"item", "score", "popularity_lift", "bias_disparity"}
    some = {name: table[table["user"].isin(USERS[:9])] for name, table in LISTED.items()}
    report = rn.evaluate(some, metrics=[*NAMES, *names], threshold=4, **KNOWN)
    ends = report.intervals(level=0.999999).dropna(how="all")
    is_below = (ends < 0).any(axis=1)
    families = {re.split(r"\W", name)[0] for name in ends.index[is_below]}
    assert families <= can_be_negative
    assert len(ends) > 60
    assert (ends.loc["tail@4"].dropna() <= 1).all()
