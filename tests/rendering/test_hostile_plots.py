"""Names that would act in Vega, in HTML or in a terminal are shown in a chart, and do nothing."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from unicodedata import category

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys_ndcg.rendering.plots.means import (
    plot_intervals_by_tier,
    plot_score_by_activity,
    plot_score_by_cutoff,
)
from recsys_ndcg.rendering.plots.trade_off import plot_trade_off
from recsys_ndcg.rendering.plots.users import (
    plot_a_against_b,
    plot_difference_per_user,
    plot_users_against_chance,
)
from recsys_ndcg.rendering.wording import label, labels
from tests.rendering.drawings import described, drawn, layers

if TYPE_CHECKING:
    import altair as alt

pytest.importorskip("altair")
HOSTILE = [
    "</script><!--<Script>alert()",
    "x" * 10_000,
    "\u202eabc\u202d\nd\x1b[2J\t\0",
    "a.b[c]['d'] ${x} {{y}} &amp; %s",
    'datum\\"+b+"',
    "",
    "constructor",
    "valueOf",
    "__proto__",
]


def charts(name: str) -> list[alt.LayerChart | alt.ConcatChart]:
    """Return every chart, with a name wherever one can stand."""
    by_k = pd.DataFrame({"metric": [name], "k": [1], "mean": [0.5], "low": [0.4], "high": [0.6]})
    models = pd.DataFrame({"model": [name, "SVD"], "mean": [0.5, 0.4], "tier": [1, 2]})
    users = pd.DataFrame({"user": [name], "score": [0.5], "chance": [0.25]})
    activity = pd.DataFrame({"model": [name, "SVD"], "activity": [1, 2], "score": [0.5, 0.75]})
    both = pd.DataFrame({"model": [name, "SVD"], "x": [0.5, 0.4], "y": [0.1, 0.2]})
    both = both.assign(x_low=0.3, x_high=0.6, y_low=0.05, y_high=0.3)
    return [
        plot_score_by_cutoff(by_k.assign(chance=0.25)),
        plot_users_against_chance(users, name),
        plot_intervals_by_tier(models.assign(low=0.3, high=0.6), name, 0.2, baselines={name: 0.3}),
        plot_difference_per_user(models["mean"].to_numpy(), name, "SVD", name),
        plot_score_by_activity(activity, name),
        plot_a_against_b(
            np.array([0.5, 0.5]), np.array([0.2, 0.5]), name, "SVD", name, users=[name] * 2
        ),
        plot_a_against_b(
            np.arange(3000.0) % 7, np.arange(3000.0) % 5, "SVD", name, name, users=range(3000)
        ),
        plot_trade_off(both, name, name),
        plot_trade_off(both.assign(value=[name, "b"]), name, "rmse", parameter=name),
        plot_trade_off(both.assign(value=[1, 3]), name, "rmse", parameter=name),
    ]


class Scripts(HTMLParser):
    """Counts the scripts of a page, and keeps what stands outside of them."""

    def __init__(self) -> None:
        super().__init__()
        self.n, self.outside, self._inside = 0, "", False

    def handle_starttag(self, tag: str, _: list[tuple[str, str | None]]) -> None:
        """Begin a script."""
        self._inside = tag in {"script", "style"}
        self.n += tag == "script"

    def handle_endtag(self, _: str) -> None:
        """End it."""
        self._inside = False

    def handle_data(self, data: str) -> None:
        """Keep what would be seen."""
        self.outside += "" if self._inside else data


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_name_does_nothing_but_show(name: str) -> None:
    """In a drawing, in its text, and in the page that a notebook makes of it."""
    for chart in charts(name):
        text = chart.to_json(ensure_ascii=False)
        assert not re.search(r"</|<!|<\?|<script", text, re.IGNORECASE)
        assert not [one for one in text if category(one) in {"Cf", "Cs"}]
        assert len(text) < 50_000
        page = Scripts()
        page.feed(chart.to_html())
        assert page.n == 4
        assert not page.outside.strip()
        assert label(name)[:20] in described(chart)
        written = "".join("".join(one.itertext()) for one in drawn(chart).iter())
        assert label(name)[:20] in written


def test_fields_have_names_of_their_own() -> None:
    """What somebody called a model or a metric stands in the data, and in titles of axes."""
    for one in (layer for chart in charts("zzz") for layer in layers(chart)):
        tooltip = one.encoding.get("tooltip", [])
        channels = [*one.encoding.values(), *(tooltip if isinstance(tooltip, list) else [])]
        for channel in (some for some in channels if "field" in some):
            assert re.fullmatch("[a-z0-9_]+", channel["field"])
            assert "zzz" not in (channel.get("title") or "")
        assert all(map(str.isidentifier, {key for row in one.rows for key in row}))


@given(st.lists(st.text(max_size=60)), st.integers(4, 40))
def test_labels_are_short_and_tell_apart(names: list[str], longest: int) -> None:
    """Whatever people call things."""
    found = labels(names, longest)
    assert len(set(found)) == len(found) == len(names)
    for name, one in zip(names, found, strict=True):
        assert len(label(name, longest)) <= max(longest, len("(no name)"))
        assert one.startswith(label(name, longest))
        assert one.strip() == one != ""


@pytest.mark.parametrize(
    "names",
    [["x" * 99, "x" * 98], ["a", "a", "a (1)"], ["a (1)", "a", "a"], ["", " ", "(no name)"]],
)
def test_names_that_look_alike_are_numbered(names: list[str]) -> None:
    """So that two models never share a row."""
    assert len(set(labels(names))) == len(names)
