"""A notebook shows everything that a person holds in it as HTML, whatever the names are."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recsys_ndcg as rn
from tests.rendering.parsed import Parsed

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
#: The first cell, which defines what the others show.
SET_UP = textwrap.dedent("""
    import warnings
    import recsys_ndcg as rn

    warnings.simplefilter("ignore", rn.DataWarning)
    NAMES = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "<!-- a & b", "ann"]

    def rows(turn):
        return [
            (user, NAMES[(place + step) % 4], (step * turn + place) % 5 + step / 9, 1.0 + step)
            for place, user in enumerate(NAMES)
            for step in range(3)
        ]

    def gain(grade):
        return grade + 1.0

    gain.__name__ = NAMES[0]
    train = [(user, item, 3.0) for user in NAMES for item in NAMES[:3]]
    plain = {"metrics": ["ndcg@3", "recall@2"], "threshold": 2}
    report = rn.evaluate(rows(2), convention=rn.Convention(gain=gain), **plain)
    other = rn.evaluate(rows(3), convention=rn.Convention(gain=gain), **plain)
    comparison = rn.compare({NAMES[0]: report, NAMES[1]: other}, by=dict(zip(NAMES, NAMES[::-1])))
    weights = rn.propensity(train, gamma=1)
    weighted, *others = [rn.evaluate(rows(n), weights=weights, **plain) for n in (2, 3, 4)]
    published = "HR@10 0.69, leave-one-out, 100 negatives, ML-1M"
""")
#: Expressions of what a person holds.
SHOWN = [
    "report",
    "report.summary",
    "report.explain(NAMES[0])",
    "report.by(dict(zip(NAMES, NAMES[::-1])))",
    "report.by_items(dict(zip(NAMES, NAMES[::-1])))",
    "weighted.sensitivity(others=dict(zip(NAMES, others)), metric='recall@2')",
    "comparison",
    "comparison.segments",
    "comparison.movers(2)",
    "rn.reconcile(rows(2), 'ndcg@3', threshold=2)",
    "rn.check_split(train, [(user, item, 1.0) for user, item, _ in train[:5]])",
    "rn.explain_number(published)",
    "rn.RankedLists.from_tuples(rows(2))",
    "rn.RankedLists.from_labels({NAMES[0]: {NAMES[1]}}, {NAMES[0]: [NAMES[1], NAMES[2]]})",
    "rn.Convention(gain=gain, ties='input')",
    "rn.Convention.preset('sklearn')",
    "report.signature('ndcg@3')",
]
#: The beginnings of those that show no names of users, items, models and functions.
NAMELESS = ("report.summary", "rn.reconcile(", "rn.explain_number(", "rn.Convention.preset(")
TAGS = {
    "div", "p", "strong", "details", "summary", "code", "br", "ul", "li", "table", "thead",
    "tbody", "tr", "th", "td", "style",
}  # fmt: skip
ATTRIBUTES = {"border", "class", "style", "scoped", "rowspan", "colspan", "halign", "valign"}


@pytest.fixture(name="known", scope="module")
def _known() -> dict[str, Any]:
    """Return the names of the first cell."""
    known: dict[str, Any] = {}
    exec(SET_UP, known)  # noqa: S102 - our own
    return known


def check(html: str, expression: str) -> None:
    """Check that HTML has only tags of tables and text, and shows a name as it is."""
    found = Parsed(f"<div>{html}</div>")
    assert {tag for tag, _ in found.tags} <= TAGS
    for _, attributes in found.tags:
        assert attributes.keys() <= ATTRIBUTES
    assert len(html) < 30_000
    if not expression.startswith(NAMELESS):
        assert "<script>alert(1)</script>" in found.text, found.text


@pytest.mark.parametrize("expression", SHOWN)
def test_names_are_only_shown(expression: str, known: dict[str, Any]) -> None:
    """As text, in tables that a notebook shows."""
    shown = eval(expression, known)  # noqa: S307 - our own
    check(shown._repr_html_(), expression)


def test_lists_are_counted_and_begin_with_the_best_item() -> None:
    """Also lists without estimates, labels, items or users."""
    rows = [("ann", "a", 3.0, 5), ("ann", "b", 4.5, None), ("bob", "c", 1.0, 2)]
    lists = rn.RankedLists.from_tuples(rows)
    counts, first = _tables(lists._repr_html_())
    assert counts[1] == ["2", "3", "3", "1, 1.5, 2", "66.7%", "0", "0"]
    assert first[1:] == [["ann", "b", "4.5", "-"], ["ann", "a", "3", "5"], ["bob", "c", "1", "2"]]
    labels = {"ann": {"x", "y"}, "bob": {"x"}}
    counts, first = _tables(rn.RankedLists.from_labels(labels, {"ann": ["z", "x"]})._repr_html_())
    assert counts[1] == ["2", "3", "2", "0, 1, 2", "50.0%", "2", "1"]
    assert first == [["user", "item", "true"], ["ann", "z", "-"], ["ann", "x", "1"]]
    counts, first = _tables(rn.RankedLists.from_tuples({7: [(4.5, 5)]})._repr_html_())
    assert first == [["user", "estimated", "true"], ["7", "4.5", "5"]]
    many = rn.RankedLists.from_tuples({user: [(9 - n, n) for n in range(9)] for user in range(9)})
    _, first = _tables(many._repr_html_())
    assert [row[0] for row in first[1:]] == ["0"] * 4 + ["1"] * 4 + ["2"] * 4
    (counts,) = _tables(lists._data.take(np.arange(0))._repr_html_())
    assert counts[1] == ["0", "3", "0", "-", "-", "0", "0"]


def test_changed_choices_are_marked() -> None:
    """With the default that they replace; choices of measures beyond accuracy are folded."""
    convention = rn.Convention(ties="input", tail="rarest")
    html = convention._repr_html_()
    shown, folded = _tables(html)
    changed = {row[0]: row[1:3] for row in shown[1:] if row[2]}
    assert changed == {"ties": ["input", "expected"], "tail": ["rarest", "reach"]}
    bold = re.findall("<strong>(.*?)</strong>", html)
    assert bold == ["ties", "input", "tail", "rarest"]
    names = [row[0] for row in (*shown[1:], *folded[1:])]
    assert sorted(names) == sorted(rn.Convention.field_names())
    assert "2 choices changed from the defaults" in html
    assert "made from the preset sklearn for ndcg" in rn.Convention.preset("sklearn")._repr_html_()


def test_a_signature_is_short_and_opens_to_every_choice() -> None:
    """And says which are not defaults."""
    linear = rn.Convention(gain="linear")
    rows = {"ann": [(4.5, 5), (3.0, 2)]}
    report = rn.evaluate(rows, metrics="ndcg@2", convention=linear, threshold=4)
    signature = report.signature("ndcg@2")
    html = signature._repr_html_()
    above, _, folded = html.partition("<details>")
    assert Parsed(above).text == signature.short
    (table,) = _tables(folded.removesuffix("</details>"))
    assert {row[0]: row[1] for row in table[1:]} == dict(
        part.split(":", 1) for part in signature.text.split("|")[1:]
    )
    assert [row[0] for row in table[1:] if row[2]] == ["gain", "threshold"]


@pytest.mark.slow
def test_a_notebook_has_html_for_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Jupyter's own kernel."""
    nbformat = pytest.importorskip("nbformat", reason="pip install -e '.[ci]'")
    nbclient = pytest.importorskip("nbclient", reason="pip install -e '.[ci]'")
    pytest.importorskip("ipykernel", reason="pip install -e '.[ci]'")
    monkeypatch.setenv("PYTHONPATH", str(Path(rn.__file__).parents[1]))
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    cells = [nbformat.v4.new_code_cell(code) for code in (SET_UP, *SHOWN)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=where).execute()
    for expression, cell in zip(SHOWN, notebook.cells[1:], strict=True):
        (output,) = cell.outputs
        assert {"text/html", "text/plain"} <= output.data.keys(), expression
        check(output.data["text/html"], expression)


def _tables(html: str) -> list[list[list[str]]]:
    """Return the cells of each table."""
    found = re.findall("<table.*?</table>", html, re.DOTALL)
    return [Parsed(one).cells for one in found]
