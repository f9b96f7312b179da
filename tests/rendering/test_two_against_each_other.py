"""Two models by user, and two metrics by model."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys_ndcg.rendering.plots.trade_off import Layout, find_unbeaten, place_names, plot_trade_off
from recsys_ndcg.rendering.plots.users import plot_a_against_b
from tests.profiles import examples
from tests.rendering.drawings import described, drawn, marked, texts

pytest.importorskip("altair")
NAN = math.nan


def scatter(a: Sequence[float], b: Sequence[float], **how: Any) -> Any:
    """Return A against B in ndcg@10."""
    how = {"users": range(len(a)), **how}
    return plot_a_against_b(np.array(a), np.array(b), "A", "B", "ndcg@10", **how)


def model_table(*points: tuple[float, float], **more: Any) -> pd.DataFrame:
    """Return models m0, m1 and so on, with intervals of a tenth."""
    x, y = map(np.array, zip(*points, strict=True))
    names = [f"m{place}" for place in range(len(points))]
    ends = {"x_low": x - 0.05, "x_high": x + 0.05, "y_low": y - 0.05, "y_high": y + 0.05}
    return pd.DataFrame({"model": names, "x": x, "y": y, **ends, **more})


def test_every_user_is_a_dot_on_the_side_of_the_better_model() -> None:
    """A's score upward; users with only one score are left out and counted."""
    a, b = [0.5, 0.25, 0.5, 0.5, NAN, 1.0], [0.25, 0.75, 0.5, 0.5, 0.5, NAN]
    chart = scatter(a, b, users=[*"uvwxyz"])
    sides, names = marked(chart, "point"), ("across", "up", "users", "who")
    assert [one.mark["color"] for one in sides] == ["#0072B2", "#BBBBBB", "#E69F00"]
    found = [[tuple(row[name] for name in names) for row in side.rows] for side in sides]
    assert found == [[(0.25, 0.5, 1, "u")], [(0.5, 0.5, 2, "w, x")], [(0.75, 0.25, 1, "v")]]
    assert described(chart) == (
        "ndcg@10 of A against B, of 4 users: mean 0.4375 against 0.5000; above the line: A "
        "better: 1 user (25.0%); below it: B better: 1 user (25.0%); equal: 2 users (50.0%). "
        "2 users without a score of both left out."
    )
    (line,) = marked(chart, "line")
    assert all(one["up"] == one["across"] for one in line.rows)
    shown = {"ndcg@10 of A", "ndcg@10 of B", "above the line: A better: 1 user (25.0%)"}
    assert shown <= {*texts(chart)}


def test_of_an_error_less_is_better() -> None:
    """The sides and their colours are exchanged."""
    chart = scatter([0.5, 0.25, 0.1], [0.25, 0.75, 0.2], lower_is_better=True)
    assert [one.mark["color"] for one in marked(chart, "point")] == ["#E69F00", "#0072B2"]
    assert "above the line: B better: 1 user (33.3%)" in described(chart)
    assert "below it: A better: 2 users (66.7%)" in described(chart)
    assert "lower is better" in described(chart)
    assert any("lower is better" in one for one in texts(chart))
    assert "lower is better" not in described(scatter([1.0], [0.0]))


def test_users_at_one_place_are_one_larger_dot() -> None:
    """Three of them are named."""
    chart = scatter([1.0] * 5 + [0.5], [0.5] * 5 + [0.25], users=range(6))
    (dots,) = marked(chart, "point")
    assert [one["who"] for one in dots.rows] == ["0, 1, 2, and 2 others", "5"]
    assert dots.encoding["size"]["legend"]["values"] == [1, 3, 5]
    drawn(chart)


@examples(0.2)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30))
def test_no_user_is_lost(pairs: list[tuple[float, float]]) -> None:
    """As dots, or counted in cells."""
    a, b = map(list, zip(*pairs, strict=True))
    dots = [one for part in marked(scatter(a, b), "point") for one in part.rows]
    assert sum(one["users"] for one in dots) == len(a)
    times = 2000 // len(a) + 1
    (cells,) = marked(scatter(a * times, b * times), "rect")
    assert sum(one["users"] for one in cells.rows) == times * len(a)
    for one in cells.rows:
        assert one["left"] < one["right"]
        assert one["bottom"] < one["top"]
    ends = {name: cells.encoding[name]["field"] for name in ("x", "x2", "y", "y2")}
    assert ends == {"x": "left", "x2": "right", "y": "bottom", "y2": "top"}


def test_a_million_users_are_counted_in_cells() -> None:
    """Quickly, few enough for a page; a single user is visible."""
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 1_000_000)) / 2
    a[0], b[0] = 1.0, 0.0
    started = time.process_time()
    chart = scatter(a, b)
    assert time.process_time() - started < 3
    assert len(chart.to_json()) < 200_000
    (cells,) = marked(chart, "rect")
    assert len(cells.rows) < 2500
    (alone,) = (one for one in cells.rows if one["top"] >= 1.0)
    assert alone["users"] == 1
    scale = cells.encoding["opacity"]["scale"]
    assert (scale["type"], scale["domain"][0]) == ("log", 1)
    assert scale["range"][0] >= 0.2
    assert {one["title"] for one in cells.encoding["tooltip"]} >= {"users", "vertical from"}


@pytest.mark.parametrize(
    "pairs", [[(0.5, 0.25)], [(0, 0)], [(0.5, 0.5)] * 3, [(1e30, 1), (1, 1e30)]]
)
@pytest.mark.parametrize("times", [1, 2500])
def test_odd_numbers_are_drawn(pairs: list[tuple[float, float]], times: int) -> None:
    """One user, equal ones, huge next to small; dots and cells."""
    drawn(scatter(*zip(*pairs * times, strict=True)))


def test_unbeaten_models_are_joined_by_a_line() -> None:
    """In steps; a model without a mean is left out."""
    table = model_table((0.1, 0.9), (0.5, 0.5), (0.4, 0.4), (0.9, 0.1), (NAN, 1.0))
    chart = plot_trade_off(table, "ndcg@10", "recall@10", lines_from=("m0", "m3"))
    dots = marked(chart, "point")
    found = [(layer.mark["filled"], [one["model"] for one in layer.rows]) for layer in dots]
    assert found == [(False, ["m2"]), (True, ["m0", "m1", "m3"])]
    hovered = [[one["title"] for one in layer.encoding["tooltip"]] for layer in dots]
    assert hovered == [["model", "horizontal", "vertical"]] * 2
    (line,) = marked(chart, "line")
    assert [(one["x"], one["y"]) for one in line.rows] == [(0.1, 0.9), (0.5, 0.5), (0.9, 0.1)]
    assert line.mark["interpolate"] == "step-before"
    assert described(chart) == (
        "Trade-off of ndcg@10 (higher is better) and recall@10 (higher is better): 3 of 4 models "
        "are filled and joined by the line: no other is better in one and as good in the other. "
        "m3 0.9000 and 0.1000; m1 0.5000 and 0.5000; m0 0.1000 and 0.9000."
    )
    assert {"m0", "m1", "m2", "m3"} <= {*texts(chart)}
    assert any(
        "intervals of the difference from m0 (across) and m3 (up" in one for one in texts(chart)
    )
    across, up = marked(chart, "rule")[:2]
    assert [(one["low"], one["high"]) for one in across.rows][:1] == [pytest.approx((0.05, 0.15))]
    assert [(one["low"], one["high"]) for one in up.rows][:1] == [pytest.approx((0.85, 0.95))]


def test_errors_are_traded_off_too() -> None:
    """Each axis names its direction, which decides the unbeaten models."""
    table = model_table((0.1, 0.9), (0.5, 0.5), (0.4, 0.6))
    chart = plot_trade_off(table, "ndcg@10", "rmse", lower_is_better=(False, True))
    assert [one["model"] for one in marked(chart, "point")[1].rows] == ["m1"]
    assert not marked(chart, "line") or len(marked(chart, "line")[0].rows) == 1
    assert "1 of 3 models is filled:" in described(chart)
    assert "rmse (lower is better)" in texts(chart)
    assert "ndcg@10 (higher is better)" in texts(chart)
    table = model_table((0.1, 0.5), (0.5, 0.9), (0.2, 0.6), (0.4, 0.1))
    other = plot_trade_off(table, "rmse", "ndcg@10", lower_is_better=(True, False))
    assert [one["model"] for one in marked(other, "point")[1].rows] == ["m0", "m1", "m2"]
    assert marked(other, "line")[0].mark["interpolate"] == "step-after"


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_unbeaten_models(points: list[tuple[int, int]]) -> None:
    """Compared with every pair of models."""
    found = find_unbeaten(*(np.array(one, dtype=float) for one in zip(*points, strict=True)))
    assert found.tolist() == [
        not any(p >= x and q >= y and (p > x or q > y) for p, q in points) for x, y in points
    ]


@pytest.mark.slow
def test_models_are_coloured_by_a_parameter() -> None:
    """Numbers from light to dark, on a log scale if they span powers; texts by the palette."""
    points = [(place / 10, place / 10) for place in range(9)]
    cases: list[tuple[str | None, list[Any]]] = [
        ("linear", [10.0 * n for n in range(9)]), ("log", [10.0**-n for n in range(9)]),
        (None, [True, None, "b", *"cdefgh"]), (None, [None] * 9), ("linear", [2] * 9),
        ("log", [1e30, 1, NAN] * 3),
    ]  # fmt: skip
    for scale, values in cases:
        chart = plot_trade_off(model_table(*points, value=values), "ap", "rr", parameter="p.q")
        color = marked(chart, "point")[0].encoding["color"]
        kind = "quantitative" if scale else "nominal"
        assert (color["type"], color["scale"].get("type")) == (kind, scale)
        assert "p.q" in texts(chart)
    table = model_table(*points, value=[None, *"abbcdefg"])
    dots = marked(plot_trade_off(table, "ap", "rr", parameter="p"), "point")[0]
    colours = dots.encoding["color"]["scale"]
    assert colours["domain"] == [*"abcdef", "1 other value", "(not set)"]
    assert colours["range"][-2:] == ["#8C8C8C"] * 2


def test_a_model_without_the_parameter_is_grey() -> None:
    """Others have the colours of their values; each dot keeps its value."""
    table = model_table((0.1, 0.9), (0.5, 0.5), (0.9, 0.1), value=["a", None, "b"])
    (dots,) = marked(plot_trade_off(table, "ap", "rr", parameter="p"), "point")
    assert [row["value"] for row in dots.rows] == ["a", "(not set)", "b"]
    assert dots.encoding["color"]["scale"]["domain"] == ["a", "b", "(not set)"]
    assert dots.encoding["color"]["scale"]["range"][-1] == "#8C8C8C"


def test_every_model_has_its_name() -> None:
    """Of a hundred, in a taller chart; a single one and equal ones too."""
    rng = np.random.default_rng(0)
    chart = plot_trade_off(model_table(*map(tuple, rng.random((100, 2)))), "ap", "rr")
    assert {f"m{place}" for place in range(100)} <= {*texts(chart)}
    assert chart.height > plot_trade_off(model_table((0.5, 0.5)), "ap", "rr").height
    drawn(plot_trade_off(model_table((0.5, 0.5), (0.5, 0.5), (1e30, 1.0)), "dcg", "rr"))


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 300)), min_size=1, max_size=8))
def test_no_name_covers_another(dots: list[tuple[int, int]]) -> None:
    """Nor leaves the drawing, whether wide or half as wide."""
    names = [f"model {place}" for place in range(len(dots))]
    layouts = [Layout(400, 300, dots), Layout(200, 300, [(x / 2, y) for x, y in dots])]
    found = place_names(names, layouts)
    for wide, _, there in layouts:
        width, boxes = 6.5 * len(names[0]), []
        for (align, dx, dy), (x, y) in zip(found, there, strict=True):
            left = x + dx - {"left": 0, "center": width / 2, "right": width}[align]
            boxes.append((left, y + dy))
        for place, (left, middle) in enumerate(boxes):
            assert 0 <= left <= wide - width
            for other, height in boxes[:place]:
                assert abs(left - other) >= width or abs(middle - height) >= 12
