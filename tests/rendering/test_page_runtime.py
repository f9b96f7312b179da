"""The script that draws the charts of a page is built once, and cached."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

import recsys_ndcg as rn
from recsys_ndcg.rendering import page as assembling

vl_convert = pytest.importorskip("vl_convert")


@pytest.fixture(name="built")
def _built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Count how often it is built, with an empty cache."""
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


def test_it_is_built_once_and_cached(built: list[str], tmp_path: Path) -> None:
    """In a file named by its version; it ends no script and has the usual line ends."""
    first = assembling.runtime()
    assert (again(), len(built)) == (first, 1)
    assert not [one for one in ("</script", "<!--", "\r") if one in first]
    (kept,) = (tmp_path / "kept" / "recsys-ndcg").iterdir()
    assert kept.name.startswith(f"vega-{version('vl-convert-python')}-")
    assert kept.read_text(encoding="utf-8") == first


def test_it_works_without_a_cache(
    built: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the folder is a file, or there is no home."""
    (tmp_path / "kept").write_text("no folder")
    assert again()
    again()
    assert len(built) == 2
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("pathlib.Path.home", lambda: (_ for _ in ()).throw(RuntimeError("none")))
    again()
    assert len(built) == 3


@pytest.mark.parametrize("library", ["vl_convert", "altair", "jinja2"])
@pytest.mark.usefixtures("built")
def test_a_missing_extra_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it."""
    report = rn.evaluate({"ann": [(4, 5), (3, 2)], "bob": [(1, 2), (2, 1)]})
    monkeypatch.setitem(sys.modules, library, None)
    assembling.template.cache_clear()
    with pytest.raises(rn.MissingExtraError, match=rf"needs {library}, .*Run: pip install "):
        report.to_html()
    assembling.template.cache_clear()


def test_the_real_script_is_about_a_megabyte() -> None:
    """It ends with the function that pages call."""
    script = again()
    assert "window.recsysDraw" in script[-100:]
    assert len(script.encode()) < 1_100_000
    assert "\r" not in script
