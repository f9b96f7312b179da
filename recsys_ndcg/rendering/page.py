"""A document as a page: one file that needs no network, with charts and users' lists."""

from __future__ import annotations

import json
import math
import os
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from recsys_ndcg.errors import InvalidInputError, require_libraries
from recsys_ndcg.files import write_file
from recsys_ndcg.glossary import explain, meanings_of
from recsys_ndcg.rendering.parts import Part, Section, ShownTable, UserLists
from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.wording import shorten, shorten_names_in

if TYPE_CHECKING:
    import altair as alt
    import jinja2
    from markupsafe import Markup

    from recsys_ndcg.rendering.plots.vega import Spec

MAX_LIST_SIZE = 500_000  # characters of JSON, about a quarter of a page
_DIGITS = 6
#: Colours of charts, and their variables in the style of a page, for light and dark mode.
_COLOURS = {
    vega.ACCENT: "var(--accent)",
    vega.AGAINST: "var(--against)",
    vega.OTHERS: "var(--others)",
    "#009E73": "var(--third)",
    "#CC79A7": "var(--fourth)",
    "#E69F00": "var(--fifth)",
    "#000000": "var(--ink)",
    "#333333": "var(--ink)",
    "#595959": "var(--soft)",
    "#767676": "var(--soft)",
    "#BBBBBB": "var(--others)",
    "#CCCCCC": "var(--others)",
    "#E6E6E6": "var(--line)",
    "white": "var(--paper)",
    "black": "var(--ink)",
}
#: Keys of users' texts and numbers, which are not colours.
_DATA = {"values", "domain", "text", "title", "description", "datasets"}
#: Keys that the page itself replaces.
_REPLACED = {"$schema", "config", "labelLimit", "description", "width"}

#: Escapes of characters with a meaning in HTML, or that end a line of JavaScript.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
#: A heading with the level of intervals, ``difference [95%]``.
_INTERVAL = re.compile(r"(.*?) ?(\[[\d.]+%\])")
#: First headings of tables whose rows are terms.
_OF_TERMS = {"audit", "count"}
#: The function of Vega that pages use.
_SNIPPET = "window.recsysDraw = vegaEmbed;"
#: Text that would end a script, or hide its end.
_SCRIPT_END = re.compile(r"<(?=/script|!--)", re.IGNORECASE)


def to_page(sections: Sequence[Section], names_to_shorten: Sequence[str], **heading: Any) -> str:
    """Render a document as a page, with long names shortened.

    Parameters
    ----------
    sections, names_to_shorten, **heading
        The fields of a `Document`.

    Raises
    ------
    MissingExtraError
        Jinja2 or, for charts, vl-convert is not installed.
    """
    drawn = any(isinstance(one, Charts) for one in _walk(sections))
    scripts = [*([runtime()] if drawn else []), _read_file("page.js")]
    style = _read_file("page.css")
    policy = (
        f"default-src 'none'; script-src {' '.join(map(_hash, scripts))}; "
        f"style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )
    show = partial(shorten_names_in, names=names_to_shorten)
    page = {"sections": sections, "names_to_shorten": names_to_shorten, **heading}
    texts = {"policy": policy, "style": style, "scripts": scripts}
    return template().render(page=page, show=show, explained=set(), **texts)


def _walk(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield all parts, including folded ones."""
    for one in parts:
        yield one
        if isinstance(one, Section):
            yield from _walk(one.parts)


def to_safe_json(value: Any) -> str:
    r"""Return a value as JSON for a data script, which nothing in it can end.

    Examples
    --------
    >>> print(to_safe_json({"user": "</script>"}))
    {"user":"\u003c/script\u003e"}
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_ESCAPES)


@cache
def _read_file(name: str) -> str:
    """Read a file of this package."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def template() -> jinja2.Template:
    """Load the template of pages."""
    with require_libraries("jinja2", job="A page", extra="report"):
        import jinja2  # noqa: PLC0415 - an extra

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    functions = (break_words, lay_out, pack_lists, to_safe_json)
    environment.globals |= {function.__name__: function for function in functions}
    return environment.from_string(_read_file("page.html.jinja"))


def break_words(name: object, longest: int) -> Markup:
    """Return a short name as HTML that may break after signs, and in words longer than `longest`.

    Examples
    --------
    >>> print(break_words("a_name & <more>", 24))
    a_<wbr>name &amp; &lt;more&gt;
    """
    from markupsafe import Markup  # noqa: PLC0415 - a part of Jinja2

    pieces = re.compile(rf"[^_:/]{{1,{longest}}}[_:/]*|[_:/]+")
    words = (Markup("<wbr>").join(pieces.findall(word)) for word in shorten(name).split(" "))
    return Markup(" ").join(words)


def _hash(text: str) -> str:
    """Return the name of a script or a style in a policy: its digest."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


# Tables


class TableLayout(NamedTuple):
    """A table as a page shows it, with intervals in small print below their numbers.

    Parameters
    ----------
    headings : list of tuple
        Of each column the text, the small print, the meaning, and whether it sorts the rows.
    rows : list of tuple
        Of each cell the text and the small print.
    row_meanings : dict
        The meanings of the rows whose names are terms.
    terms : dict
        The meanings of all terms, for a legend.
    """

    headings: list[tuple[str, str, str, bool]]
    rows: list[tuple[tuple[str, str], ...]]
    row_meanings: dict[str, str]
    terms: dict[str, str]

    def list_new_terms(self, explained: set[str]) -> dict[str, str]:
        """Return the terms that the page has not explained so far, and add them to these."""
        new = {name: meaning for name, meaning in self.terms.items() if name not in explained}
        explained.update(new)
        return new


def lay_out(table: ShownTable, own_names: Sequence[str] = ()) -> TableLayout:
    """Return the layout of a table on a page.

    Examples
    --------
    >>> import pandas as pd
    >>> cells = pd.DataFrame({"model": ["SVD"], "mean": ["0.5000"], "[95%]": ["0.4500–0.5500"]})
    >>> lay_out(ShownTable("Models", cells)).rows
    [(('SVD', ''), ('0.5000', '0.4500–0.5500'))]
    """
    names = [*map(str, table.cells)]
    meanings = meanings_of(name for name in names if name not in own_names)
    headings: list[tuple[str, str, str, bool]] = []
    columns: list[list[tuple[str, str]]] = []
    for place, name in enumerate(names):
        texts: list[str] = table.cells.iloc[:, place].tolist()
        head, small, is_sorted = name, "", place == table.sorted_by
        cells = [(text, "") for text in texts]
        found = _INTERVAL.fullmatch(name) if place >= table.n_left_aligned else None
        if found and found[1]:
            head, small = found[1], found[2]
            halves = [text.partition(" [") for text in texts]
            cells = [(text, f"{sign}{ends}".strip()) for text, sign, ends in halves]
        elif found and columns:  # the ends of the numbers in the column before
            head, *_, is_sorted = headings.pop()
            small, pairs = name, zip(columns.pop(), texts, strict=True)
            cells = [(text, "" if ends == "-" else ends) for (text, _), ends in pairs]
        about = [meanings[one] for one in dict.fromkeys([name, head]) if one in meanings]
        headings.append((head, small, "; ".join(dict.fromkeys(about[::-1])), is_sorted))
        columns.append(cells)
    row_names = table.cells.iloc[:, 0].tolist() if names[0] in _OF_TERMS else []
    row_meanings, terms = meanings_of(row_names), explain([*meanings, *row_names])
    return TableLayout(headings, [*zip(*columns, strict=True)], row_meanings, terms)


# The lists of users


def pack_lists(lists: UserLists, most: int = MAX_LIST_SIZE) -> dict[str, Any]:
    """Return the lists of the first users as JSON of at most `most` characters.

    Examples
    --------
    >>> from recsys_ndcg.rendering.parts import UserLists
    >>> found = pack_lists(UserLists({"model": [{"item": ["x"], "gain": [3.0]}]}, [1.0]))
    >>> found["items"], found["users"]
    (['x'], [[[[0], [3]]]])
    """
    places: dict[str, int] = {}
    columns: list[list[str]] = []
    kept: list[Any] = []
    room = most
    for sides in zip(*lists.sides.values(), strict=True):
        columns = [[*one] for one in sides]
        known = len(places)
        own = [[_pack_values(name, one[name], places) for name in one] for one in sides]
        room -= len(json.dumps(own)) + sum(len(name) + 3 for name in [*places][known:])
        if room < 0:
            break
        kept.append(own)
    return {
        "names": [shorten(name) for name in lists.sides],
        "columns": columns,
        "weights": [_round_number(one) for one in lists.weights],
        "items": [*places],
        "users": kept,
    }


def _pack_values(name: str, values: Iterable[Any], places: dict[str, int]) -> list[Any]:
    if name != "item":
        return [_round_number(value) for value in values]
    return [None if one is None else places.setdefault(shorten(one), len(places)) for one in values]


def _round_number(value: float) -> float | int | None:
    """Return a number with few digits, or None for NaN."""
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


# Charts


class Charts(list[str]):
    """The descriptions of charts, and their Vega-Lite for a page.

    Parameters
    ----------
    chart : altair.TopLevelMixin
        One chart or several.

    Attributes
    ----------
    specs : list of dict
        The Vega-Lite of each.
    notes : list of str
        How to read each, empty if there is nothing to say.
    """

    kind = "charts"

    def __init__(self, chart: alt.TopLevelMixin) -> None:
        spec: Spec = chart.to_dict(validate=False)
        panels = spec.get("concat", [spec])
        super().__init__(one["description"] for one in panels)
        self.specs = [_adapt_to_page(one, spec.get("datasets", {})) for one in panels]
        self.notes = [_join_notes(one["title"].get("subtitle", "")) for one in panels]


def _join_notes(subtitle: str | list[str]) -> str:
    """Return the subtitle of a chart, whose lines Vega would not wrap, as one text."""
    lines = [subtitle] if isinstance(subtitle, str) else subtitle
    return "; ".join(lines).replace(":; ", ": ")


def _adapt_to_page(panel: Spec, datasets: Spec) -> Spec:
    """Return the specification of a chart with only its data, without what the page replaces."""
    names = {one["data"].get("name") for one in panel["layer"]}
    return {
        **_replace_colours(panel),
        "datasets": {name: rows for name, rows in datasets.items() if name in names},
        "height": float(panel["height"]),
        "title": {"text": panel["title"]["text"]},
    }


def _replace_colours(part: Any, name: str = "") -> Any:
    if name in _DATA:
        return part
    if isinstance(part, dict):
        return {
            key: _replace_colours(value, key) for key, value in part.items() if key not in _REPLACED
        }
    if isinstance(part, list):
        return [_replace_colours(one) for one in part]
    return _COLOURS.get(part, part) if isinstance(part, str) else part


@cache
def runtime() -> str:
    """Return the script that defines ``recsysDraw``.

    Building it takes seconds, so it is cached in the user's cache folder, if there is one.

    Raises
    ------
    MissingExtraError
        vl-convert is not installed.
    """
    with require_libraries("vl_convert", job="A page with charts", extra="report"):
        import vl_convert  # noqa: PLC0415 - an extra

        with suppress(OSError, ValueError, RuntimeError):
            return _cache_path().read_text(encoding="utf-8")
        bundle = vl_convert.javascript_bundle(_SNIPPET)
    script = _SCRIPT_END.sub(r"\\x3c", bundle.replace("\r\n", "\n").replace("\r", "\n"))
    with suppress(OSError, InvalidInputError, RuntimeError):
        _cache_path().parent.mkdir(parents=True, exist_ok=True)
        write_file(_cache_path(), script)
    return script


def _cache_path() -> Path:
    """Return the file of the cached script; raise RuntimeError if the user has no home."""
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    folder = chosen if chosen.is_absolute() else Path.home() / ".cache"
    digest = sha256(_SNIPPET.encode()).hexdigest()[:12]
    return folder / "recsys-ndcg" / f"vega-{version('vl-convert-python')}-{digest}.bundle.js"
