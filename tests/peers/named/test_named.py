"""Each row of a table "their name, our name" on the pages of docs/coming-from has one number.

``python tests/peers/build.py named.ranx`` asks a library anew for the names on its page.
"""

from __future__ import annotations

import json
import math
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.convention import PRESETS
from recsys_ndcg.metrics import parse_metrics
from recsys_ndcg.scoring import Plan
from tests.peers.differences import TOLERANCES
from tests.peers.named.cases import cases
from tests.peers.named.tables import Pair, list_their_names, read_pairs, read_rows
from tests.peers.pages import page_of

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
CASES = {case.name: case for case in cases()}
#: The libraries' answers, by page, case and their name.
ANSWERS: dict[tuple[str, str, str], dict[str, Any]] = {
    tuple(key.split(" ", 2)): answer
    for path in sorted((Path(__file__).parent / "golden").glob("*.json"))
    for key, answer in json.loads(path.read_text())["answers"].items()
}
#: The libraries whose metrics are text.
TYPED = ["pytrec_eval", "ir_measures", "ranx"]
PAGES = sorted({page for page, _, _ in ANSWERS})
#: Where a page says that the numbers differ.
DIFFERENCES = {("ranx", case, "rbp.80") for case in ("graded", "liked")}
DIFFERENCES |= {("lenskit", "liked", f"AveragePrecision({k})") for k in (10, "")}
#: The first cell of rows that name no metric of ours.
OTHER_ROWS = {
    "ir_measures": ["`calc_aggregate`, `iter_calc`", "`ERR`, `Bpref`, `infAP`"],
    "lenskit": [
        "`list_metrics()`, `list_summary()`",
        "`list_metrics(fill_missing=False)`",
        "`RMSE`, `MAE`",
        "`ExposureGini`, `ListGini`, `MeanPopRank`",
    ],
    "pytrec_eval": [
        "the mean, which you compute yourself",
        "`bpref`, `infAP`, `gm_map`, `iprec_at_recall`",
    ],
    "ranx": ["`return_mean=False`", "`compare(qrels, runs, metrics)`", "`hits`, `bpref`"],
    "rectools": [
        "`calc_metrics`, `metric.calc_per_user`",
        "`MeanInvUserFreq`, `IntraListDiversity`, `Serendipity`, `CatalogCoverage` …",
    ],
    "replay": [
        "`mode=PerUser()`",
        "`mode=Median()`",
        "`mode=ConfidenceInterval(0.95)` (half its width)",
        "`Experiment`, `add_result`, `results`",
        "`Coverage`, `Novelty`, `Surprisal`, `Unexpectedness`, `CategoricalDiversity`",
    ],
    "torchmetrics": ['`aggregation="median"`', "`update`, `compute`"],
}


def _evaluate(page: str, pair: Pair, case: str) -> pd.Series[float]:
    """Return our score of each user, as the page says to compute it."""
    lists = rn.RankedLists.from_trec(CASES[case].labels, CASES[case].run)
    # the page passes the threshold, unless the preset brings it
    how: dict[str, Any] = {"threshold": None if PRESETS[page].threshold else 1}
    how |= {"convention": page} | eval(f"dict({pair.options})", {"rn": rn})  # noqa: S307 - ours
    is_column = pair.ours.startswith("report.")
    report = rn.evaluate(lists, metrics="ndcg" if is_column else pair.ours, **how)
    found = eval(pair.ours, {"report": report}) if is_column else report.per_user.iloc[:, -1]  # noqa: S307
    return found.dropna()


def _check_pair(page: str, pair: Pair, case: str) -> None:
    answer = ANSWERS[page, case, pair.theirs]
    if isinstance(answer["refused"], str):
        return  # the library cannot take this data
    theirs = {user: one for user, one in answer["per_user"].items() if not math.isnan(one)}
    ours = _evaluate(page, pair, case).to_dict()
    if pair.ours.startswith("report."):  # a count, also of users without a score
        ours = {user: one for user, one in ours.items() if user in theirs}
    near = TOLERANCES.get(page, 1e-12)
    is_equal = ours == pytest.approx(theirs, abs=near, rel=near)
    is_known = (page, case, pair.theirs) in DIFFERENCES
    assert is_equal != is_known, (case, pair, ours, theirs)


@pytest.mark.parametrize("page", PAGES)
def test_a_name_and_ours_have_one_number(page: str) -> None:
    """For each user, with lists longer and shorter than the cutoff, and users of all kinds."""
    for pair in chain.from_iterable(map(read_pairs, read_rows(page))):
        for case in CASES:
            _check_pair(page, pair, case)


@pytest.mark.parametrize("page", PAGES)
def test_each_row_is_asked_of_both(page: str) -> None:
    """Or is listed here as one that names no metric of ours; each name has an answer."""
    others = [row[0] for row in read_rows(page) if not read_pairs(row)]
    assert others == OTHER_ROWS[page]
    answered = {
        theirs for library, _, theirs in ANSWERS if library == page
        if any(ANSWERS[page, case, theirs].get("per_user") for case in CASES)
    }  # fmt: skip
    assert answered == {*list_their_names(page)}


@pytest.mark.parametrize("page", TYPED)
def test_their_names_may_be_typed(page: str) -> None:
    """As text, they are names of ours, or the message names the option that the page names."""
    for pair in chain.from_iterable(map(read_pairs, read_rows(page))):
        if not pair.options:
            if not pair.ours.startswith("report."):
                assert parse_metrics(pair.theirs) == parse_metrics(pair.ours)
        elif " with " not in pair.theirs:  # the option is in the name
            option = pair.options.partition("=")[0]
            with pytest.raises(rn.RecsysNdcgError, match=f"{option}="):
                parse_metrics(pair.theirs)


@pytest.mark.parametrize("page", TYPED)
def test_an_explicit_cutoff_counts_as_the_page_says(page: str) -> None:
    """For each name without its own, but `rr`, and rprecision, which has none in any library."""
    sentence = (
        "explicit `k=10` or `threshold=2` is used instead; but `rr` ignores `k` (write `rr@10`)"
    )
    assert sentence in page_of(page).read_text(encoding="utf-8")
    for pair in chain.from_iterable(map(read_pairs, read_rows(page))):
        if "@" not in pair.ours and not pair.ours.startswith("report."):
            has_cutoff = pair.ours not in ("rr", "rprecision")
            plan = Plan.of(pair.ours, k=10, convention=page)
            assert [one.k for one in plan.metrics] == [10 if has_cutoff else None]


def test_the_lists_tell_cutoffs_and_levels_apart() -> None:
    """Else one number for two names would prove nothing; ties are apart."""
    for case in CASES.values():
        lengths = [len(own) for own in case.run.values()]
        assert min(lengths) < 3 < case.k < max(lengths) < 16
        assert all(len({*own.values()}) == len(own) for own in case.run.values())
    graded, liked = CASES["graded"], CASES["liked"]
    grades = {grade for own in graded.labels.values() for grade in own.values()}
    assert grades == {0, 1, 2, 3}
    assert graded.labels.keys() - graded.run.keys()
    assert graded.run.keys() - graded.labels.keys()
    assert graded.labels.keys() - graded.liked().keys()
    assert liked.run.keys() < liked.labels.keys()
    for page in ("pytrec_eval", "ir_measures", "ranx"):
        uncut = {"pytrec_eval": ("ndcg", "ndcg_cut.10"), "ir_measures": ("nDCG", "nDCG@10")}
        one, other = (
            ANSWERS[page, "graded", name] for name in uncut.get(page, ("ndcg", "ndcg@10"))
        )
        assert one != other
