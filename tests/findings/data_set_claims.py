"""What findings about several data sets claim, checked against the tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from recsys_ndcg.results import MetaAnalysis
from tests.findings import remark_claims  # noqa: F401 - the claim of users without a list
from tests.findings.claims import check_claims, claim
from tests.findings.verdict_claims import read_numbers


def check_verdict(found: MetaAnalysis) -> list[str]:
    """Check each finding of the verdict, and return their kinds; on one, it is a comparison's."""
    return check_claims(found._judge(), found) if len(found.datasets) > 1 else []


def check_remarks(found: MetaAnalysis) -> list[str]:
    """Check each remark, and return their kinds."""
    remarks = found._find_remarks()
    lists = [finding for finding in remarks if finding.kind == "missing_lists"]
    for finding in lists:
        names = dict(finding.names)
        comparison = found.comparisons[names.pop("dataset")]
        check_claims([replace(finding, names=names)], comparison)
    return ["missing_lists"] * len(lists) + check_claims(remarks[len(lists) :], found)


def check_data_sets(found: MetaAnalysis) -> list[str]:
    """Check each finding, and return their kinds."""
    return [*check_verdict(found), *check_remarks(found)]


def _get_row(found: MetaAnalysis, a: str, b: str) -> dict[str, Any]:
    """Return the row of a pair, after its wins are counted in the comparisons."""
    better: list[str] = []
    for comparison in found.comparisons.values():
        table = comparison.pairwise[comparison.pairwise["metric"] == found.metric]
        better += table.loc[table["a"].isin([a, b]) & table["b"].isin([a, b]), "better"].tolist()
    rows: Any = found.pairs[(found.pairs["a"] == a) & (found.pairs["b"] == b)].to_dict("records")
    row: dict[str, Any] = rows[0]
    assert row["datasets"] == len(better)
    assert [row["wins_a"], row["wins_b"]] == [better.count(a), better.count(b)]
    return row


def _name_metric(found: MetaAnalysis) -> dict[str, Any]:
    first = next(iter(found.comparisons.values()))
    return {"metric": found.metric, "ranked": read_numbers(first, found.metric).ranked}


def _order(found: MetaAnalysis, row: Any) -> tuple[str, str]:
    """Return the better model first."""
    is_first = (row["mean_d_z"] > 0) != (found.metric == "rmse")
    return (row["a"], row["b"]) if is_first else (row["b"], row["a"])


@claim("wins_by_data_set")
def _(found: MetaAnalysis, model: str, other: str, **given: Any) -> bool:
    row = _get_row(found, model, other)
    assert row["tied"] == len(found.datasets) - row["wins_a"] - row["wins_b"]
    counts = {name: row[name] for name in ("datasets", "wins_a", "wins_b", "tied")}
    return given == {**counts, **_name_metric(found)}


@claim("winner_on_average", "no_winner_on_average")
def _(found: MetaAnalysis, model: str, other: str, **given: Any) -> bool:
    row = _get_row(found, model, other)
    winner = {"winner": _order(found, row)[0]} if row["p_corrected"] <= found.alpha else {}
    expected = {name: row[name] for name in ("mean_d_z", "mean_d_z_low", "mean_d_z_high")}
    expected |= {"p": row["p_corrected"], "alpha": found.alpha, **winner}
    return given == {**expected, **_name_metric(found)}


@claim("winners_in_all_data_sets")
def _(found: MetaAnalysis, **given: Any) -> bool:
    rows = [_get_row(found, a, b) for a, b in found.pairs[["a", "b"]].to_numpy()]
    count, wins = len(found.datasets), [(row["wins_a"], row["wins_b"]) for row in rows]
    expected = {
        "pairs": len(wins),
        "datasets": count,
        "same_winner": sum(max(pair) == count for pair in wins),
        "other_winner": sum(min(pair) > 0 for pair in wins),
    }
    return given == {**expected, **_name_metric(found)}


@claim("winners_on_average")
def _(found: MetaAnalysis, winner: list[str], loser: list[str], **given: Any) -> bool:
    due = found.pairs[found.pairs["p_corrected"] <= found.alpha].sort_values("p", kind="stable")
    pairs = [_order(found, row) for row in due.to_dict("records")]
    assert [*zip(winner, loser, strict=True)] == pairs
    expected = {"p": due["p_corrected"].tolist(), "alpha": found.alpha}
    return given == {**expected, **_name_metric(found)}


@claim("no_winners_on_average")
def _(found: MetaAnalysis, **given: Any) -> bool:
    assert not (found.pairs["p_corrected"] <= found.alpha).any()
    return given == {"alpha": found.alpha, **_name_metric(found)}


@claim("one_data_set", "few_data_sets")
def _(found: MetaAnalysis, datasets: int) -> bool:
    return datasets == len(found.datasets) < 5


@claim("rough_prediction_intervals")
def _(found: MetaAnalysis, datasets: int, most: int, alpha: float) -> bool:
    assert found.pairs["prediction_low"].notna().any()
    return alpha == found.alpha and 4 <= datasets == len(found.datasets) <= most


@claim("left_out_models")
def _(found: MetaAnalysis, models: list[str], datasets: list[list[str]]) -> bool:
    for model, names in zip(models, datasets, strict=True):
        read = found.comparisons.items()
        assert names == [name for name, each in read if model not in each.models] != []
    return not {*models} & {*found.models}


@claim("different_choice")
def _(found: MetaAnalysis, choice: str, dataset: str, other_dataset: str, **values: str) -> bool:
    value, other = (
        str(found.comparisons[name].signature(found.metric).fields[choice])
        for name in (dataset, other_dataset)
    )
    assert dataset == found.datasets[0]
    return value != other and values == {"value": value, "other_value": other}


@claim("different_tests")
def _(found: MetaAnalysis, datasets: list[str], tests: list[str]) -> bool:
    in_words = [each._data.tested_by for each in found.comparisons.values()]
    return datasets == found.datasets and tests == in_words and len({*tests}) > 1


@claim("no_mean_over_data_sets")
def _(found: MetaAnalysis, model: list[str], other: list[str]) -> bool:
    unknown = found.pairs[found.pairs["mean_d_z"].isna()]
    return [*zip(model, other, strict=True)] == [*zip(unknown["a"], unknown["b"], strict=True)]
