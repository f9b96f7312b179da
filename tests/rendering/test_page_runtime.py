"""What draws the charts of a page is made once, and kept."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest

import recsys_ndcg as rn
from recsys_ndcg.rendering import page as assembling

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

vl_convert = pytest.importorskip("vl_convert")


@pytest.fixture(name="made")
def _made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Count how often it is made; nothing that others have kept is seen."""
    found: list[str] = []

    def bundle(snippet: str) -> str:
        found.append(snippet)
        return f"/* ü */ '</script>'; '<!--'; {len(found)};\r\n{snippet}"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "kept"))
    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    assembling.runtime.cache_clear()
    yield found
    assembling.runtime.cache_clear()


def again() -> str:
    """Return it as another process would."""
    assembling.runtime.cache_clear()
    return assembling.runtime()


def test_it_is_made_once_and_kept(made: list[str], tmp_path: Path) -> None:
    """In the folder for caches, under its version; it neither ends a script nor has odd lines."""
    first = assembling.runtime()
    assert again() == first
    assert len(made) == 1
    assert "</script" not in first
    assert "<!--" not in first
    assert "\r" not in first
    (kept,) = (tmp_path / "kept" / "recsys-ndcg").iterdir()
    assert kept.name.startswith(f"vega-{version('vl-convert-python')}-")
    assert kept.read_text(encoding="utf-8") == first


def test_where_nothing_can_be_kept_nothing_is(
    made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is a file, or there is no home."""
    (tmp_path / "kept").write_text("no folder")
    assert assembling.runtime()
    again()
    assert len(made) == 2
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("pathlib.Path.home", lambda: (_ for _ in ()).throw(RuntimeError("none")))
    again()
    assert len(made) == 3


@pytest.mark.parametrize("library", ["vl_convert", "altair", "jinja2"])
@pytest.mark.usefixtures("made")
def test_an_extra_that_is_missing_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what installs it."""
    report = rn.evaluate({"ann": [(4, 5), (3, 2)], "bob": [(1, 2), (2, 1)]})
    monkeypatch.setitem(sys.modules, library, None)
    assembling.template.cache_clear()
    with pytest.raises(rn.MissingExtraError, match=rf"needs {library}, .*\[report\]"):
        report.to_html()
    assembling.template.cache_clear()


def test_the_real_one_is_about_a_megabyte() -> None:
    """And ends with what a page takes of it."""
    assembling.runtime.cache_clear()
    script = assembling.runtime()
    assert "window.recsysDraw" in script[-100:]
    assert len(script.encode()) < 1_100_000
    assert "\r" not in script
