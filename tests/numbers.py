"""Digests of many numbers: ``python -m tests.numbers`` renews them, and moves the version.

`numbers.toml` has a digest of each metric, ours and as in each library, and of tables of reports
and comparisons. If a number changes, the version must change, too: signatures contain it, and equal
signatures mean equal numbers. New metrics and presets need no new version.
"""

from __future__ import annotations

import random
import re
import tomllib
import warnings
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd

import recsys_ndcg as rn
from recsys_ndcg.convention import PRESETS
from recsys_ndcg.metrics import METRICS
from tests.comparison.models import models
from tests.pages import ROOT, text_of

DIGESTS = Path(__file__).with_suffix(".toml")
_VERSION = Path(rn.__file__).with_name("version.py")
_DIGITS = 9  # the last ones may depend on the machine
_K, _THRESHOLD = 3, 3
_KINDS = {"genres": "set", "studio": "category", "price": "number"}
_COUNTRIES = ("DE", "FR", "JP")


def compute_digests() -> dict[str, str]:
    """Return a digest for each subject."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rn.DataWarning)  # tiny data are suspicious
        return {name: _digest(table) for name, table in [*_tables_of_metrics(), *_other_tables()]}


def _tables_of_metrics() -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the values of each metric, of predictions or of lists, by convention."""
    draw = random.Random(0)  # noqa: S311 - no secrets
    items, users = [*range(1, 31)], [f"u{n}" for n in range(12)]

    def sample(most: int) -> list[tuple[str, int]]:
        fewest = 0 if most < 12 else 8  # some users have no list, or no relevant item
        return [
            (one, item) for one in users for item in draw.sample(items, draw.randint(fewest, most))
        ]

    columns = ["user", "item", "true"]
    labels = pd.DataFrame([(*pair, draw.randint(1, 5)) for pair in sample(14)], columns=columns)
    lists = [[(*pair, draw.randint(1, 6)) for pair in sample(6)] for _ in range(2)]
    results, base = (pd.DataFrame(one, columns=["user", "item", "estimated"]) for one in lists)
    columns_of = {
        "genres": [{*draw.sample(["drama", "war", "crime", "noir"], n % 3)} for n in items],
        "studio": [_COUNTRIES[n % 3] for n in items],
        "price": [n % 7 + 0.5 for n in items],
    }
    known: dict[str, Any] = {
        "train": pd.DataFrame([(*pair, draw.randint(1, 5)) for pair in sample(9)], columns=columns),
        "catalogue": items,
        "features": pd.DataFrame({"item": items, **columns_of}),
        "base": base,
        "groups": {user: _COUNTRIES[n % 3] for n, user in enumerate(users)},
    }
    rated = labels.assign(estimated=[draw.randint(1, 9) for _ in range(len(labels))])
    joined = {"labels": labels, "results": results}
    for name, kind in METRICS.items():
        data, more = (joined, known) if kind.needs else (rated, {})
        how: dict[str, Any] = {**more, "k": _K, "threshold": _THRESHOLD}
        fits = [one for one, of in _KINDS.items() if of in getattr(kind, "kinds", ())]
        options = [*fits[:1], *["item_group=DE"] * ("item_group" in kind.__annotations__)]
        metric = f"{name}({','.join(options)})" if options else name
        yield name, rn.evaluate(data, metrics=[metric], **how).summary
        if any(preset.has(name) for preset in PRESETS.values()):
            of_libraries = rn.reconcile(data, metric, **how)
            for preset, row in of_libraries.groupby("preset", sort=False):
                yield f"{name} {preset}", row


def _other_tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the tables of reports and comparisons."""
    three = models()
    how: dict[str, Any] = {"metrics": ["ndcg@3", "precision@3", "rmse"], "threshold": 4}
    report = rn.evaluate(three["fair"], **how)
    country = {user: _COUNTRIES[n % 3] for n, user in enumerate(report.users)}
    yield "report", report.summary
    yield "audit", report.audit
    yield "segments", report.by(country).summary
    yield "gaps", report.gaps(country, of="pairs")
    yield "means of groups", report.gaps(country, of="groups")
    comparison = rn.compare(three, by=country, **how)
    yield "leaderboard", comparison.leaderboard
    yield "pairs", comparison.pairwise
    yield "segments of a comparison", comparison.segments
    sets = {str(n): rn.compare(models(seed=n), **how) for n in range(5)}
    yield "data sets", rn.across(sets).to_frame()


def _digest(table: pd.DataFrame) -> str:
    """Return a digest of the numbers in a table, to nine digits."""
    numbers = table.select_dtypes("number").to_numpy(dtype=float)
    text = " ".join(f"{one:.{_DIGITS}g}" for one in numbers.ravel())
    return sha256(text.replace("-0 ", "0 ").encode()).hexdigest()[:8]


def read_digests() -> dict[str, Any]:
    """Return the version of `numbers.toml`, and its digests."""
    return tomllib.loads(text_of(DIGESTS)) if DIGESTS.exists() else {}


def renew(version: str) -> None:
    """Write the digests, and the version wherever a signature is shown."""
    lines = [f'version = "{version}"', "", "[digests]"]
    lines += [f'"{name}" = "{one}"' for name, one in sorted(compute_digests().items())]
    DIGESTS.write_text("\n".join([*lines, ""]), encoding="utf-8")
    was = re.escape(rn.__version__)
    places = [_VERSION, ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    for path in places:
        text = text_of(path)
        new = re.sub(rf'(version:|__version__ = "){was}(?![\w.])', rf"\g<1>{version}", text)
        if new != text:
            path.write_text(new, encoding="utf-8")


def find_next_version(version: str) -> str:
    """Return the version after this one: the next state of a release to come.

    Examples
    --------
    >>> find_next_version("1.4.0.dev2"), find_next_version("1.4.0")
    ('1.4.0.dev3', '1.4.1.dev1')
    """
    release, _, state = version.partition(".dev")
    if state:
        return f"{release}.dev{int(state) + 1}"
    start, _, last = release.rpartition(".")
    return f"{start}.{int(last) + 1}.dev1"


if __name__ == "__main__":
    if read_digests().get("digests") != compute_digests():
        renew(find_next_version(rn.__version__))
