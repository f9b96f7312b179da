"""The layers: which room may import from which, read from the files."""

from __future__ import annotations

import ast
from pathlib import Path

import recsys_ndcg

ROOT = Path(recsys_ndcg.__file__).parent
#: From the bottom up; a module imports only from rooms above its own in this list.
LAYERS = [
    "version",
    "errors",
    "lazy",
    "threads",
    "scikit_surprise",
    "notation",
    "presets",
    "formulas",
    "convention",
    "gains",
    "rounding",
    "datasets",
    "significance",
    "grouping",
    "blocks",
    "pairing",
    "ordering",
    "adapters",
    "assembly",
    "ranked_lists",
    "placed_lists",
    "preparation",
    "block",
    "ranking",
    "placed_ranking",
    "metrics",
    "options",
    "scoring",
    "source",
    "audit",
    "explanation",
    "overlap",
    "rendering",
    "signature",
    "storage",
    "summary",
    "report",
    "evaluation",
    "reconciliation",
    "one_list",
    "surprise",
    "demo",
    "__init__",
    "cli",
]
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "base", "misc"}
OPTIONAL = {
    "surprise",
    "joblib",
    "typer",
    "rich",
    "jinja2",
    "tabulate",
    "pyarrow",
    "polars",
    "plotly",
}
MAY_USE_OPTIONAL = {"cli.py", "rendering/terminal.py", "surprise/printing.py"}
MAY_USE_SURPRISE = "surprise"  # the folder of the plug-in
LONGEST_FUNCTION = 40


def _modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def _room(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def _imports(path: Path) -> set[str]:
    """Return the modules that a file imports at run time, not those for type checkers alone."""
    found = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_every_module_stands_in_a_layer() -> None:
    """A new room is placed on purpose."""
    assert {_room(path) for path in _modules()} == set(LAYERS)


def test_imports_point_one_way() -> None:
    """A room knows only those below it; the files of a folder may know each other."""
    for path in _modules():
        own = LAYERS.index(_room(path))
        for name in _imports(path):
            parts = name.split(".")
            if parts[0] != "recsys_ndcg" or len(parts) < 2 or parts[1] not in LAYERS:
                continue
            other = LAYERS.index(parts[1])
            inside = parts[1] == _room(path)
            assert other < own or inside, f"{path.relative_to(ROOT)} imports {name}"


def test_no_room_is_a_drawer() -> None:
    """Every module is named after its idea."""
    assert FORBIDDEN_NAMES.isdisjoint(path.stem for path in _modules())


def test_only_the_edges_know_optional_libraries() -> None:
    """The core runs on its four dependencies."""
    for path in _modules():
        if path.relative_to(ROOT).as_posix() not in MAY_USE_OPTIONAL:
            allowed = {"surprise", "joblib"} if _room(path) == MAY_USE_SURPRISE else set()
            used = {name.split(".")[0] for name in _imports(path)} & OPTIONAL - allowed
            assert not used, f"{path.relative_to(ROOT)} imports {used}"


def test_only_the_command_line_prints_or_exits() -> None:
    """A library raises; what it says is its caller's business."""
    for path in _modules():
        # the plug-in speaks as Surprise does, where verbose= asks for it
        if path.relative_to(ROOT).as_posix() in {"cli.py", "surprise/printing.py"}:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            assert called not in {"print", "exit", "sys.exit"}, path


def test_functions_and_files_stay_short() -> None:
    """At most forty lines of code in a function, and 250 in a file, docstrings apart."""
    for path in _modules():
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        told = 0
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                first = node.body[0] if node.body else None
                text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
                lines = 0
                if text and first is not None:
                    lines = int(first.end_lineno or 0) - first.lineno + 1
                told += lines
                if isinstance(node, ast.FunctionDef):
                    length = int(node.end_lineno or 0) - node.lineno + 1 - lines
                    assert length <= LONGEST_FUNCTION, f"{path.name}: {node.name} has {length}"
        assert len(source.splitlines()) - told <= 250, path
