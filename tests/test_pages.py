"""The README, CONTRIBUTING.md and the pages in docs/: links lead somewhere, and examples run."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.findings import Finding
from tests import pages
from tests.accuracy import FIELDS as CHOSEN
from tests.package_size import FILES
from tests.pages import DOCS, PAGES, README, ROOT, fenced, page_of, section, text_of
from tests.profiles import slow

DATA, CHOICES, EXPERIMENTS = map(page_of, ("data", "choices", "experiments"))
LONG = [*map(page_of, ("experiments", "gate-in-ci", "weights", "over-time", "publish"))]
QUICK = [one for one in DOCS if one not in LONG]
VALUES = rn.Convention.CHOICES
#: What code and commands of a page need besides what they import, by a part of them.
NEEDED = {
    ".plot(": "altair", ".to_html(": "altair", " demo": "surprise", "memory_limit=": "duckdb",
    "--memory-limit": "duckdb", "--html": "vl_convert", ".torchmetric(": "torchmetrics",
    ".mlflow_metric(": "mlflow", '"-m", "recsys_ndcg"': "cyclopts",
}  # fmt: skip
_WARN = ("warn", "warn_of_leak", "emit_labelled_warnings")


def _name(page: Path) -> str:
    return page.relative_to(ROOT / "docs").as_posix() if page in DOCS else page.name


def test_the_readme_is_short() -> None:
    """What is longer has a page."""
    assert len(text_of(README).splitlines()) <= 100


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_somewhere(page: Path) -> None:
    """To a heading of a file of the checkout or of the installed package, or to a built page."""
    for link in pages.links(page):
        place, _, anchor = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        if pages.is_written_by_the_build(target):
            continue
        assert target.is_relative_to(ROOT), link
        if target.is_relative_to(ROOT / "recsys_ndcg"):
            target = Path(rn.__file__).parents[1] / target.relative_to(ROOT)
        assert target.exists(), link
        assert not anchor or anchor in pages.anchors(target), link


def test_links_to_pages_of_the_build_name_a_metric() -> None:
    """A page in docs/metrics/ is that of a metric; pages elsewhere are written by hand."""
    docs = ROOT / "docs"
    written = ("metrics/ndcg.md", "reference/report.md")
    others = ("metrics/ndgc.md", "metrics/index.md", "how-to/ndcg.md", "metrics/ndcg.txt")
    assert all(pages.is_written_by_the_build(docs / one) for one in written)
    assert not any(pages.is_written_by_the_build(docs / one) for one in others)


@pytest.mark.parametrize("index", [one for one in DOCS if one.name == "index.md"], ids=str)
def test_an_index_lists_every_page_of_its_folder(index: Path) -> None:
    """In a `toctree`, from which the navigation of the site is made."""
    if index.parent.name in pages.WRITTEN_BY_THE_BUILD:
        pytest.skip("the build lists its pages")
    lines = "".join(fenced(index, "{toctree}")).splitlines()
    names = [re.sub(r".*<(.*)>", r"\1", one) for one in lines if one and not one.startswith(":")]
    listed = {one for name in names for one in index.parent.glob(f"{name}.md")}
    others = {one for one in DOCS if one.parent == index.parent and one != index}
    assert others <= listed
    assert len(names) == len(set(names))


@pytest.mark.parametrize("page", DOCS, ids=_name)
def test_a_page_begins_with_its_title_and_a_sentence(page: Path) -> None:
    """A reader who comes from a search engine sees what the page is about."""
    title, blank, first, *_ = text_of(page).splitlines()
    assert title.startswith("# ")
    assert not blank
    assert re.match(r"[A-Z`\[][^|<]{40}", first)


@pytest.mark.parametrize("page", [*QUICK, README, *slow(*LONG)], ids=_name)
def test_python_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a reader would paste it, with what it prints.

    Blocks that need a library that is not installed are left out.
    """
    monkeypatch.chdir(tmp_path)
    if page.name == "scorers.md":  # its output is that of the newest libraries, which CI installs
        pytest.importorskip("lightgbm")
    session = pages.Session()
    for number, (code, printed) in enumerate(pages.examples(page)):
        if "pyspark" in code:
            pytest.skip("tests/scale runs it if Spark is installed")
        if not session.can_run(code):
            continue
        _skip_without_libraries(code)
        place = f"{_name(page)}, block {number}"
        shown = session.run(code, place)
        assert printed is None or shown == printed, place


@pytest.mark.parametrize("page", [*QUICK, *slow(README, *LONG)], ids=_name)
def test_commands_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands of recsys-ndcg, in a folder with the files that they name."""
    pytest.importorskip("cyclopts")
    from tests.commands import run  # noqa: PLC0415 - an extra

    commands = re.findall("^recsys-ndcg .*$", "".join(fenced(page, "sh")), re.MULTILINE)
    if commands:
        _with_data(tmp_path)
    monkeypatch.chdir(tmp_path)
    for line in commands:
        _skip_without_libraries(line)
        words = shlex.split(line.partition(" 2> ")[0], comments=True)[1:]
        result = run(*words)
        assert result.exit_code == 0, f"{line}: {result.stderr}"


def _skip_without_libraries(text: str) -> None:
    for part, library in NEEDED.items():
        if part in text:
            pytest.importorskip(library)


def _with_data(folder: Path) -> None:
    """Write the files that the pages speak of."""
    ratings = sample_ratings(n_users=60, n_items=80)
    ratings.to_csv(folder / "ratings.csv", index=False)
    shutil.copy(folder / "ratings.csv", folder / "ratings.dat")
    early = ratings.index < 0.8 * len(ratings)
    for name, part in (("train", ratings[early]), ("test", ratings[~early])):
        part.to_csv(folder / f"{name}.csv", index=False)
    data = ratings.rename(columns={"rating": "true"}).drop(columns="timestamp")
    data["user"] = data["user"].str[1:].astype(int)
    data["estimated"] = data["true"] + np.sin(np.arange(len(data)))
    data.to_csv(folder / "predictions.csv", index=False)
    if find_spec("pyarrow"):
        for name in ("predictions", "top"):
            (folder / name).mkdir()
            for place in range(2):
                data.iloc[place::2].to_parquet(folder / name / f"{place}.parquet")
        data.iloc[::3].to_parquet(folder / "test.parquet")
    for name, noise in (("svd", 1.0), ("knn", 1.2)):
        model = data.assign(estimated=data["true"] + noise * np.cos(np.arange(len(data))))
        model.to_csv(folder / f"{name}.csv", index=False)
        (folder / "other").mkdir(exist_ok=True)
        model[model["user"] % 2 == 0].to_csv(folder / "other" / f"{name}.csv", index=False)
    names = {"user": "uid", "item": "iid", "estimated": "est", "true": "r_ui"}
    data.rename(columns=names).to_csv(folder / "surprise.csv", index=False)
    data[data["true"] > 4][["user", "item"]].to_csv(folder / "clicks.csv", index=False)
    top = data.sort_values(["user", "estimated"], ascending=False).groupby("user").head(10)
    top[["user", "item", "estimated"]].to_csv(folder / "top.csv", index=False)
    (config,) = fenced(EXPERIMENTS, "toml")
    (folder / "today.toml").write_text(config)
    (folder / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 2\n")
    (folder / "run.txt").write_text("q1 Q0 d3 1 9.1 mine\nq1 Q0 d9 2 8 mine\nq1 Q0 d1 3 7.5 mine\n")


#: The kinds of findings that are warnings.
_FINDINGS = ("reversed_order", "reversed_estimates", "decisive_ties")


def _warned() -> dict[str, str]:
    """Return the wording of every warning of the package, by the place of its call."""
    found: dict[str, str] = {}
    functions = [(one.path, each) for one in FILES for each in one.nodes(ast.FunctionDef)]
    for path, function in functions:
        if function.name not in _WARN:
            loops = (one for one in ast.walk(function) if isinstance(one, ast.For))
            looped = {ast.unparse(one.target) for one in loops}
            found |= {
                f"{path.name}:{call.lineno}": _wording(call.args[0], function)
                for call in ast.walk(function)
                if isinstance(call, ast.Call) and call.args
                if ast.unparse(call.func).rpartition(".")[2] in _WARN[:2]
                if ast.unparse(call.args[0]) not in looped  # those below
            } | {
                f"{path.name}:{one.lineno}": _wording(one.value, function)
                for one in ast.walk(function)
                if path.match("lists/facts.py") or function.name == "find_warnings"
                if isinstance(one, ast.Yield) and one.value
                if not isinstance(one.value, ast.Attribute)  # of a finding
            }
    return found | {kind: Finding(kind).template.text for kind in _FINDINGS}


def _wording(message: ast.AST, function: ast.FunctionDef) -> str:
    """Return the constant parts of a message, which may be given a name before it is used."""
    if isinstance(message, ast.Name):
        before = [
            one.value
            for one in ast.walk(function)
            if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == message.id
            if one.lineno < message.lineno
        ]
        message = max(before, key=lambda value: value.lineno)
    if isinstance(message, ast.Call) and isinstance(message.func, ast.Name):  # writes the message
        name = message.func.id
        writers = (
            each for one in FILES for each in one.nodes(ast.FunctionDef) if each.name == name
        )
        return "".join(_wording(one, one) for one in writers)
    return "".join(str(one.value) for one in ast.walk(message) if isinstance(one, ast.Constant))


def test_every_warning_is_documented() -> None:
    """In the table of warnings, each by words of its own message, and no other."""
    rows = re.findall(r"^\| “([^”]+)” \|", section(DATA, "Warnings"), re.MULTILINE)
    parts = [[part.strip() for part in row.split("…")] for row in rows]
    warned = _warned()
    documented = {
        place: [row for row, one in zip(rows, parts, strict=True) if all(p in text for p in one)]
        for place, text in warned.items()
    }
    assert {place: len(found) for place, found in documented.items()} == dict.fromkeys(warned, 1)
    assert {row for found in documented.values() for row in found} == set(rows)


@pytest.mark.slow
def test_a_run_of_pytest_can_be_stopped_by_a_warning(tmp_path: Path) -> None:
    """By the option that the page names."""
    (line,) = [one for one in fenced(DATA, "sh") if one.startswith("pytest ")]
    code = "import recsys_ndcg as rn\n\ndef test():\n    rn.evaluate({1: [(2, 5), (2, 1)]})\n"
    (tmp_path / "test_one.py").write_text(code, encoding="utf-8")
    for options, code_expected in ((shlex.split(line)[1:], 1), ([], 0)):
        done = subprocess.run(  # noqa: S603 - our own
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, "test_one.py"],
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == code_expected, done.stdout


def test_every_extra_is_documented() -> None:
    """In the table of extras."""
    extras = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]["optional-dependencies"]
    cells = re.findall(r"^\| (`.*?) \|", section(page_of("install"), "Extras"), re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(cells))) == sorted(extras)


def test_every_choice_is_documented() -> None:
    """In the table of options, with all its values, the default first."""
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", section(CHOICES, "All options"), re.MULTILINE)
    documented = {name: re.findall(r"`([^`]+)`", values) for name, values in rows}
    assert list(documented) == CHOSEN
    for name, values in documented.items():
        default = getattr(rn.Convention(), name)
        written = [f'"{one}"' if isinstance(one, str) else str(one) for one in VALUES.get(name, ())]
        assert values[0] == (f'"{default}"' if isinstance(default, str) else str(default))
        assert [one for one in written if one not in values] == []
