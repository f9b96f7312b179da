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
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, require_libraries
from recsys_ndcg.files import write_whole
from recsys_ndcg.glossary import meanings_of
from recsys_ndcg.rendering.parts import Part, Section, UserLists
from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.wording import cut, with_cut_names

if TYPE_CHECKING:
    import altair as alt
    import jinja2

    from recsys_ndcg.rendering.forms import Document
    from recsys_ndcg.rendering.plots.vega import Spec

MOST = 500_000  # signs of JSON, about a quarter of a page
_DIGITS = 6
#: Colours of charts, and what a page calls them: its style says which they are by day and night.
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
#: Where people's own words and numbers stand, in which no colour is meant.
_DATA = {"values", "domain", "text", "title", "description", "datasets"}
#: What a page says outside of a chart, or by its width.
_LEFT_OUT = {"$schema", "config", "labelLimit", "description", "width"}

#: Signs that mean something in HTML, or end a line of JavaScript.
_ACTING = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
#: All that a page takes of Vega.
_SNIPPET = "window.recsysDraw = vegaEmbed;"
#: What would end a script, or hide its end.
_ENDS = re.compile(r"<(?=/script|!--)", re.IGNORECASE)


def to_page(document: Document) -> str:
    """Return a document as a page, in which no name is without end.

    Raises
    ------
    MissingExtraError
        Jinja2 is not installed, or what draws the charts.
    """
    drawn = any(isinstance(one, Charts) for one in _every(document.parts))
    scripts = [*([runtime()] if drawn else []), _own("page.js")]
    style = _own("page.css")
    policy = (
        f"default-src 'none'; script-src {' '.join(map(_hashed, scripts))}; "
        f"style-src {_hashed(style)}; base-uri 'none'; form-action 'none'"
    )
    said = partial(with_cut_names, names=document.names)
    return template().render(page=document, said=said, policy=policy, style=style, scripts=scripts)


def _every(parts: Sequence[Part]) -> Iterator[Part]:
    """Give all parts, those that somebody may open, too."""
    for one in parts:
        yield one
        if isinstance(one, Section):
            yield from _every(one.parts)


def data_of(value: Any) -> str:
    r"""Return a value as JSON for a script that is not run; nothing in it ends the script.

    Examples
    --------
    >>> print(data_of({"user": "</script>"}))
    {"user":"\u003c/script\u003e"}
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_ACTING)


@cache
def _own(name: str) -> str:
    """Return a file of this room."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def template() -> jinja2.Template:
    """Return the template of all pages."""
    with require_libraries("jinja2", job="A page", extra="report"):
        import jinja2  # noqa: PLC0415 - an extra

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals |= {
        "cut": cut,
        "packed": packed,
        "data": data_of,
        "meanings_of": meanings_of,
    }
    return environment.from_string(_own("page.html.jinja"))


def _hashed(text: str) -> str:
    """Return how a policy names a script or a style: by its digest."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


# The lists of users


def packed(lists: UserLists, most: int = MOST) -> dict[str, Any]:
    """Return the lists of as many users as `most` signs of JSON have room for, in their order.

    Examples
    --------
    >>> from recsys_ndcg.rendering.parts import UserLists
    >>> found = packed(UserLists({"model": [{"item": ["x"], "gain": [3.0]}]}, [1.0]))
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
        own = [[_values(name, one[name], places) for name in one] for one in sides]
        room -= len(json.dumps(own)) + sum(len(name) + 3 for name in [*places][known:])
        if room < 0:
            break
        kept.append(own)
    return {
        "names": [cut(name) for name in lists.sides],
        "columns": columns,
        "weights": [_short(one) for one in lists.weights],
        "items": [*places],
        "users": kept,
    }


def _values(name: str, values: Iterable[Any], places: dict[str, int]) -> list[Any]:
    if name != "item":
        return [_short(value) for value in values]
    return [None if one is None else places.setdefault(cut(one), len(places)) for one in values]


def _short(value: float) -> float | int | None:
    """Return a number in few digits, None where there is none."""
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


# Charts


class Charts(list[str]):
    """What charts beside each other show, a sentence each, and their Vega-Lite for a page.

    Parameters
    ----------
    chart : altair.TopLevelMixin
        Several of them, or one.
    """

    kind = "charts"

    def __init__(self, chart: alt.TopLevelMixin) -> None:
        spec: Spec = chart.to_dict(validate=False)
        panels = spec.get("concat", [spec])
        super().__init__(one["description"] for one in panels)
        self.specs = [_for_a_page(one, spec.get("datasets", {})) for one in panels]


def _for_a_page(panel: Spec, datasets: Spec) -> Spec:
    """Return a chart with its own data, and without what the page says itself."""
    names = {one["data"].get("name") for one in panel["layer"]}
    return {
        **_coloured(panel),
        "datasets": {name: rows for name, rows in datasets.items() if name in names},
        "height": float(panel["height"]),
        "title": {"text": panel["title"]["text"]},
    }


def _coloured(part: Any, name: str = "") -> Any:
    if name in _DATA:
        return part
    if isinstance(part, dict):
        return {key: _coloured(value, key) for key, value in part.items() if key not in _LEFT_OUT}
    if isinstance(part, list):
        return [_coloured(one) for one in part]
    return _COLOURS.get(part, part) if isinstance(part, str) else part


@cache
def runtime() -> str:
    """Return the script that defines ``recsysDraw``.

    Making it takes seconds, so that it is kept in the folder for caches, if there is one.

    Raises
    ------
    MissingExtraError
        vl-convert is not installed.
    """
    with require_libraries("vl_convert", job="A page with charts", extra="report"):
        import vl_convert  # noqa: PLC0415 - an extra

        with suppress(OSError, ValueError, RuntimeError):
            return _kept().read_text(encoding="utf-8")
        made = vl_convert.javascript_bundle(_SNIPPET)
    script = _ENDS.sub(r"\\x3c", made.replace("\r\n", "\n").replace("\r", "\n"))
    with suppress(OSError, InvalidInputError, RuntimeError):
        _kept().parent.mkdir(parents=True, exist_ok=True)
        write_whole(_kept(), script)
    return script


def _kept() -> Path:
    """Return the file in which the script is kept; raise RuntimeError for who has no home."""
    told = Path(os.environ.get("XDG_CACHE_HOME", ""))
    folder = told if told.is_absolute() else Path.home() / ".cache"
    known = sha256(_SNIPPET.encode()).hexdigest()[:12]
    return folder / "recsys-ndcg" / f"vega-{version('vl-convert-python')}-{known}.bundle.js"
