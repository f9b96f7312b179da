"""A parsed page, and what must be true of every page."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any
from unicodedata import category

_VOID = {"meta", "br", "input"}


class Parsed(HTMLParser):
    """The tags, texts and scripts of a page, in which every tag is closed.

    Parameters
    ----------
    page : str
        The whole of it.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.data: list[Any] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.cells: list[list[str]] = []
        self._open: list[tuple[str, dict[str, str]]] = []
        self.feed(page)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open a tag; places where a name may break are no tags."""
        if tag == "wbr":
            return
        found = {name: value or "" for name, value in attrs}
        assert len(found) == len(attrs)
        self.tags.append((tag, found))
        if tag not in _VOID:
            self._open.append((tag, found))
            self.texts.append("")
        if tag == "tr":
            self.cells.append([])
        if tag in {"th", "td"}:
            self.cells[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        """Close the last one."""
        assert self._open.pop()[0] == tag
        self.texts.append("")

    def handle_data(self, data: str) -> None:
        """Keep the text of a tag."""
        tag, attributes = self._open[-1] if self._open else ("", {})
        if tag == "script":
            plain = attributes.get("type") == "application/json"
            (self.data if plain else self.scripts).append(json.loads(data) if plain else data)
        elif tag == "style":
            self.styles.append(data)
        else:
            self.texts[-1:] = ["".join([*self.texts[-1:], data])]
            if any(name in {"th", "td"} for name, _ in self._open):
                self.cells[-1][-1] += data

    def named(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of every tag of a name."""
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def text(self) -> str:
        """All visible text."""
        return " ".join(" ".join(self.texts).split())

    @property
    def policy(self) -> dict[str, list[str]]:
        """Its content security policy, by directive."""
        name = "Content-Security-Policy"
        (text,) = [one["content"] for one in self.named("meta") if one.get("http-equiv") == name]
        return {words[0]: words[1:] for words in map(str.split, text.split(";"))}


def harmless(page: str) -> Parsed:
    """Parse a page, and check that it runs only what its policy names, and fetches nothing."""
    found = Parsed(page)
    assert found.policy == {
        "default-src": ["'none'"], "base-uri": ["'none'"], "form-action": ["'none'"],
        "script-src": [*map(_digest, found.scripts)], "style-src": [*map(_digest, found.styles)],
    }  # fmt: skip
    assert len(found.styles) == 1
    assert 1 <= len(found.scripts) <= 2
    for tag, attributes in found.tags:
        assert not {name for name in attributes if name.startswith("on")}
        assert not attributes.keys() & {"src", "style", "srcdoc", "action", "formaction"}
        assert tag not in {"img", "iframe", "object", "embed", "base", "form", "link", "svg"}
        assert re.fullmatch(r"#[a-z-]+", attributes.get("href", "#a"))
        assert re.fullmatch(r"[a-z0-9-]+", attributes.get("id", "a"))
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len({*ids}) == len(ids)
    own = page
    for script in found.scripts:
        own = own.replace(script, "")
    marks = set("\n\u200c\u200d\u2068\u2069")  # the last two are around names, in pairs
    assert {one for one in own if category(one) in {"Cc", "Cf", "Cs"}} <= marks
    assert own.count("\u2068") == own.count("\u2069")
    return found


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
