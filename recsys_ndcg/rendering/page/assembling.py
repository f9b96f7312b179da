"""From the parts of a page to its text."""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import needing
from recsys_ndcg.files.writing import write_whole
from recsys_ndcg.rendering.page.parts import Chart, Fold, Panels
from recsys_ndcg.rendering.page.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import jinja2

    from recsys_ndcg.rendering.page.parts import Page, Part

#: Signs that mean something in HTML, or end a line of JavaScript.
_ACTING = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def assembled(page: Page) -> str:
    """Return a page as text.

    Raises
    ------
    MissingExtraError
        Jinja2 is not installed, or what draws the charts.
    """
    drawn = any(isinstance(one, Chart) for one in _parts(page))
    scripts = [*([runtime()] if drawn else []), _own("page.js")]
    style = _own("page.css")
    policy = (
        f"default-src 'none'; script-src {' '.join(map(_hashed, scripts))}; "
        f"style-src {_hashed(style)}; base-uri 'none'; form-action 'none'"
    )
    return template().render(page=page, policy=policy, style=style, scripts=scripts)


def written(page: Page, path: str | Path | None) -> str:
    """Return a page as text, and write it if a path is given."""
    text = assembled(page)
    if path is not None:
        write_whole(path, text)
    return text


def data_of(value: Any) -> str:
    r"""Return a value as JSON for a script that is not run; nothing in it ends the script.

    Examples
    --------
    >>> print(data_of({"user": "</script>"}))
    {"user":"\u003c/script\u003e"}
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_ACTING)


def _parts(page: Page) -> Iterator[Part]:
    """Give all parts, those in folds too."""

    def inside(parts: Sequence[Part]) -> Iterator[Part]:
        for one in parts:
            yield one
            if isinstance(one, Fold | Panels):
                yield from inside(one.parts)

    for section in page.sections:
        yield from inside(section.parts)


@cache
def _own(name: str) -> str:
    """Return a file of this room."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def template() -> jinja2.Template:
    """Return the template of all pages."""
    with needing("jinja2", job="A page", extra="report"):
        import jinja2  # noqa: PLC0415 - an extra
        import markupsafe  # noqa: PLC0415 - which it is made of

    def as_it_is(text: str) -> markupsafe.Markup:
        return markupsafe.Markup(text)  # noqa: S704 - our own scripts, and `data_of`

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["data"] = lambda value: as_it_is(data_of(value))
    environment.filters["as_it_is"] = as_it_is
    return environment.from_string(_own("page.html.jinja"))


def _hashed(text: str) -> str:
    """Return how a policy names a script or a style: by its digest."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
