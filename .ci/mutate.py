"""Mutation testing: draw mutants of every room, and run each with the tests that reach it.

mutmut makes the mutants. Its own runner skips decorated functions, such as every `lazy_property`
and every `property`, and starts pytest again for each mutant. This script collects the tests once,
and replaces the code of functions. docs/contributing/mutation.md has the results.
"""

from __future__ import annotations

import argparse
import functools
import gc
import hashlib
import inspect
import json
import math
import os
import pkgutil
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from contextlib import suppress
from functools import partial
from importlib import import_module
from inspect import CO_NEWLOCALS
from itertools import chain
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import coverage
import hypothesis
import libcst as cst
import pytest
from libcst import matchers as m
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider
from mutmut.mutation.file_mutation import MutationVisitor
from mutmut.mutation.mutators import mutation_operators
from mutmut.mutation.pragma_handling import IgnoredCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

os.environ |= {"KERAS_BACKEND": "torch", "MLFLOW_DISABLE_TELEMETRY": "true"}
PACKAGE, BUILD = Path("recsys_ndcg"), Path("build", "mutation").resolve()
TOP_LEVEL = "top level"  # the modules that are in no folder
ROOMS = (*sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py")), TOP_LEVEL)
SLOW = {PACKAGE / "scale" / "spark.py"}  # all of its tests are slow, as they need Java
AT_LEAST = defaultdict(lambda: 0.9, dict.fromkeys(("comparison", "scoring", "significance"), 0.95))
EXAMPLES = 5  # per Hypothesis test of weight 1; the suite draws 10, CI 100
#: A surviving mutant has passed this many seconds (as traced) of the tests of its own room that
#: reach it, and of the others.
OWN_SECONDS, OTHER_SECONDS = 40, 40
TRACED: Any = {"include": [f"{PACKAGE}/*"], "config_file": False}
#: Prints the lines of each file that run when the package is imported.
IMPORTS = f"""
import coverage, json, sys
sys.path[:0] = [{str(Path(__file__).parent)!r}, "."]
from mutate import TRACED, import_all
tracer = coverage.Coverage(data_file=None, **TRACED)
tracer.start()
import_all()
tracer.stop()
data = tracer.get_data()
print(json.dumps({{one: data.lines(one) for one in data.measured_files()}}))
"""
MESSAGE = m.Raise() | m.Assign(targets=[m.AssignTarget(m.Name("msg"))])
ANSWER = Path(tempfile.mkdtemp()) / "answer.json"
SURVIVED = "survived"


def import_all() -> None:
    """Import all modules whose libraries are installed, so that their functions can be changed."""
    for module in pkgutil.walk_packages([str(PACKAGE)], f"{PACKAGE}."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):
                import_module(module.name)


class Visitor(MutationVisitor):
    """Find mutmut's mutants, also in decorated functions."""

    def _skip_node_and_children(self, node: cst.CSTNode) -> bool:
        return not isinstance(node, cst.FunctionDef) and super()._skip_node_and_children(node)


def has_sentence(node: Any) -> bool:
    """Return whether a node is a text with a space, and so probably a sentence."""
    parts = getattr(node, "parts", [node])  # of an f-string
    texts = [
        one.value for one in parts if m.matches(one, m.SimpleString() | m.FormattedStringText())
    ]
    if isinstance(node, cst.ConcatenatedString):
        return has_sentence(node.left) or has_sentence(node.right)
    return " " in "".join(texts)


def find_mutants(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the mutants of a file's functions that are not only wording."""
    wrapper = MetadataWrapper(cst.parse_module(path.read_text("utf-8")))
    visitor = Visitor(mutation_operators, IgnoredCode(set(), set(), set()))
    module = wrapper.visit(visitor)
    where, above = wrapper.resolve(PositionProvider), wrapper.resolve(ParentNodeProvider)
    alike: Counter[str] = Counter()
    for one in visitor.mutations:
        at, chain = where[one.original_node], [one.original_node]
        while chain[-1] in above:
            chain.append(above[chain[-1]])
        names = [node.name.value for node in chain if m.matches(node, m.FunctionDef())]
        if not names or any(has_sentence(node) or m.matches(node, MESSAGE) for node in chain):
            continue
        mutant = {
            "path": str(path),
            "function": names[-1],
            "was": module.code_for_node(one.original_node),
            "now": module.code_for_node(one.mutated_node) or "nothing",
        }
        key = json.dumps(mutant)
        alike[key] += 1
        yield mutant | {
            "key": f"{key} {alike[key]}",
            "lines": [at.start.line, at.end.line],
            "text": lambda one=one: module.deep_replace(one.original_node, one.mutated_node).code,
        }


def changed_functions(path: str, text: str) -> dict[tuple[str, int], CodeType]:
    """Return the new code of the functions that a mutant changes, by name and line.

    With a function that has an inner one both change, as the inner one may exist already.
    """
    texts = Path(path).read_text("utf-8"), text
    return dict(compare_functions(*(compile(one, "", "exec") for one in texts)))


def compare_functions(old: CodeType, new: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    """Yield the new code of the functions that differ in two codes."""
    inner = [[one for one in code.co_consts if isinstance(one, CodeType)] for code in (old, new)]
    if len(inner[0]) != len(inner[1]):
        return
    for one, other in zip(*inner, strict=True):
        if one.co_flags & CO_NEWLOCALS and one != other and one.co_freevars == other.co_freevars:
            yield (one.co_qualname, one.co_firstlineno), other
        yield from compare_functions(one, other)


def draw_mutants(
    room: str, number: int, seed: int, is_testable: Callable[[dict[str, Any]], bool]
) -> list[dict[str, Any]]:
    """Return mutants of a room.

    Each mutant has a fixed random place in the order, so a change of the code elsewhere draws the
    same ones again.
    """
    paths = PACKAGE.glob("*.py") if room == TOP_LEVEL else (PACKAGE / room).rglob("*.py")
    found = [one for path in sorted({*paths} - SLOW) for one in find_mutants(path)]
    found.sort(key=lambda one: hashlib.sha256(f"{seed} {one['key']}".encode()).digest())
    drawn: list[dict[str, Any]] = []
    for one in found:
        if len(drawn) == number:
            break
        one["text"] = one["text"]()
        if is_testable(one) and changed_functions(one["path"], one["text"]):
            drawn.append(one)
    return drawn


def run_in_fork(run: Callable[[], Any], limit: float) -> Any:
    """Return the result of a function in a fork, or "time" if it does not end in time."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        signal.setitimer(signal.ITIMER_REAL, limit)
        try:
            answer = run()
        except BaseException:  # noqa: BLE001 - the parent raises it
            answer = {"error": traceback.format_exc()}
        ANSWER.write_text(json.dumps(answer), "utf-8")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        return (
            "time" if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM else "crash"
        )
    answer = json.loads(ANSWER.read_text("utf-8"))
    if isinstance(answer, dict) and "error" in answer:
        raise RuntimeError(answer["error"])
    return answer


class Failed(BaseException):
    """A test has failed."""


class Coverage:
    """The tests that reach each line, and their seconds; kept for each state of the code."""

    def __init__(self, items: list[pytest.Item]) -> None:
        code = b"".join(path.read_bytes() for path in sorted(PACKAGE.rglob("*.py")))
        found = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, check=True)  # noqa: S603 - our own
        self.imported: dict[str, list[int]] = json.loads(found.stdout.splitlines()[-1])
        self.file = BUILD / hashlib.sha256(code).hexdigest()[:12]
        digests = {
            path: hashlib.sha256(path.read_bytes()).hexdigest()[:12]
            for path in {one.path for one in items}
        }
        self.items = {f"{one.nodeid} {digests[one.path]}": one for one in items}
        self.seconds = self.read_seconds()
        self.find_tests = functools.lru_cache(maxsize=8)(self._find_tests)

    @functools.cached_property
    def words(self) -> dict[str, set[str]]:
        """The words of each test."""
        return {name: read_words(describe_test(one)) for name, one in self.items.items()}

    @functools.cached_property
    def rarity(self) -> dict[str, float]:
        """How rare each word of the tests is."""
        counts = Counter(chain.from_iterable(self.words.values()))
        return {word: math.log(len(self.words) / count) for word, count in counts.items()}

    def find_words(self, mutant: dict[str, Any]) -> set[str]:
        """Return the words of a mutant: of its function, and of the lines that it changes."""
        first, last = mutant["lines"]
        lines = Path(mutant["path"]).read_text("utf-8").splitlines()[first - 1 : last]
        return read_words(" ".join([mutant["function"], mutant["now"], *lines]))

    def read_seconds(self) -> dict[str, float]:
        """Return the seconds of each test that has been traced; -1 if it failed."""
        file = self.file.with_suffix(".json")
        return json.loads(file.read_text("utf-8")) if file.exists() else {}

    def update(self) -> None:
        """Trace the tests that have not been traced."""
        missing = [one for one in self.items if one not in self.seconds]
        print(f"{len(missing)} of {len(self.items)} tests have to be traced", flush=True)
        for start in range(0, len(missing), 100):
            run_in_fork(partial(self.trace, missing[start : start + 100]), 3600)
            print(f"{start} of {len(missing)}", flush=True)
            self.seconds = self.read_seconds()
        failed = [self.items[one].nodeid for one in self.items if self.seconds.get(one, -1) < 0]
        print(f"{len(failed)} tests are left out, as they fail here: {failed}", flush=True)

    def trace(self, tests: list[str]) -> None:
        """Run tests, and add the lines that they reach to the file."""
        BUILD.mkdir(parents=True, exist_ok=True)
        tracer = coverage.Coverage(data_file=str(self.file), **TRACED)
        tracer.load()
        caches = [one for one in gc.get_objects() if type(one) is functools._lru_cache_wrapper]  # noqa: SLF001
        caches = [one for one in caches if one.__module__.split(".")[0] in {"tests", str(PACKAGE)}]
        tracer.start()
        for test in tests:
            for one in caches:  # or only the first test would reach what they keep
                one.cache_clear()
            tracer.switch_context(test)
            start = time.process_time()
            try:
                run_test(self.items[test])
            except BaseException:  # noqa: BLE001 - any error is a failure
                self.seconds[test] = -1
                self.items[test].session._setupstate.teardown_exact(None)  # noqa: SLF001
            else:
                self.seconds[test] = time.process_time() - start
        tracer.stop()
        tracer.save()
        self.file.with_suffix(".json").write_text(json.dumps(self.seconds), "utf-8")

    def _find_tests(self, path: str) -> dict[int, list[str]]:
        """Return the tests that reach each line of a file."""
        data = coverage.CoverageData(str(self.file))  # a fork that inherits one erases the file
        data.read()
        lines = data.contexts_by_lineno(str(Path(path).resolve())).items()
        return {
            line: [one for one in tests if one in self.items and self.seconds.get(one, -1) >= 0]
            for line, tests in lines
        }

    def is_testable(self, mutant: dict[str, Any]) -> bool:
        """Return whether a mutant is not only run when modules are imported, before the forks."""
        path, tests = str(Path(mutant["path"]).resolve()), self.find_tests(mutant["path"])
        lines = range(mutant["lines"][0], mutant["lines"][1] + 1)
        at_import = not {*lines}.isdisjoint(self.imported.get(path, ()))
        return not at_import or any(tests.get(one) for one in lines)


def describe_test(item: Any) -> str:
    """Return a test's name, code and parameters."""
    if isinstance(item, pytest.Function):
        params = ""
        with suppress(ValueError):  # of a number with too many digits
            params = str(getattr(getattr(item, "callspec", None), "params", ""))
        return f"{item.nodeid} {inspect.getsource(item.function)} {params[:2000]}"
    return f"{item.nodeid} {getattr(item, 'dtest', None) and item.dtest.docstring}"


def read_words(text: str) -> set[str]:
    """Return the words of a text or of names."""
    return set(re.findall("[a-z]{3,}", text.lower()))


def run_test(item: pytest.Item) -> None:
    """Run a test; raise if it fails."""
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)


class Mutation:
    """A pytest plugin that runs mutants instead of tests."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.kills: Counter[str] = Counter()
        self.tried: Counter[str] = Counter()
        self.checked: dict[str, bool] = {}
        self.figures: list[tuple[str, int, int]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Stop at the first failure."""
        if report.failed:
            raise Failed(report.nodeid, report.longreprtext)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run for each mutant the tests that reach it."""
        import_all()
        self.living = defaultdict(list)
        for one in gc.get_objects():
            if type(one) is FunctionType:  # isinstance would wake up deprecated objects
                self.living[one.__code__.co_filename].append(one)
        gc.freeze()
        self.coverage = Coverage(session.items)
        self.coverage.update()
        for room in self.given.rooms:
            self.run_room(room)
        return True

    def run_room(self, room: str) -> None:
        """Run the mutants of a room, and write them to a file."""
        given, file = self.given, BUILD / f"{room}.jsonl"
        earlier = file.read_text("utf-8").splitlines() if file.exists() else []
        known = {one["key"]: one["by"] for one in map(json.loads, earlier)}
        how = room, given.mutants, given.seed, self.coverage.is_testable
        drawn = run_in_fork(partial(draw_mutants, *how), 3600)
        for place, one in enumerate(drawn, 1):
            one["by"] = self.run_mutant(one, known.get(one["key"]))
            if one["by"] == SURVIVED:
                where = f"{place} {one['path']}:{one['lines'][0]} {one['function']}"
                print(f"{where}: {one['was']} → {one['now']}", flush=True)
        records = [json.dumps({name: one[name] for name in one if name != "text"}) for one in drawn]
        fresh = {one["key"] for one in drawn}
        records += [one for one in earlier if json.loads(one)["key"] not in fresh]
        file.write_text("\n".join([*records, ""]), "utf-8")
        survived = sum(one["by"] == SURVIVED for one in drawn)
        self.figures.append((room, len(drawn), survived))
        print(to_row(*self.figures[-1]), flush=True)

    def run_mutant(self, mutant: dict[str, Any], earlier: str | None) -> str:
        """Return the name of the test that kills a mutant, or how it ends otherwise."""
        tests = self.choose_tests(mutant)
        seconds, living = self.coverage.seconds, self.living[str(Path(mutant["path"]).resolve())]
        tests.sort(key=lambda one: self.coverage.items[one].nodeid != earlier)
        changed = changed_functions(mutant["path"], mutant["text"])
        while True:
            limit = 20 + 20 * sum(seconds[one] for one in tests)  # the machine may be busy
            by = run_in_fork(partial(self.find_killer, changed, tests, living), limit)
            self.tried.update(tests[: tests.index(by) + 1] if by in tests else tests)
            if by not in tests:
                return by
            if self.passes(by):
                self.kills[by] += 1
                return self.coverage.items[by].nodeid
            tests.remove(by)  # it fails without a mutant

    def passes(self, test: str) -> bool:
        """Return whether a test passes in a fork if nothing is changed."""
        if test not in self.checked:
            by = run_in_fork(partial(self.find_killer, {}, [test], []), 600)
            self.checked[test] = by == SURVIVED
            if by != SURVIVED:
                print(f"{test} fails without a mutant: it does not count", flush=True)
        return self.checked[test]

    def choose_tests(self, mutant: dict[str, Any]) -> list[str]:
        """Return the tests that reach a mutant, the most promising and fastest first."""
        lines, (first, last) = self.coverage.find_tests(mutant["path"]), mutant["lines"]
        tests: set[str] = set()
        while not tests and first:  # a line without code: use the line before
            tests = {one for line in range(first, last + 1) for one in lines.get(line, ())}
            first -= 1
        path = Path(mutant["path"])
        room = f"test_{path.stem}.py" if path.parent == PACKAGE else f"{path.parent.name}/"
        order, left = [], {True: OWN_SECONDS, False: OTHER_SECONDS}
        words = self.coverage.find_words(mutant)
        for one in sorted(tests, key=partial(self.priority, words), reverse=True):
            own = one.startswith((f"tests/{room}", mutant["path"]))
            if self.coverage.seconds[one] < left[own]:
                order.append(one)
                left[own] -= self.coverage.seconds[one]
        return order

    def priority(self, words: set[str], test: str) -> float:
        """Return how promising a test is: whether it kills many mutants, and shares rare words."""
        share = (1 + self.kills[test]) / (2 + self.tried[test])
        alike = 1 + sum(map(self.coverage.rarity.get, words & self.coverage.words[test]))
        return share * alike**2 / (0.1 + self.coverage.seconds[test])

    def find_killer(self, changed: dict[Any, Any], tests: list[str], living: list[Any]) -> str:
        """Return the first test that fails."""
        for one in living:
            code = one.__code__
            one.__code__ = changed.get((code.co_qualname, code.co_firstlineno), code)
        for test in tests:
            try:
                run_test(self.coverage.items[test])
            except BaseException:  # noqa: BLE001 - any error is a failure
                return test
        return SURVIVED


def to_row(room: str, mutants: int, survived: int) -> str:
    """Return a row of the table."""
    share = 1 - survived / max(mutants, 1)
    mark = "" if share >= AT_LEAST[room] else f"  below {AT_LEAST[room]:.0%}"
    return f"{room:14}{mutants:6} mutants{survived:5} survived{share:8.1%} killed{mark}"


def main() -> None:
    """Run mutants of some rooms."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("rooms", nargs="*", default=ROOMS, help=f"from {', '.join(ROOMS)}")
    parser.add_argument("--mutants", type=int, default=60, help="how many of each room")
    parser.add_argument("--seed", type=int, default=0, help="which mutants are drawn")
    parser.add_argument("--tests", nargs="*", default=[], help="run only these, which is quicker")
    given = parser.parse_args()
    hypothesis.settings.register_profile(
        "mutation",
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[*hypothesis.HealthCheck],
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
    )
    began, plugin = time.time(), Mutation(given)
    options = ["-n0", "-s", "-Wignore::pytest.PytestAssertRewriteWarning", "-p", "no:cacheprovider"]
    options.append("--hypothesis-profile=mutation")
    options.append(f"--basetemp={ANSWER.parent / 'tests'}")
    pytest.main([*options, *given.tests], [plugin])
    print(*(to_row(*one) for one in plugin.figures), f"{time.time() - began:.0f} s", sep="\n")
    low = [one for one in plugin.figures if 1 - one[2] / max(one[1], 1) < AT_LEAST[one[0]]]
    sys.exit(bool(low) or len(plugin.figures) < len(given.rooms))


if __name__ == "__main__":
    main()
