"""Names that look like code in Vega, HTML or a terminal are shown in a chart as text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import category

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys_ndcg.rendering.plots import means, users
from recsys_ndcg.rendering.plots.trade_off import plot_trade_off
from recsys_ndcg.rendering.wording import make_label, make_labels
from tests.rendering.drawings import described, drawn, layers

if TYPE_CHECKING:
    import altair as alt

pytest.importorskip("altair")
HOSTILE = [
    "</script><!--<Script>alert()", "a.b[c]['d'] ${x} {{y}} &amp; %s", "x" * 10_000,
    "\u202eabc\u202d\nd\x1b[2J\t\0", 'datum\\"+b+"', "", "constructor", "valueOf", "__proto__",
]  # fmt: skip


def charts(name: str) -> list[alt.LayerChart | alt.ConcatChart]:
    """Return every chart, with a name wherever one is possible."""
    by_k = pd.DataFrame({"metric": [name], "k": [1], "mean": [0.5], "low": [0.4], "high": [0.6]})
    models = pd.DataFrame({"model": [name, "SVD"], "mean": [0.5, 0.4], "tier": [1, 2]})
    models = models.assign(low=0.3, high=0.6, bar_low=0.2, bar_high=0.7)
    scores = pd.DataFrame({"user": [name], "score": [0.5], "chance": [0.25]})
    activity = pd.DataFrame({"model": [name, "SVD"], "activity": [1, 2], "score": [0.5, 0.75]})
    both = pd.DataFrame({"model": [name, "SVD"], "x": [0.5, 0.4], "y": [0.1, 0.2]})
    both = both.assign(x_low=0.3, x_high=0.6, y_low=0.05, y_high=0.3)
    two, many = np.array([[0.5, 0.5], [0.2, 0.5]]), np.arange(3000.0)
    return [
        means.plot_score_by_cutoff(by_k.assign(chance=0.25)),
        users.plot_users_against_chance(scores, name),
        means.plot_intervals_by_tier(models, name, 0.2, baselines={name: 0.3}),
        users.plot_difference_per_user(models["mean"].to_numpy(), name, "SVD", name),
        means.plot_score_by_activity(activity, name),
        users.plot_a_against_b(two[0], two[1], name, "SVD", name, users=[name] * 2),
        users.plot_a_against_b(many % 7, many % 5, "SVD", name, name, users=range(3000)),
        plot_trade_off(both, name, name),
        plot_trade_off(both.assign(value=[name, "b"]), name, "rmse", parameter=name),
        plot_trade_off(both.assign(value=[1, 3]), name, "rmse", parameter=name),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_name_is_only_shown(name: str) -> None:
    """In a drawing, in its text, and in the page that a notebook makes of it."""
    for chart in charts(name):
        text = chart.to_json(ensure_ascii=False)
        assert not re.search(r"</|<!|<\?|<script", text, re.IGNORECASE)
        assert not [one for one in text if category(one) in {"Cf", "Cs"}]
        assert len(text) < 50_000
        page = chart.to_html()
        body = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
        assert len(re.findall("<script", page)) == 4
        assert not re.sub(r"<[^>]*>", "", body).strip()
        assert make_label(name)[:20] in described(chart)
        written = "".join("".join(one.itertext()) for one in drawn(chart).iter())
        assert make_label(name)[:20] in written


def test_names_of_fields_do_not_depend_on_data() -> None:
    """Names of models and metrics are in the data and in titles of axes only."""
    for one in (layer for chart in charts("zzz") for layer in layers(chart)):
        tooltip = one.encoding.get("tooltip", [])
        channels = [*one.encoding.values(), *(tooltip if isinstance(tooltip, list) else [])]
        for channel in (some for some in channels if "field" in some):
            assert re.fullmatch("[a-z0-9_]+", channel["field"])
            assert "zzz" not in (channel.get("title") or "")
        assert all(map(str.isidentifier, {key for row in one.rows for key in row}))


@given(st.lists(st.text(max_size=60)), st.integers(4, 40))
def test_labels_are_short_and_distinct(names: list[str], longest: int) -> None:
    """Whatever the names are."""
    found = make_labels(names, longest)
    assert len(set(found)) == len(found) == len(names)
    for name, one in zip(names, found, strict=True):
        assert len(make_label(name, longest)) <= max(longest, len("(no name)"))
        assert one.startswith(make_label(name, longest))
        assert one.strip() == one != ""


ALIKE = [["x" * 99, "x" * 98], ["a", "a", "a (1)"], ["a (1)", "a", "a"], ["", " ", "(no name)"]]


@pytest.mark.parametrize("names", ALIKE)
def test_names_that_look_alike_are_numbered(names: list[str]) -> None:
    """So that two models never share a row."""
    assert len(set(make_labels(names))) == len(names)
