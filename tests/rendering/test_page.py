"""Pages of reports and comparisons: their content, its order, and that it is reproducible."""

from __future__ import annotations

import datetime as dt
import json
import re
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.comparison import build_comparison_page
from recsys_ndcg.experiments.comparison import sum_costs
from recsys_ndcg.report.page import MAX_USERS
from tests.comparison.models import models
from tests.rendering.parsed import Parsed, harmless

pytest.importorskip("altair")
pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")
METRICS = ["ndcg@3", "precision@3", "rmse"]


def evaluate() -> rn.Report:
    """Evaluate one model."""
    return rn.evaluate(models()["good"], metrics=METRICS, threshold=4)


def compare() -> rn.Comparison:
    """Compare three."""
    return rn.compare(models(), metrics=METRICS, threshold=4, by="list_length")


REPORT, COMPARED = evaluate(), compare()
TWO = {name: models(8)[name] for name in ("good", "fair")}
report_page, compared_page = cache(REPORT.to_html), cache(COMPARED.to_html)  # once for all tests


def sections(page: Parsed) -> list[str]:
    """Return the ids of the sections."""
    return [one["id"] for one in page.named("section")]


def test_a_report_has_its_parts_in_order() -> None:
    """Each section has a heading, a link and a sentence."""
    page = harmless(report_page())
    assert sections(page) == ["scores", "audit", "spread", "cutoff", "activity", "users", "how"]
    check_structure(page)
    assert "of the possible improvement over chance" in page.text
    assert all(remark in page.text for remark in REPORT.remarks)
    assert all(REPORT.signature(name) in page.text for name in METRICS)


def test_a_comparison_has_its_parts_in_order(tmp_path: Path) -> None:
    """A saved one too, without the sections that need lists."""
    wanted = ["leaderboard", "audit", "spread", "differences", "cutoff", "activity", "segments"]
    wanted += ["users", "movers", "trade-off", "how"]
    page = harmless(compared_page())
    assert sections(page) == wanted
    check_structure(page)
    for text in (*COMPARED._document().verdicts[0], *COMPARED.remarks):
        assert " ".join(text.split()) in page.text
    COMPARED.save(tmp_path / "c.json")
    loaded = harmless(rn.Comparison.load(tmp_path / "c.json").to_html())
    assert sections(loaded) == [name for name in wanted if name != "cutoff"]
    assert "There are no lists to open" in loaded.text
    assert "There are no lists to open" not in page.text


def check_structure(page: Parsed) -> None:
    """Check what a screen reader needs: language, landmarks, headings, names."""
    assert page.named("html") == [{"lang": "en"}]
    assert [len(page.named(one)) for one in ("header", "nav", "main", "h1")] == [1] * 4
    ids = {one["id"] for _, one in page.tags if "id" in one}
    assert [one["href"] for one in page.named("a")] == [f"#{one}" for one in sections(page)]
    headings = [one for one, _ in page.tags if one in {"h1", "h2", "h3", "h4"}]
    assert [one for one in headings if one != "h3"] == ["h1", *["h2"] * len(sections(page))]
    for one in page.named("section"):
        assert one["aria-labelledby"] in ids
    drawn = [one for one in page.named("div") if one.get("role") == "img"]
    assert len(drawn) == len(page.named("figure")) == len(page.named("figcaption")) > 0
    assert all(one["aria-labelledby"] in ids for one in drawn)
    assert len(page.named("caption")) == len(page.named("table"))
    assert all(one.get("scope") in {"row", "col"} for one in page.named("th"))
    scrolled = [one for one in page.named("div") if one.get("class") == "scroll"]
    assert len(scrolled) == len(page.named("table"))
    assert all(one["tabindex"] == "0" and one["aria-label"] for one in scrolled)


def test_equal_reports_give_equal_pages() -> None:
    """To the last byte."""
    assert evaluate().to_html() == report_page()
    assert compare().to_html() == compared_page()


def test_a_title_and_a_date_can_be_given() -> None:
    """By default a page has no date, and a title of its kind; neither is code."""
    for result in (REPORT, REPORT.by("list_length"), rn.compare(TWO)):
        page = harmless(result.to_html(title="SVD </title>", date=dt.date(2026, 5, 31)))
        assert page.text.count("SVD </title>") == 2
        assert "2026-05-31" in page.text
    assert "2026-" not in harmless(REPORT.to_html(title=" ")).text + harmless(compared_page()).text
    assert "3 models compared" in harmless(compared_page()).text


def test_intervals_and_outcomes_have_no_columns_of_their_own() -> None:
    """Intervals are in the cell of their mean, and users won, tied and lost are one column."""
    rows = harmless(compared_page()).cells
    head = next(row for row in rows if row[:2] == ["model", "tier"])
    board, best = COMPARED.leaderboard, COMPARED.leaderboard.index[1]
    row = dict(zip(head, next(one for one in rows if one[0] == best), strict=True))
    low, high = board.loc[best, ["ci_low", "ci_high"]]
    assert row["mean [95%]"] == f"{board['mean'][best]:.4f} {low:.4f}–{high:.4f}"
    counts = "/".join(map(str, board.loc[best, ["won", "tied", "lost"]]))
    assert row[f"won/tied/lost against {COMPARED._data.baseline}"] == counts
    assert not {"[95%]", "won", "tied", "lost"} & {*head}
    assert {"precision@3", "rmse"} <= {*head}
    rows = harmless(report_page()).cells
    assert any(row[:2] == ["metric", "mean [95%]"] for row in rows)


def test_headings_are_explained_once() -> None:
    """By a tooltip, and below the first table that has them; each metric's part is complete."""
    page = compared_page()
    assert 'title="1 + the number of models that are significantly better"' in page
    assert page.count("<dt>pooled</dt>") == len(METRICS)
    assert report_page().count("<dt>adjusted</dt>") == 1
    for term in ("judged", "decided by ties"):
        assert f"<dt>{term}</dt>" in page


def test_many_metrics_have_a_table_of_their_own() -> None:
    """A leaderboard has no room for them; what is left out is counted."""
    names = [f"{name}@{k}" for name in ("ndcg", "precision", "recall", "ap") for k in (1, 2, 3)]
    found = rn.compare(TWO, metrics=names, threshold=4)
    page = harmless(found.to_html())
    head = next(row for row in page.cells if row[:2] == ["model", "tier"])
    assert not {*names} & {*head}
    means = next(row for row in page.cells if row[0] == "precision@2" and len(row) == 3)
    assert means[1].startswith(f"{found.leaderboards['precision@2']['mean']['good']:.4f}")
    assert "Of 12 metrics, the first 10 have a leaderboard here" in page.text


def test_models_have_their_parameters_seconds_and_memory() -> None:
    """Whichever of them are known."""
    assert "models" not in sections(harmless(compared_page()))
    steps = {"fit": [1.5, 2.5], "predict": [0.25, 0.5], "measure": [2.0, 3.25]}
    seconds = {f"{step}_seconds": values for step, values in steps.items()}
    index = pd.MultiIndex.from_product([["good"], [0], [0, 1]], names=["model", "seed", "fold"])
    runs = pd.DataFrame({**seconds, "peak_memory_mb": [90.0, 99.6]}, index)
    data = rn.compare(TWO)._data
    good = replace(data.model_scores["good"], parameters={"n_factors": 20, "name": "x" * 80})
    compared = rn.Comparison(replace(data, model_scores={**data.model_scores, "good": good}))
    page = harmless(build_comparison_page(compared._data, costs=sum_costs(runs)).render("page"))
    place = page.cells.index(
        ["model", "parameters", "folds", "fit (s)", "predict (s)", "measure (s)", "memory (MB)"]
    )
    row = next(one for one in page.cells[place:] if one[0] == "good")
    assert row[1:] == [f"n_factors=20, name='{'x' * 80}'", "2", "4.00", "0.75", "5.25", "100"]
    assert next(one for one in page.cells[place:] if one[0] == "fair")[1:] == ["-"] * 6


def test_charts_adapt_to_the_width_and_the_colours_of_the_page() -> None:
    """No chart has a fixed width, or a colour that is invisible on dark pages."""
    specs = [one for one in harmless(compared_page()).data if "layer" in one]
    assert len(specs) >= 6

    def without_texts(part: dict[str, Any]) -> dict[str, Any]:
        names = part.keys() - {"datasets", "values", "domain", "text"}
        return {name: part[name] for name in names}

    for spec in specs:
        assert "width" not in spec
        assert spec["height"] > 0
        looks = json.loads(json.dumps(spec), object_hook=without_texts)
        assert not re.search('"#|"white"|"black"', json.dumps(looks))


def test_users_are_sorted_by_z() -> None:
    """The strongest evidence first; by score if a metric has no z. All are there without script."""
    alone = rn.evaluate(models()["good"], metrics="rr", threshold=4)
    for report, heading, text in ((REPORT, "z", report_page()), (alone, "rr", alone.to_html())):
        page = harmless(text)
        (head,) = [row for row in page.cells if row[:2] == ["user", "items"]]
        rows = [row for row in page.cells if len(row) == len(head) and row[0] in {*report.users}]
        assert sorted(row[0] for row in rows) == report.users.tolist()
        audit = report.per_user_audit(report.metrics[0]).loc[[row[0] for row in rows]]
        values = audit[{"rr": "score"}.get(heading, "z")][audit["worst"] < audit["best"]].tolist()
        assert values == sorted(values, reverse=True)
        assert [one[:4] for one in rows] == [row[:4] for row in rows]
        assert [one.get("aria-sort") for one in page.named("th") if "aria-sort" in one] == [
            "descending"
        ]


def test_users_of_a_comparison_are_sorted_by_the_difference_of_the_two_best() -> None:
    """The greatest first; with a column per model, and the lists of these two."""
    page = harmless(compared_page())
    best, other = COMPARED.leaderboard.index[:2]
    rows = [row for row in page.cells if len(row) == 7 and row[0] in set(COMPARED.users)]
    assert len(rows) == len(COMPARED.users)
    own = COMPARED.per_user["ndcg@3"].loc[[row[0] for row in rows], [best, other]]
    np.testing.assert_allclose(np.array([row[3:5] for row in rows], float), own, rtol=0, atol=1e-4)
    difference = (own[best] - own[other]).abs().tolist()
    assert difference == sorted(difference, reverse=True)
    lists = next(one for one in page.data if "users" in one)
    assert lists["names"] == [best, other, "the best order"]
    assert len(lists["users"]) == len(rows)


def test_of_many_users_the_best_and_the_worst_are_shown(tmp_path: Path) -> None:
    """A thousand in all; the caption has the numbers."""
    draw = np.random.default_rng(0)
    n = MAX_USERS + 500
    frame = pd.DataFrame({"user": np.repeat(np.arange(n), 4), "item": np.tile(np.arange(4), n)})
    data = frame.assign(estimated=draw.random(4 * n), true=draw.integers(1, 6, 4 * n))
    report = rn.evaluate(data, metrics="ndcg@4")
    page = harmless(report.to_html(tmp_path / "page.html"))
    rows = [row for row in page.cells if len(row) == 6 and row[0].isdecimal()]
    assert len(rows) == MAX_USERS
    assert (
        f"Of {n:,} users, 1,000 are shown: the best and the worst of those who are not" in page.text
    )
    z = report.per_user_audit("ndcg@4")["z"].dropna().sort_values()
    assert {int(row[0]) for row in rows[500:]} <= {*z.index[:520]}
    assert [float(rows[at][5]) for at in (0, -1)] == pytest.approx(
        [z.iloc[-1], z.iloc[0]], abs=1e-4
    )
    assert (tmp_path / "page.html").stat().st_size < 2_000_000


def test_of_many_users_all_with_an_order_come_before_trivial_ones() -> None:
    """Trivial users fill the page only after the others."""
    moving = {f"moving{user}": [(2, 4 + user % 2), (1, 3)] for user in range(600)}
    fixed = {f"fixed{user}": [(2, 3), (1, 3)] for user in range(MAX_USERS)}
    page = harmless(rn.evaluate(moving | fixed, metrics="ndcg@2").to_html())
    shown = [row[0] for row in page.cells if row[0].startswith(("moving", "fixed"))]
    assert ({*shown[:600]}, len(shown)) == ({*moving}, MAX_USERS)


def test_a_long_page_stays_small() -> None:
    """Also if every id of users and items is as long as a page."""
    users = {f"{user}" + "&" * 10_000: f"{user} " for user in range(120)}
    rows = [
        (user, f"{beginning}{item}" + "<" * 10_000, item + 0.5, 1.0 + item % 3)
        for (user, beginning), item in product(users.items(), range(5))
    ]
    page = rn.evaluate(rows, metrics="ndcg@5").to_html()
    assert len(page) < 1_500_000
    harmless(page)


def test_a_notebook_gets_a_short_form() -> None:
    """Without scripts and styles."""
    for shown in (REPORT, COMPARED):
        text = shown._repr_html_()
        assert len(text) < 10_000
        page = Parsed(f"<div>{text}</div>")
        assert not [*page.named("script"), *page.named("style")]
        assert page.named("table")
