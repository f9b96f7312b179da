"""A comparison as text, Markdown, LaTeX, HTML and plain values."""

from __future__ import annotations

import io
import json
import math
import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

import recsys_ndcg as rn
from recsys_ndcg.arrays import Floats
from recsys_ndcg.glossary import format_legend
from recsys_ndcg.rendering import format_number, format_signed
from tests.comparison.models import models
from tests.errors import assert_rejected

METRICS = ["ndcg@5", "precision@3", "rmse"]
HOSTILE = "\x1b[2J\u202e=_$&%#{~^}<b>|*`[x](y)\\\n- "


DATA = models(60, fair=2.0, good=0.8, poor=6.0, like=0.81)
DATA["like"] = [(user, item, 3 * one, true) for user, item, one, true in DATA["like"]]
FOUR = rn.compare(DATA, metrics=METRICS, threshold=4)


def _rows(markdown: str) -> list[list[str]]:
    """Return the cells of the lines that are rows of a table."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_the_text_has_heading_leaderboard_verdict_remarks_and_signatures() -> None:
    """In this order, with four decimals."""
    first, second, heading, *rest = str(FOUR).splitlines()
    assert first == "4 models, 60 users, paired t test, max-T over 6 pairs, alpha 0.05"
    assert second == "ndcg@5; users won, tied and lost against fair"
    columns = "tier model mean [95%] letters pooled chance adjusted won tied lost rank"
    columns += " precision@3 rmse"
    assert heading.split() == columns.split()
    for line, row in zip(rest, FOUR.leaderboard.reset_index().to_dict("records"), strict=False):
        outcomes = ("won", "tied", "lost")
        counts = ["-" if pd.isna(row[one]) else str(row[one]) for one in outcomes]
        low, high = row["rank_low"], row["rank_high"]
        interval = f"{row['ci_low']:.4f}–{row['ci_high']:.4f}"
        numbers = [row["pooled"], row["chance"], row["adjusted"]]
        others = [FOUR.leaderboards[one].loc[row["model"]] for one in METRICS[1:]]
        assert line.split() == [
            str(row["tier"]), row["model"], f"{row['mean']:.4f}", interval, row["letters"],
            *(f"{one:.4f}" for one in numbers), *counts,
            str(low) if low == high else f"{low}–{high}",
            *(text for one in others for text in (f"{one['mean']:.4f}", one["letters"])),
        ]  # fmt: skip
    remarks = [f"- {line}" for line in FOUR.remarks]
    *others, signature, last = rest[6:]
    legend = format_legend(FOUR._document().list_headings(), key=False)
    assert others == [*FOUR._document().verdicts[0], *remarks, *legend]
    assert signature == FOUR.signatures["ndcg@5"].short
    assert last.startswith("other signatures are the same, except: precision@3|threshold:4.0")


def test_the_top_tier_is_bold() -> None:
    """In Markdown, if it is several models."""
    board = FOUR.leaderboard
    top = {name for name, tier in board["tier"].items() if tier == 1}
    assert 1 < len(top) < 4
    rows = _rows(FOUR.to_markdown())[2:]
    assert {row[1].strip("*") for row in rows if row[1].startswith("**")} == top
    assert {row[1].strip("*") for row in rows if re.fullmatch(r"\*\*[\d.]+\*\*", row[2])} == top


def test_each_metric_has_its_own_table_and_verdict() -> None:
    """The others come after it; an error has no chance level, and so no columns for it."""
    rows = _rows(FOUR.to_markdown("RMSE"))
    assert not {"chance", "adjusted"} & {*rows[0]}
    assert rows[0][-2:] == ["ndcg@5", "precision@3"]
    assert [row[1].strip("*") for row in rows[2:]] == list(FOUR.leaderboards["rmse"].index)
    assert "in rmse" in str(FOUR._data.list_verdicts("rmse")[0])
    assert str(FOUR._document().verdicts[0]) == FOUR.verdict
    assert FOUR.signature("rmse") == FOUR.signatures["rmse"]
    assert_rejected("no metric 'recall@5'; it has ndcg@5", FOUR.to_markdown, "recall@5")


def test_pairs_have_signed_differences_and_intervals() -> None:
    """The minus of LaTeX is one of mathematics."""
    table = FOUR.pairwise[FOUR.pairwise["metric"] == "ndcg@5"]
    heading, _, *rows = _rows(FOUR.to_markdown(pairs=True))
    columns = r"a|b|difference \[95%\]|relative|d\_z|wins/ties/losses/trivial|p|corrected p"
    assert "|".join(heading) == columns
    for cells, row in zip(rows, table.to_dict("records"), strict=True):
        assert cells[:2] == [row["a"], row["b"]]
        ends = [f"{row[one]:+.4f}" for one in ("difference", "ci_low", "ci_high")]
        assert cells[2] == rf"{ends[0]} \[{ends[1]}, {ends[2]}\]"
        assert cells[3].rstrip(" %") == f"{100 * row['relative']:+.3g}"
        assert cells[5] == f"{row['wins']}/{row['ties']}/{row['losses']}/{row['trivial']}"
        p = row["p_corrected"]
        assert cells[7] == (r"\<0.0001" if p < 0.0001 else f"{p:.4f}")
    latex = FOUR.to_latex(pairs=True)
    assert latex.startswith(f"% {FOUR.verdict}\n")
    assert FOUR.signature("ndcg@5").short.replace("|", r"\textbar{}") in latex
    assert "{[}$-$0." in latex
    assert not re.search(r"[ \[]-\d", latex.partition(r"\midrule")[2])


def test_the_note_tells_whether_intervals_are_simultaneous() -> None:
    """If there are several pairs."""

    def pairs(data: dict[str, Any], **how: Any) -> str:
        return rn.compare(data, **how).to_markdown(pairs=True)

    data = models(60)
    assert "intervals are simultaneous for all pairs in the table" in pairs(data)
    own = pairs(data, correction="holm")
    assert "each interval is for one pair alone" in own
    del data["poor"]
    pair = pairs(data, correction="holm", alpha=0.1)
    assert "simultaneous" not in pair
    assert r"difference \[90%\]" in pair
    assert "paired t test, alpha 0.1" in pair


def test_margins_have_columns_of_their_own() -> None:
    """Intervals have the comparison's level."""
    found = rn.compare(models(60), alpha=0.01, margin=0.02)
    assert "[99%]" in str(found)
    heading = _rows(found.to_markdown(pairs=True))[0]
    assert heading[-3:] == ["p: a not worse", "p: b not worse", "p: equivalent"]


def test_hostile_names_are_escaped() -> None:
    """In any form."""
    data = models(30)
    found = rn.compare({HOSTILE: data["good"], "=1+1": data["poor"]}, metrics=["ndcg@3"])
    markdown, html = found.to_markdown(), found._repr_html_()
    latex = found.to_latex().replace(r"\allowbreak ", "")
    for text in (str(found), markdown, latex, found.to_markdown(pairs=True)):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
        assert "[2J" in text.replace("{[}", "[")
    assert r"=\_\$\&%\#\{\~^\}\<b\>\|\*\`\[x\](y)\\\\n-" in markdown
    assert len(_rows(markdown)) == 4
    assert r"\_\$\&\%\#\{\textasciitilde{}\textasciicircum{}\}\textless{}b" in latex
    assert r"\textbackslash{}x1b" in latex
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    assert found.to_dict()["models"] == [HOSTILE, "=1+1"]
    same = rn.compare({HOSTILE: data["good"], "b": [*data["good"]]})
    assert "b have the same score for every user." in "".join(same.remarks)
    assert all(line.isprintable() for line in (found.verdict, *same.remarks))


def test_a_metric_may_be_named_like_a_column() -> None:
    """The table has both."""

    @rn.metric
    def rank(rank: Floats) -> Floats:
        """Weights by rank."""
        return 1 / rank

    found = rn.compare(models(30), metrics=["ndcg@3", rank(None)], threshold=4)
    assert found.metrics[1] == "rank"
    assert _rows(found.to_markdown())[0][-2:] == ["rank", "mean rank"]


def test_missing_values_are_dashes() -> None:
    """Not NaN, of users or of tests."""
    relevant = rn.compare(models(30), metrics=["recall@3"], threshold=5)
    one = rn.compare({"a": {"ann": [(2, 5), (1, 3)]}, "b": {"ann": [(1, 5), (2, 3)]}})
    assert str(one).startswith("2 models, 1 user, ")
    for text in (str(relevant), str(one), one.to_markdown(pairs=True)):
        assert "nan" not in text.lower()


def test_folds_have_a_column_for_their_spread() -> None:
    """The last one."""
    names = ("good", "poor")
    runs = {one: [rn.evaluate(models(30, seed)[one]) for seed in (1, 2)] for one in names}
    found = rn.compare(runs)
    heading, _, row, _ = _rows(found.to_markdown())
    assert (heading[-1], row[-1]) == ("spread", f"{found.leaderboard['spread'].iloc[0]:.4f}")


def test_frames_and_dicts_hold_all_numbers() -> None:
    """In the dict every digit, in order; a missing value is null."""
    frame, plain = FOUR.to_frame(), FOUR.to_dict()
    assert plain == json.loads(json.dumps(plain, allow_nan=False))
    assert (plain["models"], plain["users"]) == (["fair", "good", "poor", "like"], 60)
    how = {"test": "t", "correction": "max-T", "alpha": 0.05, "draws": 100000, "seed": 0}
    assert plain["how"] == {**how, "family": "pairs", "margin": None}
    for name, board in FOUR.leaderboards.items():
        pd.testing.assert_frame_equal(pd.DataFrame(frame.xs(name, level="metric")), board)
        rows = plain["leaderboards"][name]
        assert [row["model"] for row in rows] == list(board.index)
        assert [row["mean"] for row in rows] == board["mean"].tolist()
        assert {row["won"] for row in rows if row["model"] == "fair"} == {None}
    assert [row["p"] for row in plain["pairwise"]] == FOUR.pairwise["p"].tolist()
    assert plain["leaderboards"]["rmse"][0]["chance"] is None
    assert plain["segments"] is None
    assert (plain["verdict"], plain["remarks"]) == (FOUR.verdict, FOUR.remarks)
    assert plain["signatures"]["rmse"] == FOUR.signatures["rmse"]
    segments = rn.compare(models(60), by="list_length").to_dict()["segments"]
    assert len({row["segment"] for row in segments}) * 3 == len(segments)
    json.dumps(segments, allow_nan=False)


def test_a_notebook_shows_the_leaderboard_and_the_verdict() -> None:
    """As HTML; a terminal of ASCII has another sign for –."""
    html = FOUR._repr_html_()
    rows = html.partition("<tbody>")[2].partition("</tbody>")[0].split("</tr>")[:-1]
    cells = [re.findall("<td>(.*?)</td>", row)[1] for row in rows]
    names = [re.sub("</?strong>", "", cell) for cell in cells]
    assert names == list(FOUR.leaderboard.index)
    is_first = (FOUR.leaderboard["tier"] == 1).tolist()
    assert [cell.startswith("<strong>") for cell in cells] == is_first
    assert "bold: the first tier" in html
    assert all(text in html for text in FOUR._document().verdicts[0])
    with patch("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii")):
        text = str(FOUR)
    assert text.isascii()
    assert re.search(r" 0\.\d{4}-0\.\d{4} ", text)
    assert " 1-2 " in text


def test_numbers_that_round_to_zero_have_no_minus() -> None:
    """Of floats, and of NumPy's."""
    numbers = {
        -0.0: ("0.0000", "+0.0000"), -0.00004: ("0.0000", "+0.0000"),
        -0.00006: ("-0.0001", "-0.0001"), -2e9: ("-2e+09", "-2e+09"), 2e9: ("2e+09", "+2e+09"),
        math.nan: ("-", "-"),
    }  # fmt: skip
    for number, expected in numbers.items():
        for one in (number, np.float64(number)):
            assert (format_number(one), format_signed(one)) == expected


def _compare_with_missing_lists(how: Any = None, **without: int) -> rn.Comparison:
    """Compare A, and models that have lists for the first users only: how many have none."""
    labels = {f"u{user}": {"a", "b"} for user in range(30)}
    lists = {
        user: ["xa"[place % 3 > 0], "a" * (not place % 3) + "b"]
        for place, user in enumerate(labels)
    }
    models = {
        name: rn.RankedLists.from_labels(
            labels,
            {user: lists[user] if place < 30 - n else [] for place, user in enumerate(labels)},
        )
        for name, n in {"A": 0, **without}.items()
    }
    how = how or {"metrics": ["ndcg@3", "recall@3"]}
    return rn.compare(models, margin=0.01, **how)


def test_a_gate_states_the_rule_of_its_own_metric_for_missing_lists() -> None:
    """In jurity, precision leaves these users out, and NDCG counts 0."""
    how = {"metrics": ["ndcg@3", "precision@3"], "convention": "jurity", "threshold": 1}
    found = _compare_with_missing_lists(how, B=27)
    rules = {
        one: found.signatures[f"{one}@3"].fields["missing_user"] for one in ("ndcg", "precision")
    }
    assert len({*rules.values()}) == 2
    for one, rule in rules.items():
        reason = found.not_worse("A", "B", metric=f"{one}@3").reason
        assert reason.endswith(f"(missing_user={rule!r}).")
        assert reason.count("missing_user") == 1
        assert f"(missing_user={rule!r})" in found.remarks[0]


def test_the_first_remark_counts_the_users_without_a_list(tmp_path: Path) -> None:
    """In each form that shows the verdict, in a gate, over several data sets, and once loaded."""
    line = (
        "27 of 30 users have no list from B: each scores like an empty list (missing_user='zero')."
    )
    found = _compare_with_missing_lists(B=27)
    assert found.verdict.startswith("A is better than B")
    assert found.remarks[0] == line
    found.save(tmp_path / "c.json")
    loaded = rn.Comparison.load(tmp_path / "c.json")
    for one in (found, loaded):
        page = one._page().render("html").replace("&#x27;", "'").replace("&#39;", "'")
        for text in (str(one), one._repr_html_(), page, one.to_latex(pairs=True)):
            assert line.partition(":")[0] in text
        assert one.to_dict()["remarks"][0] == line
        assert one.not_worse("A", "B").reason.endswith(f" {line}")
        assert rn.across({"films": one}).remarks[0] == f"films: {line}"


def test_models_that_lack_lists_share_a_remark() -> None:
    """The one that lacks most comes first; without missing lists there is no remark."""
    found = _compare_with_missing_lists(B=2, C=20, D=2)
    assert found.remarks[0].startswith("20 of 30 users have no list from C, 2 from B, 2 from D: ")
    assert "no list" not in str(_compare_with_missing_lists(B=0))
