"""The architecture: which room may import from which, and how large the package may be."""

from __future__ import annotations

import ast
from dataclasses import fields
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from importlib.util import find_spec
from itertools import compress

import pytest

import recsys_ndcg as rn
from recsys_ndcg.convention import Convention
from recsys_ndcg.lists import GroupedLists
from tests import package_size
from tests.package_size import FILES, MODULES, SourceFile

#: From the bottom up, tier by tier; a module imports only from rooms above its own in this list.
#: Rendering knows documents only. Data larger than memory are evaluated by an engine of `scale`.
ROOMS = [
    "version", "lazy", "__init__", "results", "errors", "arrays", "parallel", "files", "progress",
    "datasets", "glossary", "significance", "input", "ratings", "convention", "background",
    "lists", "ranking", "metrics", "scoring", "rendering", "findings", "report", "calls",
    "one_list", "scale", "evaluation", "sampling", "published_numbers", "comparison",
    "reconciliation", "catalogue", "split_checks", "folds", "surprise", "experiments",
    "integrations", "cli", "__main__",
]  # fmt: skip
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "base", "misc"}
OPTIONAL = {
    "surprise", "joblib", "cyclopts", "rich", "IPython", "jinja2", "tabulate", "pyarrow", "polars",
    "plotly", "altair", "vl_convert", "duckdb", "pyspark",
    "sklearn", "lightgbm", "xgboost", "catboost", "mlflow", "torch", "torchmetrics", "keras",
    "optuna",
}  # fmt: skip
MAY_USE_OPTIONAL = {
    "files/contents.py", "input/ids.py", "input/column_files.py", "input/text_tables.py",
    "rendering/page.py", "rendering/plots/vega.py", "progress.py", "files/archive.py",
}  # fmt: skip
ALLOWED = {
    "surprise": {"surprise", "joblib"},
    "folds": {"joblib"},
    "experiments": {"joblib"},
    "cli": {"cyclopts", "rich"},
    "scale": {"duckdb", "pyarrow", "pyspark"},
    "integrations": {"sklearn", "mlflow", "torch", "torchmetrics", "keras"},
}  # in whole folders
#: Private names of Python and of libraries; and `_data`, the value that a result shows to people,
#: which every room may read.
OF_OTHERS = {"_data", "_asdict", "_replace", "_fields", "_getframe", "_rand", "_Unpickler", "_exit"}
LONGEST_FUNCTION = 60  # lines of code
#: Rooms that users import from, too.
PUBLIC = {
    f"recsys_ndcg.{room}" for room in ("folds", "surprise", "metrics", "integrations", "results")
}
#: Counted by `tests.package_size`, which has the budgets, too. A number may fall, never grow,
#: except for a new subject. Records of arrays moved to ground, what a notebook shows of lists to
#: results, and what scoring asks of metrics to say why they cannot be computed crosses borders.
#: What only experiments fill of a comparison moved from results to the lab. Findings were a
#: new subject.
MAX_MEMBERS = 45
LIMITS = {
    "code lines, ground": 1_200,
    "code lines, core": 14_629,
    "code lines, results": 8_900,
    "code lines, lab": 5_561,
    "code lines, edges": 4_061,
    "code lines": 34_351,
    "code lines of the tests": 39_542,
    "files": 234,
    "names crossing a room's border": 372,
    "imports past a door": 0,
    "imports past a door by tests": 151,  # of 287 once; the aim is 0
    "class names used twice": 0,
    "short files with one neighbour": 0,
}


def imported_modules(file: SourceFile, *, typed: bool = True) -> set[str]:
    """Return the modules that a file imports, with those under TYPE_CHECKING if `typed`."""
    imports = [one for one in file.imports() if typed or not one.typed]
    names = [(f"{one.module}.{one.name}", one.module) for one in imports]
    return {inside if inside in MODULES else module for inside, module in names}


def test_every_module_is_in_a_listed_room() -> None:
    """Every module is named after its idea."""
    assert {file.room for file in FILES} == set(ROOMS)
    tiers = [*package_size.TIERS.values()]
    assert sorted(" ".join(tiers).split()) == sorted(ROOMS)
    order = [[one in tier.split() for tier in tiers].index(True) for one in ROOMS if one != "scale"]
    assert order == sorted(order)
    assert FORBIDDEN_NAMES.isdisjoint(file.path.stem for file in FILES)


def test_a_room_imports_only_from_rooms_below() -> None:
    """Also under TYPE_CHECKING."""
    for file, name in ((one, name) for one in FILES for name in imported_modules(one)):
        parts = name.split(".")
        if parts[0] == "recsys_ndcg" and len(parts) > 1 and parts[1] in ROOMS:
            other, own = ROOMS.index(parts[1]), ROOMS.index(file.room)
            assert other < own or parts[1] == file.room, f"{file.module} imports {name}"


def test_modules_do_not_import_each_other() -> None:
    """Inside a room, too; also under TYPE_CHECKING."""
    graph = {
        name: imported_modules(file) & MODULES.keys() - {name} for name, file in MODULES.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_private_members_stay_in_their_room() -> None:
    """Only files of the room whose class has the member name it, and subclasses through self."""
    for room in ROOMS:
        files = [file for file in FILES if file.room == room]
        nodes = [one for file in files for one in file.nodes(ast.Attribute)]
        is_of_self = [ast.unparse(one.value) in {"self", "cls", "super()"} for one in nodes]
        classes = [one for file in files for one in file.nodes(ast.ClassDef)]
        members = {name for one in classes for name in package_size.list_members(one)}
        members |= {one.attr for one in compress(nodes, is_of_self)} | OF_OTHERS
        for node in nodes:
            is_private = node.attr.startswith("_") and not node.attr.endswith("__")
            assert not is_private or node.attr in members, f"{room}: {ast.unparse(node)}"


def test_the_core_imports_no_optional_libraries() -> None:
    """It runs on its four dependencies."""
    for file in FILES:
        if file.place not in MAY_USE_OPTIONAL:
            allowed = ALLOWED.get(file.room, set())
            names = imported_modules(file, typed=False)
            used = {name.split(".")[0] for name in names} & OPTIONAL - allowed
            assert not used, f"{file.place} imports {used}"


def test_only_the_command_line_prints_or_exits() -> None:
    """The plug-in prints as Surprise does, if verbose=True."""
    for file in FILES:
        called = {ast.unparse(node.func) for node in file.nodes(ast.Call)}
        if file.place not in {"cli/program.py", "surprise/library.py"}:
            assert called.isdisjoint({"print", "exit", "sys.exit"}), file.place


@pytest.mark.slow
def test_counts_stay_within_limits() -> None:
    """``python -m tests.package_size`` prints the counts."""
    counts = package_size.count_all()
    assert {what: counts[what] for what in LIMITS if counts[what] > LIMITS[what]} == {}


def test_no_class_has_too_many_members() -> None:
    """A ranking is what metrics see, and the fields of a convention are its choices.

    A comparison has an heir, but is a class of its own.
    """
    members = package_size.count_members(" ".join(package_size.TIERS.values()))
    members["ExperimentComparison"] -= members["Comparison"]
    members["Convention"] -= len(fields(Convention))
    del members["Ranking"]
    assert {name: count for name, count in members.items() if count > MAX_MEMBERS} == {}


def test_a_door_lists_only_names_that_exist_and_are_used() -> None:
    """Each name of a room's stub is imported by another room, and is not a file's name.

    What a notebook shows of a value is imported by the name in its class (`Viewed`).
    """
    used = package_size.names_used_elsewhere()
    for one in (Convention, GroupedLists, rn.Signature):
        module, _, name = one._view.partition(":")
        used[module.split(".")[1]].add(name)
    for room, names in package_size.read_stubs().items():
        if room.startswith("recsys_ndcg.surprise") and find_spec("surprise") is None:
            continue
        for name, module in names.items():
            assert getattr(import_module(room), name) is getattr(import_module(module), name)
            if room != module:
                assert f"{room}.{name}" not in MODULES, f"{room}: {name} is a file, too"
            if room.count(".") == 1 and room not in PUBLIC:
                assert name in used[room.split(".")[1]], f"no other room imports {room}.{name}"


def test_functions_are_short() -> None:
    """At most sixty lines of code."""
    for file in FILES:
        for node in file.nodes(ast.FunctionDef):
            lines = {*range(node.lineno, int(node.end_lineno or 0) + 1)} & file.code_lines
            assert len(lines) <= LONGEST_FUNCTION, f"{file.place}: {node.name}"
