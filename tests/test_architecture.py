"""The architecture: which room may import from which, and how large the package may be."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import recsys_ndcg
from tests import package_size

ROOT = Path(recsys_ndcg.__file__).parent
#: From the bottom up; a module imports only from rooms above its own in this list.
ROOMS = [
    "version",
    "lazy",
    "errors",
    "arrays",
    "parallel",
    "files",
    "progress",
    "datasets",
    "glossary",
    "significance",
    "convention",
    "input",
    "lists",
    "ranking",
    "metrics",
    "scoring",
    "catalogue",
    "rendering",
    "report",
    "scale",
    "evaluation",
    "comparison",
    "reconciliation",
    "folds",
    "surprise",
    "experiments",
    "cli",
    "__main__",
    "__init__",
]
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "base", "misc"}
OPTIONAL = {
    "surprise",
    "joblib",
    "typer",
    "rich",
    "IPython",
    "jinja2",
    "tabulate",
    "pyarrow",
    "polars",
    "plotly",
    "altair",
    "vl_convert",
    "duckdb",
    "pyspark",
}
MAY_USE_OPTIONAL = {
    "files/contents.py",
    "input/ids.py",
    "input/arrow_files.py",
    "input/plain_text.py",
    "rendering/page.py",
    "rendering/plots/vega.py",
    "progress.py",
    "files/archive.py",
}
ALLOWED = {
    "surprise": {"surprise", "joblib"},
    "folds": {"joblib"},
    "experiments": {"joblib"},
    "cli": {"typer", "rich"},
    "scale": {"duckdb", "pyarrow", "pyspark"},
}  # in whole folders
LONGEST_FUNCTION = 60  # lines of code
#: Rooms that users import from, too.
PUBLIC = {"recsys_ndcg.folds", "recsys_ndcg.surprise"}
#: Counted by `tests.package_size`. A number may fall, never grow.
LIMITS = {
    "code lines": 21_000,
    "code lines of the tests": 34_100,
    "files": 161,
    "names crossing a room's border": 232,
    "imports past a door": 0,
    "class names used twice": 0,
    "short files with one neighbour": 0,
}


def _modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def _room(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(path: Path, *, typed: bool = True) -> set[str]:
    """Return the modules that a file imports, those for type checkers alone if `typed`."""
    found = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not typed:
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                found.add(inside if inside in NAMES else node.module)
    return found


NAMES = {_name(path): path for path in _modules()}


def test_every_module_stands_in_a_room() -> None:
    """A new room is placed on purpose."""
    assert {_room(path) for path in _modules()} == set(ROOMS)


@pytest.mark.parametrize("path", _modules(), ids=_name)
def test_imports_point_one_way(path: Path) -> None:
    """A room knows only those below it, also where a type checker alone would look."""
    own = ROOMS.index(_room(path))
    for name in _imports(path):
        parts = name.split(".")
        if parts[0] == "recsys_ndcg" and len(parts) > 1 and parts[1] in ROOMS:
            other = ROOMS.index(parts[1])
            assert other < own or parts[1] == _room(path), f"{_name(path)} imports {name}"


def test_no_two_modules_need_each_other() -> None:
    """Inside a room, too, there is a way from the bottom up; a type may name what stands above."""
    graph = {
        name: _imports(path, typed=False) & NAMES.keys() - {name} for name, path in NAMES.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_no_room_is_a_drawer() -> None:
    """Every module is named after its idea."""
    assert FORBIDDEN_NAMES.isdisjoint(path.stem for path in _modules())


def test_only_the_edges_know_optional_libraries() -> None:
    """The core runs on its four dependencies."""
    for path in _modules():
        if path.relative_to(ROOT).as_posix() not in MAY_USE_OPTIONAL:
            allowed = ALLOWED.get(_room(path), set())
            used = {name.split(".")[0] for name in _imports(path, typed=False)} & OPTIONAL - allowed
            assert not used, f"{path.relative_to(ROOT)} imports {used}"


def test_only_the_command_line_prints_or_exits() -> None:
    """A library raises; what it says is its caller's business."""
    for path in _modules():
        # the plug-in speaks as Surprise does, where verbose= asks for it
        if path.relative_to(ROOT).as_posix() in {"cli/program.py", "surprise/library.py"}:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            assert called not in {"print", "exit", "sys.exit"}, path


@pytest.mark.slow
def test_counts_stay_within_limits() -> None:
    """``python -m tests.package_size`` prints the counts."""
    counts = package_size.count_all()
    assert {what: counts[what] for what in LIMITS if counts[what] > LIMITS[what]} == {}


def test_a_door_lists_what_is_there_and_used() -> None:
    """Each name of a room's stub is found, imported by another room, and no file's name."""
    crossing = package_size.names_used_elsewhere()
    for room, names in package_size.read_stubs().items():
        if room.startswith("recsys_ndcg.surprise") and find_spec("surprise") is None:
            continue
        for name, module in names.items():
            assert getattr(import_module(room), name) is getattr(import_module(module), name)
            if room != module:
                assert f"{room}.{name}" not in package_size.MODULES, (
                    f"{room}: {name} is a file, too"
                )
            if room.count(".") == 1 and room not in PUBLIC:
                assert name in crossing[room.split(".")[1]], f"nobody outside imports {room}.{name}"


def test_functions_stay_short() -> None:
    """At most sixty lines of code."""
    for file in package_size.FILES:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.FunctionDef):
                lines = {*range(node.lineno, int(node.end_lineno or 0) + 1)} & file.code_lines
                assert len(lines) <= LONGEST_FUNCTION, f"{file.place}: {node.name}"
