"""Mutation testing: run each of mutmut's mutants in a fork, with the tests that reach it.

mutmut itself skips decorated functions, such as every `lazy_property` and every `property`, and
starts pytest again for each mutant. This script collects the tests once, and replaces the code of
functions. docs/contributing/mutation.md has the results.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from functools import partial
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

PACKAGES = ("convention", "ranking", "metrics", "scoring")
TESTS = [
    *(f"tests/{one}" for one in (*PACKAGES, "lists", "test_seeds.py")),
    *(f"tests/report/test_{one}.py" for one in ("audit", "levels", "signature_values", "reports")),
    "tests/surprise/test_catalogue.py",
    "tests/input/test_bad_input.py",
    *(f"recsys_ndcg/{package}" for package in PACKAGES),
]
EXAMPLES = 5  # per Hypothesis test of weight 1; the thorough profile draws 100
#: A surviving mutant has passed all of these tests, the quick tests of its own package, and
#: SECONDS of the others (as traced).
WHOLE = (
    "test_one_choice",
    "choices_that_meet",
    "no_choice_changes",
    "test_tables",
    "places_are_ranked",
)
SECONDS = 2.5
MESSAGE = m.Raise() | m.Assign(targets=[m.AssignTarget(m.Name("msg"))])
ANSWER = Path(tempfile.mkdtemp()) / "answer.json"
RESULT = Path("build", "mutants.jsonl")
SURVIVED, NO_FUNCTION = -1, -2


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
    """Yield the mutants of a file; the first one is a control that changes nothing."""
    wrapper = MetadataWrapper(cst.parse_module(path.read_text("utf-8")))
    visitor = Visitor(mutation_operators, IgnoredCode(set(), set(), set()))
    module = wrapper.visit(visitor)
    where, above = wrapper.resolve(PositionProvider), wrapper.resolve(ParentNodeProvider)
    lines = len(module.code.splitlines())
    yield {"path": path, "lines": [1, lines], "was": "", "now": "", "wording": False}
    for one in visitor.mutations:
        at, chain = where[one.original_node], [one.original_node]
        while chain[-1] in above:
            chain.append(above[chain[-1]])
        yield {
            "path": path,
            "lines": [at.start.line, at.end.line],
            "was": module.code_for_node(one.original_node),
            "now": module.code_for_node(one.mutated_node) or "nothing",
            "wording": any(has_sentence(node) or m.matches(node, MESSAGE) for node in chain),
            "function": any(m.matches(node, m.FunctionDef() | m.Lambda()) for node in chain),
            "text": lambda one=one: module.deep_replace(one.original_node, one.mutated_node).code,
        }


def outer_functions(code: CodeType) -> Iterator[CodeType]:
    """Yield the outermost functions of a module, which include the inner ones."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from [one] if one.co_flags & 2 else outer_functions(one)


def changed_functions(mutant: dict[str, Any]) -> dict[tuple[str, int], CodeType]:
    """Return the new code of the functions that a mutant changes, by name and line."""
    texts = mutant["path"].read_text("utf-8"), mutant["text"]()
    old, new = (outer_functions(compile(text, "", "exec")) for text in texts)
    pairs = zip(old, new, strict=False)
    return {(one.co_qualname, one.co_firstlineno): other for one, other in pairs if one != other}


def run_in_fork(run: Callable[[], Any], limit: float) -> Any:
    """Return the result of a function in a fork, or "time" if it does not end in time."""
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
    if os.WIFSIGNALED(status):
        return "time" if os.WTERMSIG(status) == signal.SIGALRM else "crash"
    answer = json.loads(ANSWER.read_text("utf-8"))
    if isinstance(answer, dict) and "error" in answer:
        raise RuntimeError(answer["error"])
    return answer


class Failed(BaseException):
    """A test has failed."""


class Mutation:
    """A pytest plugin that runs the tests once per mutant."""

    def __init__(self, found: list[dict[str, Any]]) -> None:
        self.mutants = found
        self.kills: Counter[Any] = Counter()
        self.tried: Counter[int] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Stop at the first failure."""
        if report.failed:
            raise Failed(report.nodeid, report.longreprtext)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run all tests once, then for each mutant the tests that reach it."""
        self.items = session.items
        living = defaultdict(list)
        for one in gc.get_objects():
            if isinstance(one, FunctionType):
                living[one.__code__.co_filename].append(one)
        gc.freeze()
        self.seconds, self.reached = run_in_fork(self.trace_tests, 3600)
        for number, mutant in enumerate(self.mutants):
            changed = changed_functions(mutant) if mutant.get("function") else {}
            if "text" in mutant and not changed:
                mutant["by"] = NO_FUNCTION
                continue
            path, tests = str(mutant["path"].resolve()), self.choose_tests(mutant)
            limit = 20 + 20 * sum(self.seconds[one] for one in tests)  # the machine may be busy
            by = run_in_fork(partial(self.find_killer, changed, tests, living[path]), limit)
            failed = by in tests
            mutant["by"] = self.items[by].nodeid if failed else by
            self.tried.update(tests[: tests.index(by) + 1] if failed else tests)
            self.kills[by] += 1
            if number % 500 == 0:
                print(f"{number} of {len(self.mutants)}", flush=True)
        return True

    def trace_tests(self) -> tuple[list[float], dict[str, dict[int, list[int]]]]:
        """Return the seconds of each test, and the tests that reach each line."""
        files = sorted({str(one["path"]) for one in self.mutants})
        tracer, seconds = coverage.Coverage(data_file=None, include=files), []
        tracer.start()
        for number in range(len(self.items)):
            tracer.switch_context(str(number))
            start = time.process_time()
            self.run(number)
            seconds.append(time.process_time() - start)
        tracer.stop()
        data, reached = tracer.get_data(), {}
        for path in data.measured_files():
            lines = data.contexts_by_lineno(path).items()
            reached[path] = {line: [int(one) for one in tests if one] for line, tests in lines}
        return seconds, reached

    def run(self, number: int) -> None:
        """Run a test."""
        item = self.items[number]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)

    def choose_tests(self, mutant: dict[str, Any]) -> list[int]:
        """Return the tests that reach a mutant, the most promising and fastest first."""
        lines = self.reached.get(str(mutant["path"].resolve()), {})
        first, last = mutant["lines"]
        tests: set[int] = set()
        while not tests and first:  # a line without code: use the line before
            tests = {one for line in range(first, last + 1) for one in lines.get(str(line), ())}
            first -= 1
        order, spent = [], 0.0
        for one in sorted(tests, key=self.priority, reverse=True):
            name = self.items[one].nodeid
            own = (
                name.startswith(f"tests/{mutant['path'].parent.name}/") and self.seconds[one] < 0.2
            )
            whole = own or any(part in name for part in WHOLE)
            if whole or spent + self.seconds[one] < SECONDS:
                order.append(one)
                spent += 0 if whole else self.seconds[one]
        return order

    def priority(self, test: int) -> float:
        """Return a test's estimated probability to kill a mutant, per second."""
        return (1 + self.kills[test]) / (2 + self.tried[test]) / (0.1 + self.seconds[test])

    def find_killer(self, changed: dict[Any, Any], tests: list[int], living: list[Any]) -> int:
        """Return the first test that fails."""
        for one in living:
            code = one.__code__
            one.__code__ = changed.get((code.co_qualname, code.co_firstlineno), code)
        for number in tests:
            try:
                self.run(number)
            except BaseException:  # noqa: BLE001 - any error is a failure
                return number
        return SURVIVED


def report_figures(found: list[dict[str, Any]]) -> None:
    """Print the figures, and write the result of every mutant to a file."""
    if any(one["by"] != SURVIVED for one in found if "text" not in one):
        sys.exit("A test fails although nothing is changed, so the figures mean nothing.")
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text("".join(f"{json.dumps(to_record(one))}\n" for one in found), "utf-8")
    of_functions = [one for one in found if "text" in one and one["by"] != NO_FUNCTION]
    for title, wordings in (("behaviour", {False}), ("all", {False, True})):
        for package in (*PACKAGES, "recsys_ndcg"):
            some = [
                one["by"] == SURVIVED
                for one in of_functions
                if one["wording"] in wordings and package in one["path"].parts
            ]
            share = f"{1 - sum(some) / max(len(some), 1):8.1%}"
            print(
                f"{title:12}{package:12}{len(some):6} mutants{sum(some):5} survived{share} killed"
            )
    print(
        f"{sum(one['by'] == NO_FUNCTION for one in found)} left out: they are outside of functions"
    )


def to_record(one: dict[str, Any]) -> dict[str, Any]:
    """Return a mutant as a record for the file."""
    return {name: value for name, value in one.items() if name != "text"} | {
        "path": str(one["path"])
    }


def main() -> None:
    """Run the mutants of some packages or files."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument(
        "names", nargs="*", default=PACKAGES, help="packages or files: metrics, metrics/hits.py"
    )
    parser.add_argument("--every", type=int, default=1, help="run only every n-th mutant")
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
    paths = [Path("recsys_ndcg", name) for name in given.names]
    files = [
        file for path in paths for file in sorted(path.glob("*.py") if path.is_dir() else [path])
    ]
    found = [one for file in files for one in find_mutants(file)]
    began, plugin = time.time(), Mutation(found[:: given.every])
    options = ["-n0", "-s", "-Wignore::pytest.PytestAssertRewriteWarning", "-p", "no:cacheprovider"]
    options.append("--hypothesis-profile=mutation")
    pytest.main([*options, f"--basetemp={ANSWER.parent / 'tests'}", *TESTS], [plugin])
    report_figures(plugin.mutants)
    print(f"{time.time() - began:.0f} s")


if __name__ == "__main__":
    main()
