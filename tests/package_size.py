"""Count lines, files and imports: ``python -m tests.package_size`` prints them.

``python -m tests.package_size main`` prints, too, how much of a change since that branch goes into
files that were there. `tests/test_architecture.py` fails if a count grows.
"""

from __future__ import annotations

import ast
import io
import os
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import recsys_ndcg

Node = TypeVar("Node", bound=ast.AST)

ROOT = Path(recsys_ndcg.__file__).parent
_TESTS = Path(__file__).parent
#: Subjects of their own; classes of other libraries, which must be installed for the import.
_MAY_BE_SHORT = {
    "comparison/swaps.py", "report/rarefaction.py",
    "significance/effects.py", "integrations/keras.py", "integrations/torchmetrics.py",
}  # fmt: skip
#: Files inside a room that users import, as pages show.
_DOORS_FOR_USERS = {"recsys_ndcg.scale.spark"}
_MAY_IMPORT_SHORT = {"__init__.py", "file_kinds.py"}
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip
#: The rooms of each tier, from the bottom up.
TIERS = {
    "ground": "__init__ results version arrays datasets errors files glossary lazy parallel "
    "progress",
    "core": "background convention input lists metrics ranking ratings scoring significance",
    "results": "calls comparison evaluation findings one_list published_numbers reconciliation "
    "rendering report sampling",
    "lab": "catalogue experiments folds split_checks surprise",
    "edges": "__main__ cli integrations scale",
}
#: The code lines that each tier should come to.
BUDGETS = {"ground": 1_200, "core": 13_000, "results": 8_900, "lab": 5_300, "edges": 4_050}
_N_CLASSES = 10  # that are printed
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Import:
    """One name that a file imports."""

    module: str
    name: str
    typed: bool  # under TYPE_CHECKING

    @property
    def room(self) -> str:
        """The room that the name belongs to; "" for the top level and other packages."""
        return ".".join(self.module.split(".")[1:2]) if self.is_ours else ""

    @property
    def is_ours(self) -> bool:
        """Whether it is imported from this package."""
        return self.module.startswith("recsys_ndcg")

    @property
    def is_past_the_door(self) -> bool:
        """Whether it names a file inside a room instead of the room."""
        return self.module.count(".") > 1 or f"{self.module}.{self.name}" in MODULES


@dataclass(frozen=True)
class SourceFile:
    """A file of the package, parsed."""

    path: Path

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.path.read_text(encoding="utf-8"))

    @property
    def place(self) -> str:
        """The path below the package."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def module(self) -> str:
        """The dotted module name."""
        parts = self.path.relative_to(ROOT.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def room(self) -> str:
        """The folder below the package, or the name of a top-level file; ".." for a test."""
        return Path(os.path.relpath(self.path, ROOT)).with_suffix("").parts[0]

    @cached_property
    def code_lines(self) -> set[int]:
        """The line numbers of code: no docstrings, comments or blank lines."""
        lines = set()
        with io.StringIO(self.path.read_text(encoding="utf-8")) as source:
            for token in tokenize.generate_tokens(source.readline):
                if token.type not in _NO_CODE:
                    lines |= {*range(token.start[0], token.end[0] + 1)}
        documented: list[Any] = [one for kind in _DOCUMENTED for one in self.nodes(kind)]
        for node in documented:
            if ast.get_docstring(node) is not None:
                text = node.body[0]
                lines -= {*range(text.lineno, (text.end_lineno or text.lineno) + 1)}
        return lines

    def nodes(self, kind: type[Node]) -> list[Node]:
        """Return the nodes of the syntax tree that are of a kind."""
        return self._nodes[kind]

    @cached_property
    def _nodes(self) -> dict[type, list[Any]]:
        nodes = defaultdict(list)
        for node in ast.walk(self.tree):
            nodes[type(node)].append(node)
        return nodes

    def imports(self) -> Iterator[Import]:
        """Yield the names that the file imports; a whole module has the name ""."""
        typed = set()
        for condition in self.nodes(ast.If):
            if ast.unparse(condition.test) == "TYPE_CHECKING":
                typed |= {id(inner) for one in condition.body for inner in ast.walk(one)}
        for whole in self.nodes(ast.Import):
            for alias in whole.names:
                yield Import(alias.name, "", id(whole) in typed)
        for node in self.nodes(ast.ImportFrom):
            for alias in node.names:
                yield Import(str(node.module), alias.name, id(node) in typed)


TESTS = [SourceFile(path) for path in sorted(_TESTS.rglob("*.py"))]
FILES = [SourceFile(path) for path in sorted(ROOT.rglob("*.py"))]
MODULES = {one.module: one for one in FILES}


def read_stubs() -> dict[str, dict[str, str]]:
    """Return, for each room, the names in its stub and the modules that define them."""
    found: dict[str, dict[str, str]] = {}
    for stub in sorted(ROOT.rglob("__init__.pyi")):
        nodes = ast.parse(stub.read_text(encoding="utf-8")).body
        found[".".join(stub.parent.relative_to(ROOT.parent).parts)] = {
            alias.name: str(node.module)
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if alias.asname
        }
    return found


def names_used_elsewhere() -> dict[str, set[str]]:
    """Return, for each room, the names that other rooms import from it."""
    names = defaultdict(set)
    for file in FILES:
        for one in file.imports():
            if one.room and one.room != file.room and file.path != ROOT / "__init__.py":
                names[one.room].add(one.name)
    return dict(names)


def imports_past_doors(files: list[SourceFile]) -> list[str]:
    """Return imports of a file inside another room, unless users import it, too."""
    stubs = read_stubs()
    return [
        f"{file.path.name} imports {one.name} of {one.module}"
        for file in files
        for one in file.imports()
        if one.room and one.room != file.room and one.is_past_the_door
        if one.name not in stubs.get(one.module, {})
        if f"{one.module}.{one.name}" not in _DOORS_FOR_USERS
    ]


def repeated_classes() -> list[str]:
    """Return names of more than one class."""
    names = Counter(node.name for file in FILES for node in file.nodes(ast.ClassDef))
    return sorted(name for name, times in names.items() if times > 1)


def short_files(shortest: int = 100) -> list[str]:
    """Return short files that only one file imports, in the same folder.

    Metrics, and readers of a kind of file, are left out: each may have its own file.
    """
    stubs = read_stubs()
    users = defaultdict(set)
    for file in FILES:
        for one in file.imports():
            inside = f"{one.module}.{one.name}"
            module = inside if inside in MODULES else one.module
            module = stubs.get(module, {}).get(one.name, module)
            if module != file.module:
                users[module].add(file)
    listed = {module for names in stubs.values() for module in names.values()}
    return [
        file.place
        for file in FILES
        if len(users[file.module]) == 1
        and file.module not in listed
        and {one.path.name for one in users[file.module] | {file}}.isdisjoint(_MAY_IMPORT_SHORT)
        and next(iter(users[file.module])).path.parent == file.path.parent
        and len(file.code_lines) < shortest
        and file.place not in _MAY_BE_SHORT
        and "@register_metric" not in file.path.read_text()
    ]


def count_tier(rooms: str) -> int:
    """Return the code lines of some rooms."""
    return sum(len(file.code_lines) for file in FILES if file.room in rooms.split())


def count_added_lines(branch: str) -> tuple[int, int]:
    """Return how many lines a change adds to files that the branch has, and to all files."""
    words = ["git", "diff", "--numstat", "--no-renames", f"{branch}...", "--", ROOT.name]
    lines = subprocess.check_output(words, cwd=ROOT.parent, text=True).splitlines()  # noqa: S603
    added = {path: int(n) for n, _, path in map(str.split, lines) if path.endswith(".py")}
    words = ["git", "ls-tree", "-r", "--name-only", branch, ROOT.name]
    known = set(subprocess.check_output(words, cwd=ROOT.parent, text=True).split())  # noqa: S603
    return sum(n for path, n in added.items() if path in known), sum(added.values())


def count_members(rooms: str) -> dict[str, int]:
    """Return how many members each class of some rooms has, with those of parents only it has."""
    found = [one for file in FILES for one in file.tree.body if isinstance(one, ast.ClassDef)]
    bases = {
        one.name: {base.id for base in one.bases if isinstance(base, ast.Name)} for one in found
    }
    members = {one.name: list_members(one) for one in found}
    parents = {name: _find_parents(name, bases) for name in bases}
    heirs = Counter(parent for each in parents.values() for parent in each)
    return {
        one.name: len(members[one.name].union(
            *(members[each] for each in parents[one.name] if heirs[each] == 1)
        ))
        for file in FILES if file.room in rooms.split()
        for one in file.tree.body if isinstance(one, ast.ClassDef)
    }  # fmt: skip


def list_members(one: ast.ClassDef) -> set[str]:
    """Return the fields, attributes and methods of a class, without those of Python."""
    names = {each.name for each in one.body if isinstance(each, ast.FunctionDef)}
    for each in one.body:
        targets = each.targets if isinstance(each, ast.Assign) else [getattr(each, "target", None)]
        names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("__")}


def _find_parents(name: str, bases: dict[str, set[str]]) -> set[str]:
    near = bases[name] & bases.keys()
    return near.union(*(_find_parents(each, bases) for each in near))


def count_all() -> dict[str, int]:
    """Return the counts that may not grow."""
    return {
        **{f"code lines, {tier}": count_tier(rooms) for tier, rooms in TIERS.items()},
        "code lines": sum(len(file.code_lines) for file in FILES),
        "code lines of the tests": sum(len(file.code_lines) for file in TESTS),
        "files": len(FILES),
        "names crossing a room's border": sum(map(len, names_used_elsewhere().values())),
        "imports past a door": len(imports_past_doors(FILES)),
        "imports past a door by tests": len(imports_past_doors(TESTS)),
        "class names used twice": len(repeated_classes()),
        "short files with one neighbour": len(short_files()),
    }


def main() -> None:
    """Print the counts, and the lines of each room and test folder."""
    for what, count in count_all().items():
        budget = BUDGETS.get(what.removeprefix("code lines, "))
        print(f"{count:>7,}  {what}{f': the budget is {budget:,}' if budget else ''}")
    if sys.argv[1:]:
        finished, every = count_added_lines(sys.argv[1])
        print(f"{finished / max(every, 1):>7.0%}  of {every:,} new lines are in older files")
    print()
    names_of = names_used_elsewhere()
    for room in sorted({file.room for file in FILES}):
        files = [file for file in FILES if file.room == room]
        lines = sum(len(file.code_lines) for file in files)
        names = len(names_of.get(room, ()))
        print(f"{lines:>7,} lines {len(files):>4} files {names:>4} names  {room}")
    print()
    members = count_members(" ".join(TIERS.values()))
    for name, count in sorted(members.items(), key=lambda one: -one[1])[:_N_CLASSES]:
        print(f"{count:>7,} members  {name}")
    print()
    lengths: Counter[str] = Counter()
    for file in TESTS:
        lengths[file.path.relative_to(_TESTS).parts[0]] += len(file.code_lines)
    for name, length in sorted(lengths.items()):
        print(f"{length:>7,} lines  tests/{name}")


if __name__ == "__main__":
    main()
