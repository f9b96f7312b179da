"""Pages that are made from the code at every build: metrics, reference, command line, gallery.

A new metric, preset, option or public name appears on the site without a line written for it.
"""

from __future__ import annotations

import inspect
import os
import re
import runpy
import shutil
import subprocess
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpydoc.docscrape import NumpyDocString
from terms import format_columns, format_findings

import recsys_ndcg as rn
from recsys_ndcg import surprise
from recsys_ndcg.cli import build_application
from recsys_ndcg.convention import PRESETS, format_choice
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.metrics import METRICS, Metric

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
#: Copied into the site as they are.
EXTRA = HERE / "_extra"
THRESHOLD, K = 4, 10
GENRES = ("drama", "comedy", "crime", "war")
STUDIOS = ("A24", "Ghibli", "Pixar")
#: Public names that are not in `recsys_ndcg` itself: what its functions return, and other doors.
MORE = (
    "datasets.sample_ratings", "scale.spark.evaluate", "scale.spark.SparkReport",
    "scale.spark.WorkerError", "rendering.plots.to_svg",
    *(f"results.{name}" for name in rn.results.__all__ if name not in rn.__all__),
    *(f"integrations.{name}" for name in rn.integrations.__all__),
)  # fmt: skip
#: The columns of our features, and their kind.
COLUMNS = {"genres": "set", "studio": "category", "price": "number"}


def write_pages(_app: Sphinx, _config: object) -> None:
    """Write all pages, before Sphinx looks for them."""
    warnings.simplefilter("ignore", rn.DataWarning)  # of the sample ratings; reports say the same
    for folder in ("metrics", "reference"):
        for page in (HERE / folder).glob("*.md"):
            if page.name != "index.md":
                page.unlink()
    write_metrics()
    write_reference()
    write_gallery()


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages at the start of a build."""
    app.connect("config-inited", write_pages)
    app.connect("source-read", drop_checkout_links)
    app.connect("autodoc-process-docstring", link_sources)
    app.connect("html-page-context", replace_empty_headings)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def drop_checkout_links(_app: Sphinx, page: str, source: list[str]) -> None:
    """Keep only the text of links to folders and pages of the checkout that are not on the site."""
    folder = (HERE / page).parent

    def replace(link: re.Match[str]) -> str:
        target = (folder / link[2].partition("#")[0]).resolve()
        is_page = target.suffix == ".md" and not target.is_relative_to(HERE)
        return link[1] if target.is_dir() or is_page else link[0]

    source[0] = re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", replace, source[0])


def link_sources(
    _app: Sphinx, _what: str, _name: str, _one: object, _options: object, lines: list[str]
) -> None:
    """Make links of the DOIs in a docstring."""
    lines[:] = [
        re.sub(r"\bdoi:(10\.[^\s,;]+\w)", r"`doi:\1 <https://doi.org/\1>`__", line)
        for line in lines
    ]


def replace_empty_headings(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: object
) -> None:
    """Make cells of empty headings, which screen readers would announce."""
    body = context.get("body", "")
    context["body"] = re.sub(r"<th( [^>]*)?>(<p></p>)?</th>", r"<td\1></td>", body)


# metrics


def write_metrics() -> None:
    """Write a page for each registered metric, and the table of all."""
    rows = ["| metric | what it is | needs |", "|---|---|---|"]
    for name, kind in sorted(METRICS.items()):
        what = _first_line(kind) + ("" if kind.per_user else " (of all lists)")
        rows.append(f"| [`{_format_name(kind)}`]({name}.md) | {what} | {_list_sources(kind)} |")
        _write(f"metrics/{name}.md", _format_metric(name, kind))
    names = "\n".join(f"{name} <{name}>" for name in sorted(METRICS))
    _write("metrics/_table.md", "\n".join(rows) + f"\n\n```{{toctree}}\n:hidden:\n\n{names}\n```")


def _format_metric(name: str, kind: type[Metric]) -> str:
    """Return the page of a metric: its docstring, and what libraries make of it."""
    # in the title, so that a search for another name leads here
    title = f"{name}, also called {', '.join(kind.also_called)}" if kind.also_called else name
    sources = _list_sources(kind)
    needs = f", and pass {sources}" if sources else ""
    return "\n\n".join(
        [
            f"# {title}",
            f"Write it `{_format_name(kind)}`{needs}.",
            _directive("autoclass", _path_of(kind), "no-members:", "no-index-entry:"),
            "## In other libraries",
            _compare_libraries(_format_example(kind), kind),
        ]
    )


def _list_sources(kind: type[Metric]) -> str:
    """Return the arguments that a metric needs, such as ``train=``."""
    return ", ".join(f"`{one}=`" for one in sorted(_find_sources(kind)))


def _format_name(kind: type[Metric]) -> str:
    """Return how a metric is written, such as ``diversity(column)@k``."""
    has_column = any(one.name == "column" for one in fields(kind))
    return f"{kind.name}{'(column)' * has_column}{'@k' * (kind.cutoff != 'none')}"


def _format_example(kind: type[Metric]) -> str:
    """Return a metric of our lists, such as ``diversity(genres)@10``."""
    kinds = getattr(kind, "kinds", ())
    column = next((name for name, one in COLUMNS.items() if one in kinds), "")
    needs_group = any(one.name == "item_group" for one in fields(kind))
    options = f"{column},item_group=A24" if needs_group else column
    name = _format_name(kind).replace("(column)", f"({options})")
    return name.replace("@k", f"@{K}")


def _compare_libraries(metric: str, kind: type[Metric]) -> str:
    """Return the numbers of all libraries that have the metric, on the same lists."""
    others = [
        f"- `{name}`: {note}."
        for name, preset in PRESETS.items()
        if (note := preset.format_note(metric))
    ]
    if not any(preset.has(metric) for preset in PRESETS.values()):
        none = "No convention of another library has this metric."
        return "\n\n".join([none, "\n".join(others)])
    data, known = _lists_of_items() if kind.needs else (_predictions(), {})
    table = rn.reconcile(data, metric, k=K, threshold=THRESHOLD, **known)
    table = table[table["preset"].map(lambda name: PRESETS[name].has(metric))]
    ours = f"{table['yours'].iloc[0]:.4f}"
    without = table[table["value"].isna()]
    others += [
        f"- `{one.preset}` has no number for these: {one.note}" for one in without.itertuples()
    ]
    of_same = (
        f"lists: {K} items for each user of the sample ratings"
        if kind.needs
        else "predictions: those of "
        "[one file, many numbers](../concepts/libraries.md#one-file-many-numbers)"
    )
    rows = [
        f"`{metric}` of the same {of_same}.",
        "",
        "| number | as in | choices that differ from ours, with their effect |",
        "|---|---|---|",
        f"| {ours} | ours | |",
    ]
    for number, same in table.groupby(table["value"].round(4), sort=True):
        value = f"{number:.4f}"
        names = ", ".join(f"`{one}`" for one in same["preset"])
        why = " *or* ".join(f"`{text}`" for text in dict.fromkeys(same["changes"]) if text)
        if value == ours and not why:
            rows[4] = f"| {ours} | ours, {names} | |"
        else:
            rows.append(f"| {value} | {names} | {why or 'each has an effect below 0.0001'} |")
    arguments = "".join(f", {one}=..." for one in sorted(_find_sources(kind)))
    ask = f'rn.reconcile(data, "{metric}", threshold={THRESHOLD}{arguments})'
    return "\n".join([*rows, "", *others, "", f"`{ask}` makes this table for your data."])


@cache
def _predictions() -> pd.DataFrame:
    """Return the predictions whose numbers docs/concepts/libraries.md shows."""
    predictions: pd.DataFrame = _example("presets.py")["predictions"](sample_ratings())
    return predictions


@cache
def _lists_of_items() -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    """Return top lists of new items with ties, their labels, and all that measures can need."""
    ratings = sample_ratings()
    is_test = np.random.default_rng(0).random(len(ratings)) < 0.2
    train, test = ratings[~is_test], ratings[is_test]
    items = train.groupby("item")["rating"].agg(["sum", "size"])
    numbers = np.arange(len(items))
    features = pd.DataFrame(
        {
            "item": items.index,
            "genres": [{GENRES[n % 4], GENRES[n // 4 % 4]} for n in numbers],
            "studio": [STUDIOS[n % 3] for n in numbers],
            "price": 1.0 + numbers % 7,
        }
    )
    # the mean rating of an item among ten others of the mean of all
    quality = (items["sum"] + 10 * train["rating"].mean()) / (items["size"] + 10)
    lists = _recommend(quality.round(1), train)
    labels = test[test["item"].isin(items.index)].rename(columns={"rating": "true"})
    users = sorted(ratings["user"].unique())
    known = {
        "train": train,
        "catalogue": items.index,
        "features": features,
        "base": _recommend(items["size"].astype(float), train),
        "groups": {user: "new" if n % 3 == 0 else "old" for n, user in enumerate(users)},
    }
    return {"labels": labels[["user", "item", "true"]], "results": lists}, known


def _recommend(scores: pd.Series, train: pd.DataFrame) -> pd.DataFrame:
    """Return each user's items with the highest scores that are not in training."""
    had = train.groupby("user")["item"].agg(set)
    order = scores.sort_values(ascending=False, kind="stable")
    rows = [
        (user, item, order[item])
        for user, known in had.items()
        for item in [one for one in order.index if one not in known][:K]
    ]
    return pd.DataFrame(rows, columns=["user", "item", "estimated"])


# reference


def write_reference() -> None:
    """Write a page for each public name, the command line, and all choices of a convention."""
    rooms = defaultdict[str, list[tuple[str, Any]]](list)
    for name, one in _public_names().items():
        rooms[_room_of(name, one)].append((name, one))
    sections, pages = [], []
    for room, names in rooms.items():
        title = room.replace("_", " ").capitalize()
        rows = [f"## {title}", "", "| name | what it is |", "|---|---|"]
        for name, one in names:
            page = name.lower().replace(".", "-")  # `metric` and `Metric` share a page
            # the folder of what a function returns is of no interest
            is_returned = name in MORE and inspect.isclass(one)
            short = name.rpartition(".")[2] if is_returned else name
            rows.append(f"| [`{short}`]({page}.md) | {_first_line(one)} |")
            _append(f"reference/{page}.md", f"# {short}", _document(f"recsys_ndcg.{name}", one))
            pages.append(page)
        sections.append("\n".join(rows))
    _write("reference/command-line.md", _format_commands())
    _write("reference/choices.md", _format_choices())
    _write("reference/columns.md", format_columns())
    _write("reference/findings.md", format_findings())
    tree = "\n".join(["command-line", "choices", "columns", "findings", *dict.fromkeys(pages)])
    _write(
        "reference/_names.md", "\n\n".join([*sections, f"```{{toctree}}\n:hidden:\n\n{tree}\n```"])
    )


def _public_names() -> dict[str, Any]:
    """Return all public names but metrics, in the order in which `help(recsys_ndcg)` has them."""
    found = {name: getattr(rn, name) for name in rn.__all__ if name != "__version__"}
    found = {name: one for name, one in found.items() if one not in METRICS.values()}
    for module in (surprise, surprise.accuracy):
        for name in getattr(module, "__all__", vars(module)):
            one = getattr(module, name)
            if callable(one) and getattr(one, "__module__", "").startswith("recsys_ndcg"):
                found[f"{module.__name__.removeprefix('recsys_ndcg.')}.{name}"] = one
    for path in MORE:
        module, _, name = path.rpartition(".")
        found[path] = getattr(import_module(f"recsys_ndcg.{module}"), name)
    text = str(rn.__doc__)

    def place(name: str) -> tuple[int, str]:
        mentioned = re.search(rf"\b{name.rpartition('.')[2]}\b", text)
        return (mentioned.start() if mentioned else len(text)), name

    return {name: found[name] for name in sorted(found, key=place)}


def _room_of(name: str, one: Any) -> str:
    """Return the folder of the package, or the module at its top, that has a name."""
    if inspect.isclass(one) and issubclass(one, Exception):
        return "errors"
    return name.partition(".")[0] if "." in name else str(one.__module__).split(".")[1]


def _document(path: str, one: Any) -> str:
    """Return the directive that writes the docstring of a class or a function."""
    if not inspect.isclass(one):
        return _directive("autofunction", path)
    bases = "DataFrame, Mapping, ValueError, UserWarning, AlgoBase, str"  # theirs are not shown
    return _directive("autoclass", path, "members:", f"inherited-members: {bases}")


def _format_commands() -> str:
    """Return the help of the command line, and of every command."""
    parts = [
        "# The command line",
        "`recsys-ndcg` evaluates, compares and explains files of predictions, without any Python.",
    ]
    for command in ((), *((one,) for one in _list_commands())):
        title = f"## {' '.join(('recsys-ndcg', *command))}"
        parts += [title, f"```text\n{_show_help(command)}```"]
    return "\n\n".join(parts)


def _list_commands() -> list[str]:
    """Return the names of all commands, in the order of the help."""
    return [name for name in build_application() if not name.startswith("-")]


def _show_help(command: Iterable[str]) -> str:
    """Return the help of a command, as plain text."""
    words = [sys.executable, "-m", "recsys_ndcg", *command, "--help"]
    plain = {"COLUMNS": "96", "TERM": "dumb", "NO_COLOR": "1", "PYTHONUTF8": "1"}
    done = subprocess.run(  # noqa: S603 - our own
        words, env=os.environ | plain, check=True, capture_output=True
    )
    lines = done.stdout.decode().splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines).strip("\n") + "\n"


def _format_choices() -> str:
    """Return all choices of a convention with their values, from its docstring."""
    parts = [
        "# All choices of a convention",
        "Every field of [`rn.Convention`](convention.md), with all its values.",
    ]
    described = NumpyDocString(str(inspect.getdoc(rn.Convention)))["Parameters"]
    beyond = set(rn.Convention.BEYOND_ACCURACY)
    for title, wanted in (("Relevance and errors", False), ("Beyond accuracy", True)):
        rows = [
            f"## {title}",
            "",
            "| choice | default | values | what it decides |",
            "|---|---|---|---|",
        ]
        for one in described:
            if (one.name in beyond) is wanted:
                default = format_choice(getattr(rn.Convention(), one.name))
                text = " ".join(one.desc).replace("|", "\\|")
                rows.append(f"| `{one.name}` | `{default}` | `{one.type}` | {text} |")
        parts.append("\n".join(rows))
    rows = [
        "## Of one metric",
        "",
        "| metric | choice | values | what it decides |",
        "|---|---|---|---|",
    ]
    for metric, kind in METRICS.items():
        for one in NumpyDocString(str(inspect.getdoc(kind)))["Parameters"]:
            if (name := one.name.rstrip("_")) in kind.find_choices():
                rows.append(f"| `{metric}` | `{name}` | `{one.type}` | {' '.join(one.desc)} |")
    return "\n\n".join([*parts, "\n".join(rows)])


# gallery


def write_gallery() -> None:
    """Write a page of each kind, and show them in frames."""
    shutil.rmtree(EXTRA, ignore_errors=True)
    (EXTRA / "gallery").mkdir(parents=True)
    ratings = sample_ratings()
    models = {"biases": surprise.BaselineOnly(verbose=False), "popular": surprise.MostPopular()}
    is_late = ratings["timestamp"] > ratings["timestamp"].quantile(0.8)
    pages = {
        "A report": rn.evaluate(_predictions(), threshold=THRESHOLD),
        "A comparison": _example("gallery.py")["compare_models"](ratings, float(THRESHOLD)),
        "An experiment": rn.experiment(
            ratings, models, metrics=["ndcg@10"], threshold=THRESHOLD, splits=3, progress=False
        ),
        "A check of a split": rn.check_split(ratings[~is_late], ratings[is_late]),
    }
    frames = []
    for title, one in pages.items():
        name = f"{title.split()[-1]}.html"
        one.to_html(EXTRA / "gallery" / name)
        frames.append(
            f'## {title}\n\n<p><a href="{name}">The whole page</a></p>\n'
            f'<iframe class="page" src="{name}" title="{title}" loading="lazy"></iframe>'
        )
    _write("gallery/_pages.md", "\n\n".join(frames))


def _example(name: str) -> dict[str, Any]:
    """Return the functions of an example."""
    return runpy.run_path(str(EXAMPLES / name), run_name="an example")


# writing


def _directive(name: str, argument: str, *options: str) -> str:
    lines = "".join(f"   :{option}\n" for option in options)
    return f"```{{eval-rst}}\n.. {name}:: {argument}\n{lines}```"


def _find_sources(kind: type[Metric]) -> frozenset[str]:
    """Return the arguments of `recsys_ndcg.evaluate` that a metric needs by default."""
    return kind().find_sources(rn.Convention()) - {"items"}


def _first_line(one: Any) -> str:
    """Return the first line of a docstring, without its full stop."""
    return str(inspect.getdoc(one)).splitlines()[0].rstrip(".").replace("|", "\\|")


def _path_of(kind: type) -> str:
    """Return the shortest path of a class."""
    if getattr(rn, kind.__name__, None) is kind:
        return f"recsys_ndcg.{kind.__name__}"
    return f"{kind.__module__}.{kind.__name__}"


def _write(path: str, text: str) -> None:
    (HERE / path).write_text(f"{text.rstrip()}\n", encoding="utf-8")


def _append(path: str, title: str, text: str) -> None:
    """Write a page, or add to one of the same name but for upper case."""
    page = HERE / path
    before = page.read_text(encoding="utf-8") if page.exists() else title
    _write(path, f"{before.rstrip()}\n\n{text}")
