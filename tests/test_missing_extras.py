"""Messages of tasks whose optional library is not installed, or fails to import."""

from __future__ import annotations

import ast
import json
import pickle
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.errors import checks
from tests.commands import run_python
from tests.package_size import FILES

CHECKOUT = Path(__file__).parent.parent
EXTRAS = {
    "surprise": "surprise", "joblib": "surprise", "pyarrow": "scale", "jinja2": "report",
    "tabulate": "report", "altair": "report", "vl_convert": "report", "rich": "cli",
    "sklearn": "sklearn", "torchmetrics": "torch", "keras": "keras", "mlflow": "mlflow",
    "cyclopts": "cli",
}  # fmt: skip
#: Only one library of a task can be missing at a time.
ROUNDS = [
    ("surprise", "pyarrow", "jinja2", "tabulate", "altair", "cyclopts"),
    ("joblib", "rich", "vl_convert", "sklearn", "torchmetrics", "keras", "mlflow"),
]
#: Starts a task that needs each named library, and prints the messages.
SCRIPT = """
import json, os, sys
path, *names = sys.argv[1:]
for name in names:
    if not os.path.exists(f"{path}/{name}"):
        sys.modules[name] = None
import recsys_ndcg as rn
from recsys_ndcg.rendering.plots.vega import to_svg

report = rn.evaluate({"ann": [(2.0, 1.0), (1.0, 2.0)]})
open(f"{path}/ratings.parquet", "w").close()
tasks = {
    "surprise": lambda: __import__("recsys_ndcg.surprise"),
    "joblib": lambda: __import__("recsys_ndcg.surprise"),
    "pyarrow": lambda: rn.evaluate(f"{path}/ratings.parquet"),
    "jinja2": report.to_latex,
    "tabulate": report.to_markdown,
    "altair": report.plot,
    "vl_convert": lambda: to_svg(report.plot()),
    "cyclopts": lambda: __import__("recsys_ndcg.cli"),
    "rich": lambda: __import__("recsys_ndcg.cli"),
    "sklearn": lambda: rn.integrations.scorer("ndcg@10"),
    "torchmetrics": lambda: rn.integrations.torchmetric("ndcg@10"),
    "keras": lambda: rn.integrations.keras_callback("ndcg@10", [[0]], [1], [1]),
    "mlflow": lambda: rn.integrations.mlflow_metric("ndcg@10"),
}
messages = {}
for name in names:
    try:
        tasks[name]()
    except (rn.MissingExtraError, SystemExit) as error:
        messages[name] = str(error)
print(json.dumps(messages))
"""


def messages_without(
    path: Path, source: str = "", libraries: Iterable[str] = EXTRAS
) -> dict[str, str]:
    """Return the messages if libraries have this source, or if they are not installed."""
    messages: dict[str, str] = {}
    for number, together in enumerate(ROUNDS):
        names = [name for name in together if name in libraries]
        folder = path / str(number)
        folder.mkdir()
        for name in names if source else ():
            (folder / name).mkdir()
            (folder / name / "__init__.py").write_text(source, encoding="utf-8")
        messages |= json.loads(run_python("-c", SCRIPT, folder, *names, paths=[folder]).stdout)
    assert messages.keys() == set(libraries)
    assert all("\n" not in one for one in messages.values())
    return messages


def message_of(library: str) -> str:
    """Return the message for one library."""
    with (
        pytest.raises(rn.MissingExtraError) as caught,
        checks.require_libraries(library, job="This", extra="cli"),
    ):
        pass
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301
    return str(caught.value)


def install_command(message: str) -> list[str]:
    """Return the command of a message as a shell reads it."""
    return shlex.split(message.partition("un: ")[2])


#: As backends write extras of extras: some list their libraries again, others name the extras.
DECLARED = [
    "numpy>=2.0", "cyclopts>=5.0; extra == 'cli'", 'rich>=13 ; extra == "cli"',
    "rich>=13; extra == 'surprise'", "scikit-surprise>=1.1.5; extra == 'surprise'",
    "recsys-ndcg[cli,surprise]; extra == 'all'", "recsys-ndcg[all,test]; extra == 'ci'",
    "pytest>=8; python_version > '3' and extra == 'test'", "recsys-ndcg[ci]; extra == 'test'",
]  # fmt: skip
CLI = ["cyclopts>=5.0", "rich>=13"]


@pytest.mark.parametrize("project", [None, b"[project]\nname = 'another'\n", b"\xff\xfe"])
def test_an_installed_package_names_the_libraries(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, project: bytes | None
) -> None:
    """Not itself, as no index has it; also inside another project."""
    monkeypatch.setattr(checks, "_CHECKOUT", tmp_path)
    monkeypatch.setattr("importlib.metadata.requires", {"recsys-ndcg": DECLARED}.get)
    if project is not None:
        (tmp_path / "pyproject.toml").write_bytes(project)
    message = message_of("no_such_library")
    assert message.startswith("This needs no_such_library, which is not installed. Run: pip ")
    assert message.endswith("Run: pip install 'cyclopts>=5.0' 'rich>=13'")
    assert install_command(message) == ["pip", "install", *CLI]


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ("cli", CLI),
        ("all", [*CLI, "scikit-surprise>=1.1.5"]),
        ("ci", [*CLI, "scikit-surprise>=1.1.5", "pytest>=8"]),
        ("none", ["no-such-library"]),
    ],
)
def test_extras_of_extras_are_resolved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, extra: str, expected: list[str]
) -> None:
    """Each library once; without the extra's libraries, the one that is missing."""
    monkeypatch.setattr(checks, "_CHECKOUT", tmp_path)
    monkeypatch.setattr("importlib.metadata.requires", {"recsys-ndcg": DECLARED}.get)
    found = shlex.split(checks._source(extra, "no-such-library"))
    assert sorted(found) == sorted(expected)


def test_a_copy_names_the_missing_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As pip knows it: nothing says what the package needs."""

    def requires(_: str) -> list[str]:
        raise PackageNotFoundError

    monkeypatch.setattr(checks, "_CHECKOUT", tmp_path)
    monkeypatch.setattr("importlib.metadata.requires", requires)
    assert message_of("no_such_library").endswith("Run: pip install no_such_library")
    assert checks._source("surprise", "surprise") == "scikit-surprise"


def test_libraries_that_pip_knows_by_another_name_are_listed() -> None:
    """Every library that a message can name is a requirement of its extra."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for library, extra in EXTRAS.items():
        name = checks._PIP_NAMES.get(library, library)
        declared = project["optional-dependencies"][extra]
        assert name in [re.split("[<>=]", one)[0] for one in declared], library


def test_no_message_installs_this_package_from_an_index() -> None:
    """No index has it; a stranger could publish something under its name."""
    for file in FILES:
        for text in file.nodes(ast.Constant):
            found = re.search(r"recsys-ndcg\[|pip install[^.]* recsys-ndcg", str(text.value))
            assert found is None, f"{file.place}: {text.value!r}"


@pytest.mark.parametrize("name", ["clone", "it's a clone"])
def test_a_checkout_is_installed_by_its_shortest_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """Relative to the current folder, or absolute."""
    (tmp_path / name / "examples").mkdir(parents=True)
    shutil.copy(CHECKOUT / "pyproject.toml", tmp_path / name)
    monkeypatch.setattr(checks, "_CHECKOUT", tmp_path / name)
    short = {name: ".", f"{name}/examples": "..", ".": name, "/": f"{tmp_path}/{name}"[1:]}
    for folder, path in short.items():
        monkeypatch.chdir(tmp_path / folder)
        command = install_command(message_of("no_such_library"))
        assert command == ["pip", "install", "-e", f"{path}[cli]"]


def test_a_failing_import_is_quoted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its first line, and the library's file, which may be a script of the user's."""
    monkeypatch.syspath_prepend(tmp_path)
    source = "raise ValueError('\\n\\nnumpy.dtype size changed.\\nand so on')"
    (tmp_path / "built_for_another_numpy.py").write_text(source, encoding="utf-8")
    message = message_of("built_for_another_numpy")
    assert re.match(
        "This needs built_for_another_numpy, which is installed .*built_for_another_numpy.py. but "
        "cannot be used: numpy.dtype size changed. If that file is your own, rename it. Otherwise "
        "run: pip install --upgrade --force-reinstall --no-cache-dir ",
        message,
    )


def test_a_library_that_fails_during_a_job_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not its module; with its file, if there is one."""
    monkeypatch.setitem(sys.modules, "made_by_hand", ModuleType("made_by_hand"))
    origin = re.escape(str(pd.__file__))
    expected = {
        "pandas.io.parquet": rf"pandas, which is installed \({origin}\)",
        "made_by_hand.part": "made_by_hand, which is installed",
        "no_such_library.part": "no_such_library, which .*",
    }
    for name, found in expected.items():
        match = f"^This needs {found} but cannot be used: too old"
        error = ImportError("too old", name=name)
        with (
            pytest.raises(rn.MissingExtraError, match=match),
            checks.require_libraries("pandas", job="This", extra="cli"),
        ):
            raise error


def test_the_name_of_surprise_comes_with_those_that_pip_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two distributions install it."""
    monkeypatch.setitem(sys.modules, "surprise", None)
    names = "surprise (scikit-surprise, or its fork scikit-surprise-2)"
    assert message_of("surprise").startswith(f"This needs {names}, which is not installed. Run: ")


FAILED = "is installed .*{}.__init__.py. but cannot be used: No module named 'what_it_needs'. "


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "reason"),
    [("", "is not installed. Run: pip install "), ("import what_it_needs", FAILED)],
)
def test_a_missing_extra_is_named(tmp_path: Path, source: str, reason: str) -> None:
    """With the reason and the command that installs it, or installs it again."""
    for name, message in messages_without(tmp_path, source).items():
        assert re.search(f" needs {name}( \\(.*\\))?, which {reason.format(name)}", message)
        assert install_command(message)[-1].endswith(f"[{EXTRAS[name]}]")


@pytest.mark.slow
def test_a_library_that_pandas_rejects_is_named(tmp_path: Path) -> None:
    """It imports, but is too old for pandas."""
    messages = messages_without(tmp_path, "__version__ = '0.1'", {"jinja2", "tabulate"})
    for name, message in messages.items():
        assert re.search(rf"{name}.*cannot be used: .*\b0\.1\b", message), message


@pytest.mark.slow
def test_a_script_called_surprise_is_named(tmp_path: Path) -> None:
    """Python finds it before the library."""
    message = messages_without(tmp_path, "import math", ["surprise"])["surprise"]
    assert "surprise/__init__.py) but cannot be used: No module named" in message
