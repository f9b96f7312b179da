"""The parameters of a model stay with it, and colour it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg.comparison.model_scores import ModelScores, parameters_of
from tests.comparison.models import models
from tests.errors import rejects

if TYPE_CHECKING:
    from pathlib import Path

GIVEN = {"n": 2, "reg": 0.02, "kind": "a", "on": True, "off": None}


def contender(**parameters: Any) -> ModelScores:
    """Return a model with such parameters."""
    report = rn.evaluate(models()["good"], metrics=["ndcg@3", "rmse"])
    return replace(ModelScores.of(report.audited, report=report), parameters=parameters)


class Search:
    """Two models with parameters."""

    def __init__(self, *given: dict[str, Any]) -> None:
        self.given = given

    @property
    def contenders(self) -> dict[str, ModelScores]:
        """By place."""
        return {f"m{place}": contender(**one) for place, one in enumerate(self.given)}


def compared(*given: dict[str, Any]) -> rn.Comparison:
    """Return a comparison of models with such parameters."""
    return rn.compare(Search(*given), metrics=["ndcg@3", "rmse"])


def test_what_a_model_is_made_of_becomes_plain() -> None:
    """Numbers of numpy, mappings, things, and text that acts."""
    found = parameters_of(
        {"a": np.int64(2), "b": np.float32(0.5), "c": {"d": {"e": "f"}}, 3: float("nan")}
        | {"g": [1, 2], "h\x1b": "x\u202ey", "i": 2**70, "j": np.bool_(0), "k": float("inf")}
    )
    assert found == {
        "a": 2,
        "b": 0.5,
        "c.d.e": "f",
        "3": "nan",
        "g": "[1, 2]",
        "h\\x1b": "x\\u202ey",
        "i": str(2**70),
        "j": False,
        "k": "inf",
    }
    assert {type(one) for one in found.values()} == {int, float, str, bool}


def test_they_stay_through_all_that_is_done_to_a_model() -> None:
    """Of several runs those that are the same in all."""
    one = contender(**GIVEN)
    assert one.take(np.array([1, 3])).parameters == GIVEN
    assert one.in_metrics(["rmse"]).parameters == GIVEN
    assert (
        ModelScores.beside([one.in_metrics(["rmse"]), one.in_metrics(["ndcg@3"])]).parameters
        == GIVEN
    )
    assert ModelScores.averaged([one]).parameters == GIVEN
    runs = [contender(**GIVEN, seed=seed) for seed in range(3)]
    assert ModelScores.averaged(runs).parameters == GIVEN
    assert ModelScores.averaged([*runs, contender()]).parameters == {}


def test_they_are_saved(tmp_path: Path) -> None:
    """And a file without them, as all older ones are, is read."""
    given = GIVEN | {"of\xa0all": "\U0001f469\u200d\U0001f52c"}
    found = compared(given, {})
    found.save(tmp_path / "c.json")
    again = rn.Comparison.load(tmp_path / "c.json")
    assert [one.parameters for one in again.contenders.values()] == [given, {}]
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "c.json").read_bytes()


def test_a_trade_off_is_coloured_by_what_differs_most() -> None:
    """Unless another is asked for; what is the same in all models tells nothing."""
    pytest.importorskip("altair")
    found = compared({"n": 1, "reg": 1}, {"n": 1, "reg": 2}, {"n": 2, "reg": 3})

    def title(**how: Any) -> str | None:
        spec = found.plot("trade-off", **how).to_dict()
        legend = spec["layer"][-5]["encoding"]["color"].get("legend")
        return None if legend is None else str(legend["title"])

    assert title() == "reg"
    assert title(colour="n") == "n"
    with rejects("No model has a parameter 'rig'. .*reg"):
        title(colour="rig")
    found = compared({"n": 1}, {"n": 1})
    assert title() is None
    assert title(colour="n") == "n"


def test_a_search_gives_its_models_their_parameters() -> None:
    """Also those that its names leave out, being the same for all."""
    pytest.importorskip("surprise")
    from recsys_ndcg.datasets import sample_ratings  # noqa: PLC0415
    from recsys_ndcg.surprise import (  # noqa: PLC0415 - an extra
        BaselineOnly,
        Dataset,
        GridSearchCV,
        Reader,
    )

    table = sample_ratings()[["user", "item", "rating"]].head(600)
    data = Dataset.load_from_df(table, Reader(rating_scale=(0.5, 5)))
    grid = {"bsl_options": {"method": ["als"], "n_epochs": [1, 2]}, "verbose": [False]}
    search = GridSearchCV(BaselineOnly, grid, measures=["ndcg@5"], cv=2, keep_per_user=True)
    search.fit(data)
    assert [one.parameters for one in search.contenders.values()] == [
        {"bsl_options.method": "als", "bsl_options.n_epochs": epochs, "verbose": False}
        for epochs in (1, 2)
    ]
