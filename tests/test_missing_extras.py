"""What each job says whose library is absent, or there and broken."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

CHECKOUT = Path(__file__).parent.parent
EXTRAS = {
    "surprise": "surprise",
    "joblib": "surprise",
    "pyarrow": "scale",
    "jinja2": "report",
    "tabulate": "report",
    "altair": "report",
    "vl_convert": "report",
    "typer": "cli",
    "rich": "cli",
}
#: Of libraries behind one door, only one at a time is faked.
TOGETHER = [
    ("surprise", "pyarrow", "jinja2", "tabulate", "altair", "typer"),
    ("joblib", "rich", "vl_convert"),
]
#: Goes through the door of each library that is named, and prints what it says.
DOORS = """
import json, os, sys
path, *names = sys.argv[1:]
for name in names:
    if not os.path.exists(f"{path}/{name}"):
        sys.modules[name] = None
import recsys_ndcg as rn
from recsys_ndcg.rendering.plots.vega import svg

report = rn.evaluate({"ann": [(2.0, 1.0), (1.0, 2.0)]})
open(f"{path}/ratings.parquet", "w").close()
doors = {
    "surprise": lambda: __import__("recsys_ndcg.surprise"),
    "joblib": lambda: __import__("recsys_ndcg.surprise"),
    "pyarrow": lambda: rn.evaluate(f"{path}/ratings.parquet"),
    "jinja2": report.to_latex,
    "tabulate": report.to_markdown,
    "altair": report.plot,
    "vl_convert": lambda: svg(report.plot()),
    "typer": lambda: __import__("recsys_ndcg.cli"),
    "rich": lambda: __import__("recsys_ndcg.cli"),
}
said = {}
for name in names:
    try:
        doors[name]()
    except (rn.MissingExtraError, SystemExit) as error:
        said[name] = str(error)
print(json.dumps(said))
"""


def said(path: Path, source: str = "", libraries: Iterable[str] = EXTRAS) -> dict[str, str]:
    """Return what is said where packages of this source stand before the real ones, or none do."""
    found: dict[str, str] = {}
    for number, together in enumerate(TOGETHER):
        names = [name for name in together if name in libraries]
        folder = path / str(number)
        folder.mkdir()
        for name in names if source else ():
            (folder / name).mkdir()
            (folder / name / "__init__.py").write_text(source, encoding="utf-8")
        places = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        done = subprocess.run(  # noqa: S603 - our own
            [sys.executable, "-c", DOORS, str(folder), *names],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        )
        found |= json.loads(done.stdout)
    return found


def to_install(extra: str) -> str:
    """Return what is installed for an extra where these tests run: the shortest way to this."""
    place = min(str(CHECKOUT), os.path.relpath(CHECKOUT), key=len)
    return f"-e {shlex.quote(f'{place}[{extra}]')}"


def copied(folder: Path) -> Path:
    """Put the package into a folder, as pip does; return the folder."""
    shutil.copytree(
        CHECKOUT / "recsys_ndcg",
        folder / "recsys_ndcg",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    return folder


def advice(package: Path, standing: Path) -> list[str]:
    """Return the command that a package in a folder names somewhere, as a shell reads it."""
    script = (
        "import recsys_ndcg as rn; print(rn.MissingExtraError(job='', extra='cli', library=''))"
    )
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=standing,
        env={**os.environ, "PYTHONPATH": str(package)},
    )
    assert done.stdout.count("\n") == 1
    return shlex.split(done.stdout.partition("Run: ")[2])


def test_an_installed_package_is_brought_by_its_name(tmp_path: Path) -> None:
    """Whatever project it lies in."""
    by_name = ["pip", "install", "recsys-ndcg[cli]"]
    package = copied(tmp_path)
    assert advice(package, tmp_path) == by_name
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'of-somebody-else'\n")
    assert advice(package, tmp_path) == by_name
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe")
    assert advice(package, tmp_path) == by_name


@pytest.mark.parametrize("name", ["clone", "it's a clone"])
def test_a_checkout_is_brought_from_where_it_lies(tmp_path: Path, name: str) -> None:
    """As no index has it: by the way from where one stands, or whole, whichever is shorter."""
    package = copied(tmp_path / name)
    shutil.copy(CHECKOUT / "pyproject.toml", package)
    (package / "examples").mkdir()
    command = ["pip", "install", "-e"]
    assert advice(package, package) == [*command, ".[cli]"]
    assert advice(package, package / "examples") == [*command, "..[cli]"]
    assert advice(package, tmp_path) == [*command, f"{name}[cli]"]
    assert advice(package, Path("/")) == [*command, f"{str(package).removeprefix('/')}[cli]"]


def test_what_is_absent_is_said_to_be(tmp_path: Path) -> None:
    """With the extra that brings it."""
    found = said(tmp_path)
    for name, extra in EXTRAS.items():
        assert f" needs {name}, which is not installed. Run: pip install " in found[name]
        assert found[name].endswith(to_install(extra))


@pytest.mark.parametrize(
    ("source", "quoted"),
    [
        ("raise ImportError('lib.so.3: cannot open it\\nand so on')", "lib.so.3: cannot open it"),
        ("import what_it_needs", "No module named 'what_it_needs'"),
    ],
)
def test_what_is_there_and_fails_is_quoted(tmp_path: Path, source: str, quoted: str) -> None:
    """Its first line, and where it stands; nobody is told that it is not installed."""
    found = said(tmp_path, source)
    for name, extra in EXTRAS.items():
        text = found[name]
        assert re.search(rf" needs {name}, which is there \(.*{name}.__init__.py\) but", text), text
        assert f"cannot be used: {quoted}. " in text
        assert "not installed" not in text
        assert "\n" not in text
        assert text.endswith(f"--force-reinstall --no-cache-dir {to_install(extra)}")


def test_a_library_built_for_another_numpy_is_quoted(tmp_path: Path) -> None:
    """Which is no ImportError: Cython raises a ValueError, and numpy's lines begin with none."""
    libraries = EXTRAS.keys() - {"pyarrow"}  # which pandas imports itself
    found = said(tmp_path, "raise ValueError('\\n\\nnumpy.dtype size changed.')", libraries)
    assert found.keys() == libraries
    assert all("cannot be used: numpy.dtype size changed. Unless" in one for one in found.values())


def test_what_is_too_old_for_pandas_is_quoted(tmp_path: Path) -> None:
    """It imports, and pandas refuses it."""
    libraries = {"jinja2", "tabulate"}
    found = said(tmp_path, "__version__ = '0.1'", libraries)
    assert found.keys() == libraries
    for name in libraries:
        assert re.search(rf"{name}.*cannot be used: .*\b0\.1\b", found[name]), found[name]


def test_a_script_that_is_called_surprise_is_named(tmp_path: Path) -> None:
    """Python finds it before the library."""
    found = said(tmp_path, "import math", ["surprise"])
    assert "surprise/__init__.py) but cannot be used: No module named" in found["surprise"]
    assert "Unless that is a file of yours" in found["surprise"]
